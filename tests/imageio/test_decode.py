import io
import json
import logging
import struct
import threading
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as PillowImage
from PIL import ImageFile

from forensegm.imageio import ImageInfo, read_image, read_image_and_info, read_image_info, write_image
from forensegm.imageio.decode import FORMATS, UPRIGHT

PICTURE = np.random.default_rng(0).integers(0, 256, (6, 9, 3), dtype=np.uint8)


def encoded(picture: PillowImage.Image | np.ndarray, codec: str = "PNG", **options: object) -> bytes:
    if isinstance(picture, np.ndarray):
        picture = PillowImage.fromarray(picture)
    buffer = io.BytesIO()
    picture.save(buffer, codec, **options)
    return buffer.getvalue()


def exif(orientation: int) -> PillowImage.Exif:
    tags = PillowImage.Exif()
    tags[0x0112] = orientation
    return tags


def png_header(width: int, height: int) -> bytes:
    """A PNG that ends where its pixels should begin."""
    body = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))
    return header + struct.pack(">I", 999) + b"IDAT"


@pytest.mark.parametrize("codec", ["PNG", "TIFF", "WEBP", "JPEG", "AVIF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_applied_once(codec, orientation):
    if codec == "AVIF" and "AVIF" not in PillowImage.SAVE:
        pytest.skip("this Pillow cannot write AVIF")
    stored = read_image(encoded(PICTURE, codec))
    turned = {
        1: stored,
        2: stored[:, ::-1],
        3: stored[::-1, ::-1],
        4: stored[::-1],
        5: stored.transpose(1, 0, 2),
        6: np.rot90(stored, -1),
        7: np.rot90(stored, 2).transpose(1, 0, 2),
        8: np.rot90(stored),
    }[orientation]
    data = encoded(PICTURE, codec, exif=exif(orientation))
    image, info = read_image_and_info(data)
    assert np.array_equal(image, turned)
    assert info == read_image_info(data)
    assert info.hw == turned.shape[:2]


def test_case_01_exif(shared):
    case = shared / "cases" / "01_exif6_rect"
    expected = json.loads((case / "expected.json").read_text())
    image, info = read_image_and_info(case / "img.jpg")
    assert list(image.shape[:2]) == list(info.hw) == expected["display_hw"]
    assert read_image_info(case / "img.jpg") == info


def test_case_09_sixteen_bits(shared):
    case = shared / "cases" / "09_sixteen_bit"
    image = read_image(case / "img16.png")
    assert image[..., 0].tolist() == json.loads((case / "expected.json").read_text())["img8"]
    assert read_image(case / "img16_rgb.png").shape == (2, 4, 3)


def test_sixteen_bits_are_shifted():
    image = read_image(encoded(np.array([[0, 255, 256, 32768, 65535]], dtype=np.uint16)))
    assert image[0, :, 1].tolist() == [0, 0, 1, 128, 255]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "F"])
def test_every_mode_becomes_rgb(mode):
    picture = PillowImage.fromarray(PICTURE)
    if mode == "F":
        picture = PillowImage.fromarray(np.float32(PICTURE[..., 0]) / 255)
    image = read_image(encoded(picture.convert(mode), "TIFF"))
    assert image.shape == PICTURE.shape
    assert image.dtype == np.uint8
    assert image.flags.writeable
    if mode in ("RGB", "RGBA"):
        assert np.array_equal(image, PICTURE)
    if mode == "F":
        assert np.array_equal(image[..., 2], PICTURE[..., 0])


def test_case_11_modes(shared):
    case = shared / "cases" / "11_image_modes_mixed"
    expected = json.loads((case / "expected.json").read_text())
    images = {path.name: read_image(path) for path in sorted(case.iterdir()) if path.suffix in (".png", ".tiff")}
    del images["mask.png"]
    assert len(images) == expected["files"]
    assert all(list(image.shape) == expected["shape"] and image.dtype == np.uint8 for image in images.values())
    assert images["float.tiff"].max() > 1
    assert images["rgba.png"][0, 0].tolist() == [255, 255, 255]


def test_transparency_is_composited_on_white():
    pixels = np.array([[[10, 20, 30, 255], [10, 20, 30, 0], [0, 0, 0, 128]]], dtype=np.uint8)
    assert read_image(encoded(pixels))[0].tolist() == [[10, 20, 30], [255, 255, 255], [127, 127, 127]]
    indexed = PillowImage.fromarray(np.array([[0, 1]], dtype=np.uint8)).convert("P")
    indexed.putpalette([9, 9, 9, 50, 60, 70])
    assert read_image(encoded(indexed, transparency=0))[0].tolist() == [[255, 255, 255], [50, 60, 70]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.0, np.nan]], "finite values in 'f.tiff'"),
        ([[0.0, 2.0]], "floats of 0..1 in 'f.tiff', got 0..2"),
        ([[-1.0, 0.0]], "got -1..0"),
    ],
)
def test_floats_without_an_8_bit_meaning(values, message):
    with pytest.raises(ValueError, match=message):
        read_image(encoded(np.float32(values), "TIFF"), name="f.tiff")


def test_wide_integers_are_refused():
    with pytest.raises(ValueError, match=r"8 or 16 bits per channel in 'i\.tiff'"):
        read_image(encoded(np.array([[1, 70000]], dtype=np.int32), "TIFF"), name="i.tiff")


def test_case_12_content_not_suffix(shared):
    case = shared / "cases" / "12_content_not_extension"
    expected = json.loads((case / "expected.json").read_text())
    found = {name: read_image_and_info(case / name) for name in expected["codecs"]}
    assert {name: info.codec for name, (_, info) in found.items()} == expected["codecs"]
    assert all(list(image.shape[:2]) == expected["hw"] for image, _ in found.values())


def test_content_not_suffix(tmp_path):
    second = PillowImage.fromarray(255 - PICTURE)
    for codec, options in [("WEBP", {}), ("PNG", {}), ("MPO", {"save_all": True, "append_images": [second]})]:
        path = tmp_path / "any.jpg"
        path.write_bytes(encoded(PICTURE, codec, **options))
        assert read_image_info(path).codec == codec
    assert np.array_equal(read_image(path), read_image(encoded(PICTURE, "JPEG")))


def test_only_the_first_frame_is_read():
    frames = [PillowImage.new("RGB", (3, 2), colour) for colour in ("red", "blue")]
    for codec in ("GIF", "TIFF", "WEBP"):
        data = encoded(
            frames[0], codec, save_all=True, append_images=frames[1:], **({"lossless": True} if codec == "WEBP" else {})
        )
        assert read_image(data)[0, 0].tolist() == [255, 0, 0]


def test_case_13_broken_files(shared):
    case = shared / "cases" / "13_broken_files"
    assert read_image(case / "ok.jpg").shape == (64, 64, 3)
    for name in json.loads((case / "expected.json").read_text())["bad"]:
        with pytest.raises(ValueError, match=name):
            read_image(case / name)


def test_broken_files_are_named(tmp_path):
    for name, data, message in [
        ("cut.jpg", encoded(PICTURE, "JPEG")[:-20], "truncated"),
        ("empty.png", b"", "empty file"),
        ("page.jpg", b"<html>404</html>", "no known format"),
        ("script.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "no known format"),
    ]:
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=f"{name}.*{message}"):
            read_image(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"gone\.png"):
        read_image(tmp_path / "gone.png")
    with pytest.raises(ValueError, match="got a folder"):
        read_image(tmp_path)


CODECS = {"PNG": {}, "JPEG": {"quality": 90}, "WEBP": {}, "GIF": {}, "BMP": {}, "TIFF": {}, "PPM": {}}


@pytest.mark.parametrize("codec", CODECS)
def test_a_cut_file_is_an_error_or_has_all_its_pixels(codec):
    data = encoded(PICTURE, codec, **CODECS[codec])
    whole = read_image(data)
    errors = 0
    for length in range(len(data)):
        try:
            image = read_image(data[:length])
        except ValueError:
            errors += 1
        else:
            assert np.array_equal(image, whole), length
    assert errors > 0.9 * len(data)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["PNG", "JPEG", "WEBP", "GIF", "BMP", "PPM"]), st.integers(0, 10**6), st.integers(1, 255))
def test_a_damaged_byte_gives_nothing_but_a_clear_error(codec, position, flip):
    data = bytearray(encoded(PICTURE, codec, **CODECS[codec]))
    data[position % len(data)] ^= flip
    try:
        assert read_image(bytes(data), name="damaged", max_pixels=10_000).ndim == 3
    except ValueError as error:
        text = str(error)
    else:
        return
    assert "damaged" in text
    assert "\n" not in text


def test_tolerant_decoding_is_switched_off(monkeypatch, caplog):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    with pytest.raises(ValueError, match="truncated"):
        read_image(encoded(PICTURE, "JPEG")[:-20])
    assert "LOAD_TRUNCATED_IMAGES" in caplog.text
    assert ImageFile.LOAD_TRUNCATED_IMAGES is False


def test_large_images_are_refused_before_decoding():
    with pytest.raises(ValueError, match=r"at most 256000000 pixels in 'bomb', got 20000x20000"):
        read_image(png_header(20_000, 20_000), name="bomb")
    with pytest.raises(ValueError, match="at most 53 pixels"):
        read_image(encoded(PICTURE), max_pixels=53)
    assert read_image(encoded(PICTURE), max_pixels=54).shape == PICTURE.shape


def test_pillows_own_limit_is_neither_used_nor_changed(monkeypatch):
    monkeypatch.setattr(PillowImage, "MAX_IMAGE_PIXELS", 10)
    assert read_image(encoded(PICTURE)).shape == PICTURE.shape
    assert PillowImage.MAX_IMAGE_PIXELS == 10


def test_pillows_warnings_stay_inside():
    broken_exif = b"Exif\0\0II*\0\x08\0\0\0\xff\x00" + b"\x12\x01\x03\0"
    data = encoded(PICTURE, "JPEG", exif=broken_exif)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_image(data).shape == PICTURE.shape


def test_threads_read_the_same():
    data = [encoded(PICTURE, codec) for codec in ("PNG", "JPEG", "WEBP")] * 10
    expected = [read_image(item) for item in data]
    results: dict[int, bool] = {}

    def read(number: int) -> None:
        results[number] = all(np.array_equal(read_image(d), e) for d, e in zip(data, expected, strict=True))

    threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(4), True)


@pytest.mark.parametrize("name", ["图 像 01.png", "naïve [1] #%.png", "-dash.png", "cafe\u0301.png"])
def test_any_file_name(tmp_path, name):
    write_image(tmp_path / name, PICTURE)
    assert np.array_equal(read_image(tmp_path / name), PICTURE)
    assert np.array_equal(read_image(str(tmp_path / name)), PICTURE)


def test_info_of_codecs_without_parameters():
    assert read_image_info(encoded(PICTURE)) == ImageInfo("PNG", None, None, (6, 9))
    assert read_image_info(encoded(PICTURE, "WEBP")) == ImageInfo("WEBP", None, "4:2:0", (6, 9))
    assert read_image_info(encoded(PICTURE, "WEBP", lossless=True)) == ImageInfo("WEBP", None, None, (6, 9))


def test_logging_is_quiet_on_good_files(caplog):
    caplog.set_level(logging.DEBUG, logger="forensegm")
    read_image(encoded(PICTURE))
    assert not caplog.records


def test_tables():
    assert sorted(UPRIGHT) == list(range(2, 9))
    assert "EPS" not in FORMATS


def test_real_photographs(shared: Path):
    path = sorted((shared / "photos").rglob("*.jpg"))[0]
    image, info = read_image_and_info(path)
    assert info.codec == "JPEG"
    assert image.shape[:2] == info.hw
    assert image.std() > 10


def test_the_limit_of_pixels_can_be_set_for_all_commands(monkeypatch):
    data = encoded(PICTURE)
    monkeypatch.setenv("FORENSEGM_MAX_PIXELS", "53")
    with pytest.raises(ValueError, match=r"at most 53 pixels in .* FORENSEGM_MAX_PIXELS"):
        read_image(data)
    assert read_image(data, max_pixels=54).shape == (6, 9, 3)
    monkeypatch.setenv("FORENSEGM_MAX_PIXELS", "54")
    assert read_image(data).shape == (6, 9, 3)
    monkeypatch.setenv("FORENSEGM_MAX_PIXELS", "many")
    with pytest.raises(ValueError, match="positive number of pixels, got 'many'"):
        read_image(data)
