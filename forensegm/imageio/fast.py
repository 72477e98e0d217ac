"""The quick way to the same pixels: OpenCV's decoders, for the plain files on which they agree with Pillow's.

OpenCV fills in what is missing of a file and says nothing, so a file is looked through first: what is not seen to be
whole, and every file that is not plain, is left to Pillow.
"""

from __future__ import annotations

import zlib
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Chunks (PNG, third edition, section 5.6) of files that mean more than their samples say: a palette or one transparent
# colour, several frames, an orientation. Text may hold one under these keywords (ImageMagick's, and XMP's).
NOT_PLAIN = frozenset((b"PLTE", b"tRNS", b"acTL", b"eXIf", b"tEXt", b"zTXt", b"iTXt"))
TEXT = frozenset((b"tEXt", b"zTXt", b"iTXt"))
MAY_ORIENT = (b"Raw profile", b"XML:com.adobe.xmp")
GREY, RGB = 0, 2  # PNG colour types
END_OF_IMAGE = b"\xff\xd9"  # JPEG marker (ITU-T T.81, table B.1)


def fast_pixels(data: bytes, *, codec: str | None, mode: str, rgb: bool) -> NDArray[np.uint8] | None:
    """Decode a plain, upright file; None = it is not plain, or OpenCV cannot: ask Pillow, whose errors say why.

    Args:
        data: the whole file.
        codec: what Pillow's header parser says it is.
        mode: Pillow's mode of the file.
        rgb: whether to return RGB, grey repeated; otherwise only grey files are decoded, to HxW.

    Returns:
        uint8 HxWx3 or HxW.

    Raises:
        ValueError: a PNG whose chunks end too early or do not fit their checksums.
    """
    if codec == "PNG":
        plain = is_plain_png(data)
    else:
        plain = codec == "JPEG" and mode in ("RGB", "L") and data.endswith(END_OF_IMAGE)
    if not plain or (mode != "L" and not rgb):
        return None
    flag = cv2.IMREAD_COLOR_RGB if rgb else cv2.IMREAD_GRAYSCALE
    try:
        pixels: Any = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), flag | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error:
        return None
    return None if pixels is None else np.asarray(pixels, dtype=np.uint8)


def is_plain_png(data: bytes) -> bool:
    """Whether a PNG holds one frame of 8-bit grey or RGB samples and nothing that changes what they mean."""
    chunks = png_chunks(data)
    depth, colour_type = data[24], data[25]  # in IHDR, always the first chunk
    return depth == 8 and colour_type in (GREY, RGB) and not NOT_PLAIN & chunks


def png_chunks(data: bytes) -> set[bytes]:
    """Return the types of a PNG's chunks, every checksum checked: decoders look at few of them.

    Text chunks count only where they may hold an orientation.

    Raises:
        ValueError: the chunks end before IEND, or one does not fit its checksum.
    """
    found: set[bytes] = set()
    view, at = memoryview(data), len(PNG_SIGNATURE)
    while b"IEND" not in found:
        length = int.from_bytes(view[at : at + 4])
        end = at + 8 + length
        if end + 4 > len(data):
            raise ValueError(f"its chunks end after {len(data)} bytes, before IEND")
        kind = bytes(view[at + 4 : at + 8])
        if zlib.crc32(view[at + 4 : end]) != int.from_bytes(view[end : end + 4]):
            raise ValueError(f"the checksum of chunk {kind!r} at byte {at} is wrong")
        if kind not in TEXT or bytes(view[at + 8 : end]).startswith(MAY_ORIENT):
            found.add(kind)
        at = end + 4
    return found
