import io
import json
import struct
import zlib

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as PillowImage

from forensegm.imageio import MaskSpec, fit_mask, read_image, read_mask
from forensegm.imageio import mask_values as module

BINARY = MaskSpec("binary")


def encoded(values: object, codec: str = "PNG", mode: str | None = None, **options: object) -> bytes:
    picture = (
        values if isinstance(values, PillowImage.Image) else PillowImage.fromarray(np.asarray(values, dtype=np.uint8))
    )
    buffer = io.BytesIO()
    (picture.convert(mode) if mode else picture).save(buffer, codec, **options)
    return buffer.getvalue()


def indexed(values: object, palette: list[int]) -> PillowImage.Image:
    picture = PillowImage.fromarray(np.asarray(values, dtype=np.uint8)).convert("P")
    picture.frombytes(np.asarray(values, dtype=np.uint8).tobytes())
    picture.putpalette(palette)
    return picture


def grey_png(values: list[list[int]], depth: int) -> bytes:
    """A grey PNG of 1, 2 or 4 bits, which Pillow reads but does not write."""
    rows = b""
    for row in values:
        bits = "".join(f"{value:0{depth}b}" for value in row)
        bits += "0" * (-len(bits) % 8)
        rows += b"\0" + int(bits, 2).to_bytes(len(bits) // 8, "big")
    chunks = [
        b"IHDR" + struct.pack(">IIBBBBB", len(values[0]), len(values), depth, 0, 0, 0, 0),
        b"IDAT" + zlib.compress(rows),
        b"IEND",
    ]
    packed = b"".join(struct.pack(">I", len(c) - 4) + c + struct.pack(">I", zlib.crc32(c)) for c in chunks)
    return b"\x89PNG\r\n\x1a\n" + packed


def test_case_03_palette(shared):
    case = shared / "cases" / "03_palette_mask"
    expected = json.loads((case / "expected.json").read_text())["ids"]
    for name in ("mask_p8.png", "mask_p8_trns.png", "mask_p4.png"):
        assert read_mask(case / name, MaskSpec("ids", 5)).tolist() == expected
        with pytest.raises(ValueError, match=rf"ids 0\.\.3 and no ignore value, got 4 in '.*{name}"):
            read_mask(case / name, MaskSpec("ids", 4))


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("options", [{}, {"transparency": 0}])
def test_indexed_files_are_read_as_indices(bits, options):
    ids = np.arange(min(1 << bits, 10), dtype=np.uint8).reshape(1, -1)
    colours = np.random.default_rng(0).integers(0, 256, 3 << bits).tolist()
    data = encoded(indexed(ids, colours), bits=bits, **options)
    assert np.array_equal(read_mask(data, MaskSpec("ids", 10)), ids)


def test_indexed_greys_are_still_indices():
    data = encoded(indexed([[0, 1]], [0, 0, 0, 255, 255, 255]))
    assert read_mask(data, MaskSpec("ids", 2)).tolist() == [[0, 1]]
    assert read_mask(data, BINARY).tolist() == [[0, 1]]


def test_a_palette_that_shows_authentic_white_is_refused():
    data = encoded(indexed([[0, 1]], [255, 255, 255, 0, 0, 0]))
    with pytest.raises(ValueError, match=r"index 0 of 'inverted\.png' to be authentic"):
        read_mask(data, BINARY, name="inverted.png")


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_grey_of_few_bits_is_read_as_stored(depth):
    ids = [list(range(1 << depth)), [0] * (1 << depth)]
    assert read_mask(grey_png(ids, depth), MaskSpec("ids", 16)).tolist() == ids
    edited = [[0, (1 << depth) - 1]]
    assert read_mask(grey_png(edited, depth), BINARY).tolist() == [[0, 1]]


def test_case_04_value_sets(shared):
    case = shared / "cases" / "04_mask_value_sets"
    expected = json.loads((case / "expected.json").read_text())
    first, second = (read_mask(case / name, BINARY) for name in expected["binary_same"])
    assert np.array_equal(first, second)
    assert int(first.sum()) == expected["foreground_pixels"]
    assert not read_mask(case / "m_all0.png", BINARY).any()
    assert read_mask(case / "m_all255.png", BINARY).all()
    ambiguous = case / expected["ambiguous_must_be_declared"]
    with pytest.raises(ValueError, match=f"got 1, 255 in '.*{ambiguous.name}"):
        read_mask(ambiguous, BINARY)
    assert set(np.unique(read_mask(ambiguous, MaskSpec("binary", ignore=255)))) == {0, 1, 255}
    with pytest.raises(ValueError, match=r"m_ids\.png"):
        read_mask(case / "m_ids.png", BINARY)
    assert read_mask(case / "m_ids.png", MaskSpec("ids", 9)).max() == 8


@pytest.mark.parametrize(
    ("values", "spec", "expected"),
    [
        ([0, 1, 1], BINARY, [0, 1, 1]),
        ([0, 255, 255], BINARY, [0, 1, 1]),
        ([255, 255, 255], BINARY, [1, 1, 1]),
        ([0, 0, 0], BINARY, [0, 0, 0]),
        ([0, 255, 0], MaskSpec("binary", editor=7), [0, 7, 0]),
        ([0, 1, 255], MaskSpec("binary", ignore=255), [0, 1, 255]),
        ([0, 128, 255], MaskSpec("binary", ignore=128), [0, 255, 1]),
        ([0, 2, 8], MaskSpec("ids", 9), [0, 2, 8]),
        ([0, 2, 255], MaskSpec("ids", 3, ignore=255), [0, 2, 255]),
        ([0, 2, 9], MaskSpec("ids", 3, ignore=9), [0, 2, 255]),
        ([0, 200, 254], MaskSpec("ids"), [0, 200, 254]),
    ],
)
def test_declared_values(values, spec, expected):
    for mode in ("L", "RGB"):
        mask = read_mask(encoded([values], mode=mode), spec)
        assert mask.tolist() == [expected]
        assert mask.dtype == np.uint8


@pytest.mark.parametrize(
    ("values", "spec", "found"),
    [
        ([0, 1, 255], BINARY, "1, 255"),
        ([0, 128], BINARY, "128"),
        ([0, 3], MaskSpec("ids", 3), "3"),
        ([0, 255], MaskSpec("ids", 3), "255"),
        ([0, 255], MaskSpec("ids"), "255"),
        ([0, 1, 255], MaskSpec("binary", ignore=128), "1, 255"),
        ([9, 8, 7, 6, 5, 4, 3], MaskSpec("ids", 3), r"3, 4, 5, 6, 7, \.\.\. up to 9"),
    ],
)
def test_undeclared_values_name_file_and_value(values, spec, found):
    with pytest.raises(ValueError, match=rf"got {found} in 'm\.png'"):
        read_mask(encoded([values]), spec, name="m.png")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "binry"}, "mask kind, got 'binry'. Did you mean binary"),
        ({"kind": "binary", "on_mismatch": "resize"}, "policy"),
        ({"kind": "binary", "editor": 0}, "id of 1..254"),
        ({"kind": "binary", "ignore": 1}, "ignore value of 2..255, got 1"),
        ({"kind": "ids", "num_classes": 9, "ignore": 8}, "ignore value of 9..255, got 8"),
        ({"kind": "ids", "num_classes": 300}, "classes"),
    ],
)
def test_impossible_declarations(options, message):
    with pytest.raises(ValueError, match=message):
        MaskSpec(**options)


def test_case_06_lossy(shared, caplog, monkeypatch):
    monkeypatch.setattr(module, "_warned", set())
    case = shared / "cases" / "06_mask_jpeg_lossy"
    truth = read_mask(case / "truth.png", BINARY)
    for _ in range(2):
        assert np.array_equal(read_mask(case / "mask.jpg", BINARY), truth)
    assert len(caplog.records) == 1
    with pytest.raises(ValueError, match=r"ids in '.*mask\.jpg', got lossy JPEG"):
        read_mask(case / "mask.jpg", MaskSpec("ids", 2))


@pytest.mark.parametrize("codec", ["JPEG", "WEBP"])
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_lossy_binary_masks_are_cut_at_mid_range(codec, mode):
    values = np.zeros((32, 32), np.uint8)
    values[7:22, 7:22] = 255
    data = encoded(values, codec, mode, quality=60)
    assert set(np.unique(read_image(data))) != {0, 255}
    assert np.array_equal(read_mask(data, BINARY), values // 255)
    with pytest.raises(ValueError, match="lossy"):
        read_mask(data, MaskSpec("ids", 2))
    with pytest.raises(ValueError, match="its ignore value is lost"):
        read_mask(data, MaskSpec("binary", ignore=128))
    assert np.array_equal(read_mask(encoded(values, "WEBP", mode, lossless=True), BINARY), values // 255)


def test_case_09_wide_ids(shared):
    case = shared / "cases" / "09_sixteen_bit"
    for spec in (MaskSpec("ids", 9), BINARY):
        with pytest.raises(ValueError, match=r"300 in '.*mask16\.png'"):
            read_mask(case / "mask16.png", spec)


def test_sixteen_bit_ids_are_never_wrapped():
    def wide(values: list[int]) -> bytes:
        return encoded(PillowImage.fromarray(np.array([values], dtype=np.uint16)))

    assert read_mask(wide([0, 1, 2]), MaskSpec("ids", 3)).tolist() == [[0, 1, 2]]
    with pytest.raises(ValueError, match="got 256"):
        read_mask(wide([0, 256, 1]), MaskSpec("ids"))


def test_colours_and_transparency_are_refused():
    with pytest.raises(ValueError, match=r"grey or indexed mask in 'c\.png', got colours"):
        read_mask(encoded([[[255, 0, 0], [0, 0, 0]]]), BINARY, name="c.png")
    with pytest.raises(ValueError, match="without transparency"):
        read_mask(encoded([[[0, 0, 0, 0], [1, 1, 1, 255]]]), BINARY)
    assert read_mask(encoded([[[0, 0, 0, 255], [1, 1, 1, 255]]]), BINARY).tolist() == [[0, 1]]


def test_case_01_mask_of_the_sensor_frame(shared):
    case = shared / "cases" / "01_exif6_rect"
    expected = json.loads((case / "expected.json").read_text())
    image = read_image(case / "img.jpg")
    mask = read_mask(case / "mask_display_frame.png", BINARY, image_hw=image.shape[:2])
    assert int(mask.sum()) == expected["display_mask_true_pixels"]
    for policy in ("error", "nearest", "crop"):
        with pytest.raises(ValueError, match="Height and width are swapped"):
            read_mask(case / "mask_sensor_frame.png", MaskSpec("binary", on_mismatch=policy), image_hw=image.shape[:2])


def test_case_07_size_off(shared):
    case = shared / "cases" / "07_mask_size_off"
    image_hw = tuple(json.loads((case / "expected.json").read_text())["image_hw"])
    for path in sorted(case.glob("mask_*.png")):
        with pytest.raises(ValueError, match=f"{path.name}' to have the image's size 8x9"):
            read_mask(path, BINARY, image_hw=image_hw)
    for name in ("mask_8x10.png", "mask_9x9.png", "mask_16x18.png"):
        for policy in ("nearest", "crop"):
            mask = read_mask(case / name, MaskSpec("binary", on_mismatch=policy), image_hw=image_hw)
            assert mask.shape == image_hw
    with pytest.raises(ValueError, match="swapped"):
        read_mask(case / "mask_9x8.png", MaskSpec("binary", on_mismatch="nearest"), image_hw=image_hw)


def test_crop_keeps_the_top_left():
    mask = np.arange(20, dtype=np.uint8).reshape(4, 5)
    assert fit_mask(mask, (2, 3), policy="crop").tolist() == [[0, 1, 2], [5, 6, 7]]
    assert fit_mask(mask, (4, 5)) is mask
    with pytest.raises(ValueError, match="'m' to be at least 5x3"):
        fit_mask(mask, (5, 3), policy="crop", name="m")


@given(st.tuples(*[st.integers(1, 12)] * 4))
def test_nearest_is_torchs_nearest_exact(sides):
    height, width, new_height, new_width = sides
    mask = np.random.default_rng(0).integers(0, 255, (height, width), dtype=np.uint8)
    if (height, width) == (new_width, new_height):
        return
    reference = torch.nn.functional.interpolate(
        torch.from_numpy(mask)[None, None].double(), (new_height, new_width), mode="nearest-exact"
    )
    assert np.array_equal(fit_mask(mask, (new_height, new_width), policy="nearest"), reference[0, 0].numpy())


def test_case_13_broken_mask(shared):
    with pytest.raises(ValueError, match=r"trunc_mask\.png"):
        read_mask(shared / "cases" / "13_broken_files" / "trunc_mask.png", BINARY)


def test_broken_and_missing_masks_are_named(tmp_path):
    (tmp_path / "cut.png").write_bytes(encoded([[0, 1]])[:-30])
    with pytest.raises(ValueError, match=r"cut\.png"):
        read_mask(tmp_path / "cut.png", BINARY)
    with pytest.raises(FileNotFoundError, match=r"gone\.png"):
        read_mask(tmp_path / "gone.png", BINARY)
