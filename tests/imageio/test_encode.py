import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage

from forensegm.imageio import (
    MaskSpec,
    codec_suffix,
    encode_image,
    read_image,
    read_mask,
    write_bytes_atomic,
    write_image,
    write_json,
    write_mask,
    write_text_atomic,
)

PICTURE = np.random.default_rng(0).integers(0, 256, (17, 23, 3), dtype=np.uint8)
CODECS = ["png", "jpeg:90", "jpeg:50:4:4:4", "webp:80"]


@pytest.mark.parametrize("codec", CODECS)
def test_encoding_is_deterministic_and_keeps_the_size(codec):
    data = encode_image(PICTURE, codec)
    assert data == encode_image(PICTURE.copy(), codec)
    assert read_image(data).shape == PICTURE.shape
    assert np.array_equal(read_image(data), PICTURE) == (codec == "png")


def test_jpeg_is_pillows_at_that_quality(tmp_path):
    PillowImage.fromarray(PICTURE).save(tmp_path / "a.jpg", quality=50, subsampling="4:4:4")
    assert encode_image(PICTURE, "jpeg:50:4:4:4") == (tmp_path / "a.jpg").read_bytes()
    assert encode_image(PICTURE, "jpeg:50") == encode_image(PICTURE, "jpeg:50:4:2:0")


@pytest.mark.parametrize(
    "codec",
    ["", "gif", "png:9", "jpeg", "jpeg:0", "jpeg:101", "jpeg:90:4:1:1", "webp", "webp:80:4:4:4", "JPEG:9", "jpeg:9.5"],
)
def test_other_codecs_are_refused(codec):
    with pytest.raises(ValueError, match="Expected a codec such as png"):
        encode_image(PICTURE, codec)
    with pytest.raises(ValueError, match="Expected a codec such as png"):
        codec_suffix(codec)


def test_suffixes():
    assert [codec_suffix(codec) for codec in CODECS] == [".png", ".jpg", ".jpg", ".webp"]


def test_only_images_are_encoded():
    with pytest.raises(ValueError, match="uint8 HxWx3"):
        encode_image(PICTURE[..., 0], "png")
    with pytest.raises(ValueError, match="uint8 HxW"):
        write_mask("never.png", PICTURE)
    with pytest.raises(ValueError, match="webp can hold, got 20000x1"):
        encode_image(np.zeros((20_000, 1, 3), np.uint8), "webp:80")


def test_masks_come_back_bit_for_bit(tmp_path):
    mask = np.arange(256, dtype=np.uint8).reshape(16, 16)
    write_mask(tmp_path / "new" / "mask.png", mask)
    assert np.array_equal(read_mask(tmp_path / "new" / "mask.png", MaskSpec("ids", ignore=255)), mask)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text_atomic(path, "old ü")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_text_atomic(path, "new")
    assert path.read_text("utf-8") == "old ü"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_long_names_and_permissions(tmp_path):
    path = tmp_path / ("n" * 250 + ".txt")
    write_bytes_atomic(path, b"x")
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert path.stat().st_mode == plain.stat().st_mode


def test_json(tmp_path: Path):
    write_json(tmp_path / "a.json", {"b": [1, None], "a": "ü"})
    assert (tmp_path / "a.json").read_text("utf-8") == '{\n  "b": [\n    1,\n    null\n  ],\n  "a": "ü"\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "b.json", {"a": float("nan")})
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["b"] == [1, None]
    assert not (tmp_path / "b.json").exists()


def test_write_image_goes_by_the_codec(tmp_path):
    write_image(tmp_path / "a.png", PICTURE, "jpeg:90")
    assert (tmp_path / "a.png").read_bytes() == encode_image(PICTURE, "jpeg:90")


def test_a_name_that_is_no_text_survives_json(tmp_path):
    name = b"photo\xff.png".decode("utf-8", "surrogateescape")
    write_json(tmp_path / "names.json", {"café": name})
    assert json.loads((tmp_path / "names.json").read_text(encoding="utf-8")) == {"café": name}
