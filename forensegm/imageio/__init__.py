"""The one image reader, the one mask reader and their writers; every other module uses these.

Bytes are read first, then decoded by what they hold. Decoding is strict on every path: a file that is not whole raises
ValueError naming it, and nothing missing is ever filled in.
"""

from forensegm.imageio.decode import (
    IMAGE_SUFFIXES,
    MAX_PIXELS,
    ImageInfo,
    Source,
    read_image,
    read_image_and_info,
    read_image_info,
)
from forensegm.imageio.encode import (
    codec_suffix,
    encode_image,
    write_bytes_atomic,
    write_image,
    write_json,
    write_mask,
    write_text_atomic,
)
from forensegm.imageio.mask_values import MaskKind, MaskSpec, Mismatch
from forensegm.imageio.masks import fit_mask, read_mask

__all__ = [
    "IMAGE_SUFFIXES",
    "MAX_PIXELS",
    "ImageInfo",
    "MaskKind",
    "MaskSpec",
    "Mismatch",
    "Source",
    "codec_suffix",
    "encode_image",
    "fit_mask",
    "read_image",
    "read_image_and_info",
    "read_image_info",
    "read_mask",
    "write_bytes_atomic",
    "write_image",
    "write_json",
    "write_mask",
    "write_text_atomic",
]
