"""Encode images and write files, each complete or not at all."""

from __future__ import annotations

import io
import json
import os
import re
import uuid
from pathlib import Path
from typing import Any

from PIL import Image as PillowImage

from forensegm.sample import Image, Mask, check_image, check_mask

SUFFIXES = {"png": ".png", "jpeg": ".jpg", "webp": ".webp"}
CODEC = re.compile(r"(?P<kind>png)|(?P<kind2>jpeg|webp):(?P<quality>\d{1,3})(?::(?P<subsampling>4:4:4|4:2:2|4:2:0))?")
PNG_LEVEL = 4  # zlib; of the levels that filter well, the one after which files hardly shrink


def encode_image(image: Image, codec: str) -> bytes:
    """Encode an image (uint8 RGB HxWx3); the same image and codec give the same bytes with the same libraries.

    Args:
        image: what to encode.
        codec: "png", "jpeg:Q" (4:2:0), "jpeg:Q:4:4:4" (or 4:2:2) or "webp:Q" (lossy), with a quality Q of 1..100.

    Raises:
        ValueError: another codec, another kind of image, or one too large for the codec.
    """
    return _encode(PillowImage.fromarray(check_image(image)), codec)


def codec_suffix(codec: str) -> str:
    """Return the file suffix of a codec of `encode_image`, for example ".jpg"; raises ValueError for another codec."""
    return SUFFIXES[parse_codec(codec)[0]]


def parse_codec(codec: str) -> tuple[str, int, str]:
    """Return kind, quality and subsampling of a codec of `encode_image`; quality is 0 for png.

    >>> parse_codec("jpeg:90")
    ('jpeg', 90, '4:2:0')
    """
    match = CODEC.fullmatch(codec)
    kind = match and (match["kind"] or match["kind2"])
    quality = int(match["quality"] or 0) if match else 0
    if not match or not kind or not (kind == "png" or 1 <= quality <= 100) or (kind == "webp" and match["subsampling"]):
        raise ValueError(
            f"Expected a codec such as png, jpeg:90, jpeg:90:4:4:4 or webp:80, with a quality of 1..100, got '{codec}'."
        )
    return kind, quality, match["subsampling"] or "4:2:0"


def write_image(path: str | Path, image: Image, codec: str = "png") -> None:
    """Write an image (uint8 RGB HxWx3) by a codec of `encode_image`, whatever the suffix of `path`."""
    write_bytes_atomic(path, encode_image(image, codec))


def write_mask(path: str | Path, mask: Mask) -> None:
    """Write a mask (uint8 HxW) as a lossless grey PNG."""
    write_bytes_atomic(path, _encode(PillowImage.fromarray(check_mask(mask)), "png"))


def write_text_atomic(path: str | Path, text: str) -> None:
    """Write UTF-8 text.

    Bytes of a file name that are no text (lone surrogates in Python) are written as escapes, which JSON reads back.
    """
    write_bytes_atomic(path, text.encode("utf-8", "backslashreplace"))


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON, indented by 2. NaN and infinity raise ValueError: an undefined number is null."""
    write_text_atomic(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_bytes_atomic(path: str | Path, data: bytes) -> None:
    """Write a file, and its folder where missing: whoever looks sees the old file or the whole new one."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _encode(picture: PillowImage.Image, codec: str) -> bytes:
    kind, quality, subsampling = parse_codec(codec)
    buffer = io.BytesIO()
    try:
        if kind == "png":
            picture.save(buffer, "PNG", compress_level=PNG_LEVEL)
        elif kind == "jpeg":
            picture.save(buffer, "JPEG", quality=quality, subsampling=subsampling)
        else:
            picture.save(buffer, "WEBP", quality=quality)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"Expected an image that {kind} can hold, got {picture.height}x{picture.width} ({error})."
        ) from error
    return buffer.getvalue()
