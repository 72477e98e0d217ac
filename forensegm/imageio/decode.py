"""Read images: strict, by content, and to the same pixels on every path."""

from __future__ import annotations

import io
import logging
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageFile, UnidentifiedImageError

from forensegm.imageio.fast import fast_pixels
from forensegm.imageio.jpeg import jpeg_quality, jpeg_subsampling
from forensegm.sample import Image

logger = logging.getLogger(__name__)

Source = str | Path | bytes

MAX_PIXELS = 256_000_000
LIMIT_VARIABLE = "FORENSEGM_MAX_PIXELS"
WHITE = (255, 255, 255, 255)
ORIENTATION = 0x0112  # EXIF tag (CIPA DC-008)
UPRIGHT = {  # its values to what turns the stored picture upright
    2: PillowImage.Transpose.FLIP_LEFT_RIGHT,
    3: PillowImage.Transpose.ROTATE_180,
    4: PillowImage.Transpose.FLIP_TOP_BOTTOM,
    5: PillowImage.Transpose.TRANSPOSE,
    6: PillowImage.Transpose.ROTATE_270,
    7: PillowImage.Transpose.TRANSVERSE,
    8: PillowImage.Transpose.ROTATE_90,
}
# Raster formats only: Pillow would also open PostScript, and start Ghostscript on the file.
FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF", "AVIF", "JPEG2000", "PPM")
IMAGE_SUFFIXES = frozenset(
    f".{suffix}"
    for suffix in (
        *("png", "jpg", "jpeg", "jpe", "jfif", "mpo", "webp", "avif", "jp2", "j2k"),
        *("tif", "tiff", "bmp", "gif", "ppm", "pgm", "pbm"),
    )
)

_lock = threading.RLock()


@dataclass(frozen=True)
class ImageInfo:
    """How a file is encoded, by its content.

    Attributes:
        codec: PNG, JPEG, MPO, WEBP, ..., whatever the suffix says.
        quality: JPEG quality 1..100 whose IJG luma table is the file's; None for other codecs and other tables.
        subsampling: chroma subsampling, for example "4:2:0" ("4:0:0" = grey); None where there is none to speak of.
        hw: height and width as displayed, EXIF orientation applied.
    """

    codec: str
    quality: int | None
    subsampling: str | None
    hw: tuple[int, int]


def pixel_limit() -> int:
    """The largest number of pixels that is decoded: 256 million, or what FORENSEGM_MAX_PIXELS says.

    A variable of the environment, since it has to reach every loader worker and every command alike.

    Raises:
        ValueError: the variable holds no positive integer.
    """
    text = os.environ.get(LIMIT_VARIABLE, "")
    if not text:
        return MAX_PIXELS
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"Expected {LIMIT_VARIABLE} to be a positive number of pixels, got '{text}'.")
    return int(text)


def read_image(source: Source, *, name: str | None = None, max_pixels: int | None = None) -> Image:
    """Decode an image to uint8 RGB HxWx3.

    The first frame is read, EXIF orientation applied once, transparency composited on white, 16 bits per channel
    shifted to 8 (value >> 8), floats of 0..1 multiplied by 255 and rounded, colour profiles left alone.

    Args:
        source: a path, or the bytes of a file.
        name: what to call it in errors; by default its path.
        max_pixels: a larger image is refused before it is decoded; None = `pixel_limit()`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: no image, a truncated or broken one, one too large, or values that have no 8-bit meaning.
    """
    return read_image_and_info(source, name=name, max_pixels=max_pixels)[0]


def read_image_and_info(
    source: Source, *, name: str | None = None, max_pixels: int | None = None
) -> tuple[Image, ImageInfo]:
    """Return what `read_image` and `read_image_info` return, from one look at the file."""
    data, name = read_bytes(source, name)
    picture = open_picture(data, name, max_pixels=max_pixels)
    codec, quality, subsampling = _encoding(picture, data)
    fast = plain_pixels(picture, data, name, rgb=True)
    if fast is None:
        load(picture, name)
    image = _to_rgb(upright(picture, name), name) if fast is None else fast
    return image, ImageInfo(codec, quality, subsampling, (image.shape[0], image.shape[1]))


def read_image_info(source: Source, *, name: str | None = None, max_pixels: int | None = None) -> ImageInfo:
    """Read how a file is encoded, without decoding it where its header says enough; raises as `read_image` does."""
    data, name = read_bytes(source, name)
    picture = open_picture(data, name, max_pixels=max_pixels)
    codec, quality, subsampling = _encoding(picture, data)
    # In PNG and TIFF, Pillow looks for the orientation behind the pixels.
    if codec == "TIFF" or (codec == "PNG" and any(chunk in data for chunk in (b"eXIf", b"tEXt", b"zTXt", b"iTXt"))):
        load(picture, name)
    swapped = orientation(picture, name) >= 5
    hw = (picture.width, picture.height) if swapped else (picture.height, picture.width)
    return ImageInfo(codec, quality, subsampling, hw)


def read_bytes(source: Source, name: str | None) -> tuple[bytes, str]:
    """Return the bytes of a file and its name; Python opens it, since decoders fail on names outside ASCII."""
    if isinstance(source, bytes):
        return source, name or "image in memory"
    path, name = Path(source), name or str(source)
    try:
        return path.read_bytes(), name
    except FileNotFoundError as error:
        raise FileNotFoundError(f"Expected a file at '{name}', got none there. Check the path.") from error
    except IsADirectoryError as error:
        raise ValueError(f"Expected a file at '{name}', got a folder. Name a file in it.") from error


def open_picture(data: bytes, name: str, *, max_pixels: int | None = None) -> ImageFile.ImageFile:
    """Parse the header and check the size; no pixel is decoded yet."""
    if not data:
        raise ValueError(f"Expected an image in '{name}', got an empty file. Restore it or take it out.")
    try:
        with _quietly():
            picture = PillowImage.open(io.BytesIO(data), formats=_formats())
    except UnidentifiedImageError as error:
        raise ValueError(
            f"Expected an image in '{name}', got bytes that start with {data[:12]!r}, no known format or a broken "
            f"header. Known formats: {', '.join(_formats())}."
        ) from error
    except Exception as error:
        raise broken(name, error) from error
    limit = pixel_limit() if max_pixels is None else max_pixels
    if picture.width * picture.height > limit:
        raise ValueError(
            f"Expected at most {limit} pixels in '{name}', got {picture.height}x{picture.width}. Raise max_pixels, or "
            f"{LIMIT_VARIABLE} in the environment, if you trust the file."
        )
    return picture


def plain_pixels(picture: ImageFile.ImageFile, data: bytes, name: str, *, rgb: bool) -> NDArray[np.uint8] | None:
    """Decode a plain file the quick way (see `fast_pixels`); None = go on with `load` and `upright`.

    Raises:
        ValueError: a PNG that is not whole; its checksums are looked at here, Pillow skips most of them.
    """
    if picture.format == "JPEG" and orientation(picture, name) != 1:
        return None
    try:
        return fast_pixels(data, codec=picture.format, mode=picture.mode, rgb=rgb)
    except ValueError as error:
        raise broken(name, error) from error


def load(picture: ImageFile.ImageFile, name: str) -> None:
    """Decode all pixels of the first frame, or raise ValueError."""
    if ImageFile.LOAD_TRUNCATED_IMAGES:
        logger.warning("Switched off Pillow's LOAD_TRUNCATED_IMAGES: it fills what is missing of an image with grey.")
        ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        picture.load()
    except Exception as error:
        raise broken(name, error) from error


def orientation(picture: PillowImage.Image, name: str) -> int:
    """Return the EXIF orientation, 1..8; 1 = upright. Of a decoded TIFF it is 1: Pillow has applied it."""
    try:
        with _quietly():
            return int(picture.getexif().get(ORIENTATION, 1))
    except Exception as error:
        raise broken(name, error) from error


def upright(picture: PillowImage.Image, name: str) -> PillowImage.Image:
    """Apply the EXIF orientation to a decoded picture."""
    method = UPRIGHT.get(orientation(picture, name))
    return picture if method is None else picture.transpose(method)


def broken(name: str, error: Exception) -> ValueError:
    """Build the one error for a file that the decoder fails on: on broken bytes it raises exceptions of any kind."""
    detail = " ".join(str(error).split()) or type(error).__name__
    return ValueError(
        f"Expected a whole image in '{name}', got a truncated or broken one ({detail}). Restore the file."
    )


@contextmanager
def _quietly() -> Iterator[None]:
    """Parse headers without Pillow's warnings and pixel limit (we have our own); both are global, hence the lock."""
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        limit, PillowImage.MAX_IMAGE_PIXELS = PillowImage.MAX_IMAGE_PIXELS, None
        try:
            yield
        finally:
            PillowImage.MAX_IMAGE_PIXELS = limit


@cache
def _formats() -> tuple[str, ...]:
    """The formats that this Pillow was built with."""
    PillowImage.init()
    return tuple(name for name in FORMATS if name in PillowImage.OPEN)


def _encoding(picture: ImageFile.ImageFile, data: bytes) -> tuple[str, int | None, str | None]:
    """Codec, JPEG quality and chroma subsampling."""
    codec = str(picture.format)
    if codec in ("JPEG", "MPO"):
        return codec, jpeg_quality(picture), jpeg_subsampling(picture)
    return codec, None, "4:2:0" if is_lossy_webp(picture, data) else None


def is_lossy_webp(picture: ImageFile.ImageFile, data: bytes) -> bool:
    """Whether a WebP file holds a lossy (VP8) first frame, which is always 4:2:0 (RFC 9649)."""
    if picture.format != "WEBP":
        return False
    first_frame = min((at for at in (data.find(b"VP8 "), data.find(b"VP8L")) if at >= 0), default=-1)
    return data[first_frame : first_frame + 4] == b"VP8 "


def _to_rgb(picture: PillowImage.Image, name: str) -> Image:
    """Bring any mode to uint8 RGB."""
    if picture.mode.startswith("I;16"):
        return _grey_to_rgb((np.asarray(picture) >> 8).astype(np.uint8))
    if picture.mode == "F":
        return _grey_to_rgb(_floats_to_bytes(np.asarray(picture), name))
    if picture.mode == "I":
        raise ValueError(f"Expected 8 or 16 bits per channel in '{name}', got 32-bit integers. Save it with 8 or 16.")
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        if picture.getextrema()[-1] != (255, 255):
            picture = PillowImage.alpha_composite(PillowImage.new("RGBA", picture.size, WHITE), picture)
    return np.array(picture if picture.mode == "RGB" else picture.convert("RGB"))


def _grey_to_rgb(grey: NDArray[np.uint8]) -> Image:
    return np.repeat(grey[:, :, None], 3, axis=2)


def _floats_to_bytes(values: NDArray[Any], name: str) -> NDArray[np.uint8]:
    if not np.isfinite(values).all():
        raise ValueError(f"Expected finite values in '{name}', got NaN or infinity. Repair the file.")
    low, high = float(values.min()), float(values.max())
    if low < 0 or high > 1:
        raise ValueError(f"Expected floats of 0..1 in '{name}', got {low:g}..{high:g}. Scale them, or save 8 bits.")
    scaled: NDArray[np.uint8] = np.rint(values * 255).astype(np.uint8)
    return scaled
