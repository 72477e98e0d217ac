import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as PillowImage
from PIL import PngImagePlugin

from forensegm.imageio import read_image
from forensegm.imageio.fast import fast_pixels, png_chunks

RNG = np.random.default_rng(3)


def draw(height, width):
    """Smooth colours with some noise: chroma that upsampling can differ on."""
    rows, columns = np.mgrid[:height, :width]
    waves = [127 + 120 * np.sin(rows / 5 + shift) * np.cos(columns / 7 - shift) for shift in (0, 1, 2)]
    return np.clip(np.stack(waves, axis=2) + RNG.normal(0, 6, (height, width, 3)), 0, 255).astype(np.uint8)


def encoded(pixels, codec, **options):
    buffer = io.BytesIO()
    PillowImage.fromarray(pixels).save(buffer, codec, **options)
    return buffer.getvalue()


def by_pillow(data):
    return np.asarray(PillowImage.open(io.BytesIO(data)).convert("RGB"))


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def with_chunk(png, kind, body):
    """The file with one chunk more behind IHDR."""
    return png[:33] + chunk(kind, body) + png[33:]


PNG = encoded(draw(20, 31), "PNG")
GREY_PNG = encoded(draw(20, 31)[..., 0], "PNG")


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("quality", [5, 50, 90, 100])
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"optimize": True}, {"restart_marker_rows": 1}])
@pytest.mark.parametrize("size", [(1, 1), (8, 9), (33, 50), (127, 65)])
def test_jpeg_pixels_are_pillows(subsampling, quality, options, size):
    data = encoded(draw(*size), "JPEG", quality=quality, subsampling=subsampling, **options)
    fast = fast_pixels(data, codec="JPEG", mode="RGB", rgb=True)
    assert np.array_equal(fast, by_pillow(data))
    grey = encoded(draw(*size)[..., 0], "JPEG", quality=quality, **options)
    assert np.array_equal(fast_pixels(grey, codec="JPEG", mode="L", rgb=True), by_pillow(grey))


@pytest.mark.parametrize("size", [(1, 1), (7, 9), (64, 33)])
def test_png_pixels_are_the_ones_that_were_written(size):
    pixels = draw(*size)
    assert np.array_equal(fast_pixels(encoded(pixels, "PNG"), codec="PNG", mode="RGB", rgb=True), pixels)
    grey = encoded(pixels[..., 0], "PNG")
    assert np.array_equal(fast_pixels(grey, codec="PNG", mode="L", rgb=False), pixels[..., 0])
    assert np.array_equal(fast_pixels(grey, codec="PNG", mode="L", rgb=True), np.repeat(pixels[..., :1], 3, axis=2))


def test_what_is_not_plain_is_left_to_pillow():
    assert fast_pixels(PNG, codec="PNG", mode="RGB", rgb=False) is None
    assert fast_pixels(encoded(draw(4, 4), "WEBP"), codec="WEBP", mode="RGB", rgb=True) is None
    jpeg = encoded(draw(9, 9), "JPEG")
    assert fast_pixels(jpeg + b"trailer", codec="JPEG", mode="RGB", rgb=True) is None
    assert fast_pixels(jpeg[:-2], codec="JPEG", mode="RGB", rgb=True) is None
    for kind, body in {
        b"tRNS": struct.pack(">3H", 1, 2, 3),
        b"eXIf": b"II*\0",
        b"acTL": bytes(8),
        b"zTXt": b"Raw profile type exif\0\0",
        b"iTXt": b"XML:com.adobe.xmp\0",
    }.items():
        assert fast_pixels(with_chunk(PNG, kind, body), codec="PNG", mode="RGB", rgb=True) is None
    deep = PillowImage.fromarray(draw(4, 4)[..., 0].astype(np.uint16) * 256)
    buffer = io.BytesIO()
    deep.save(buffer, "PNG")
    assert fast_pixels(buffer.getvalue(), codec="PNG", mode="I;16", rgb=True) is None
    rgba = encoded(np.dstack([draw(4, 4), np.full((4, 4), 255, np.uint8)]), "PNG")
    assert fast_pixels(rgba, codec="PNG", mode="RGBA", rgb=True) is None


def test_a_comment_changes_nothing():
    info = PngImagePlugin.PngInfo()
    info.add_text("Software", "a camera")
    data = encoded(draw(5, 6), "PNG", pnginfo=info)
    assert np.array_equal(fast_pixels(data, codec="PNG", mode="RGB", rgb=True), by_pillow(data))


def test_chunks_are_checked():
    assert png_chunks(PNG) == {b"IHDR", b"IDAT", b"IEND"}
    with pytest.raises(ValueError, match="before IEND"):
        png_chunks(PNG[:-12])
    with pytest.raises(ValueError, match="before IEND"):
        png_chunks(PNG[:-1])
    with pytest.raises(ValueError, match="checksum of chunk b'IDAT' at byte 33"):
        png_chunks(PNG[:60] + bytes([PNG[60] ^ 1]) + PNG[61:])


@pytest.mark.parametrize("data", [PNG, GREY_PNG], ids=["rgb", "grey"])
@given(place=st.integers(8, 10**6), bit=st.integers(0, 7))
@settings(deadline=None, max_examples=60)
def test_no_bit_of_a_png_can_flip_unseen(data, place, bit):
    place = 8 + place % (len(data) - 8)
    flipped = data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]
    with pytest.raises(ValueError, match="image in memory"):
        read_image(flipped)


@given(end=st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_no_cut_jpeg_is_filled_in(end):
    data = encoded(draw(40, 56), "JPEG", quality=90)
    with pytest.raises(ValueError, match="image in memory"):
        read_image(data[: end % (len(data) - 2)])
