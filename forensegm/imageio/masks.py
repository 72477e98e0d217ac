"""Read masks: what the values of a file mean is declared, and anything undeclared is an error."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from forensegm.imageio.decode import Source, is_lossy_webp, load, open_picture, plain_pixels, read_bytes, upright
from forensegm.imageio.mask_values import (
    MaskKind,
    MaskSpec,
    Mismatch,
    from_colours,
    to_binary,
    to_ids,
    to_mapped,
)
from forensegm.sample import Mask, check_same_size

__all__ = ["MaskKind", "MaskSpec", "Mismatch", "fit_mask", "read_mask"]

logger = logging.getLogger(__name__)

CHROMA_NOISE = 8  # grey levels that a lossy codec may put between the channels of a grey picture
WHITE_THEN_BLACK = [255, 255, 255, 0, 0, 0]


def read_mask(
    source: Source, spec: MaskSpec, *, image_hw: tuple[int, int] | None = None, name: str | None = None
) -> Mask:
    """Decode a mask file to uint8 HxW: 0 = authentic, 1..K = editor, 255 = ignore.

    Indexed files are read as indices, whatever their palette, except as colours; grey files of 2 or 4 bits as stored
    when they hold ids. A lossy binary mask is cut at mid-range (or the declared threshold), with one logged warning per
    folder; any other lossy mask is refused.

    Args:
        source: a path, or the bytes of a file.
        spec: what its values mean.
        image_hw: height and width that the mask must have; None = any.
        name: what to call it in errors; by default its path.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a broken file, an undeclared value or colour, or a size that is not the image's.
    """
    data, name = read_bytes(source, name)
    picture = open_picture(data, name)
    lossy = picture.format in ("JPEG", "MPO") or is_lossy_webp(picture, data)
    if spec.kind != "binary" and lossy:
        raise ValueError(
            f"Expected {spec.kind} in '{name}', got lossy {picture.format}, which alters them. Save masks as PNG."
        )
    fast = None if spec.kind == "palette" else plain_pixels(picture, data, name, rgb=spec.kind == "colours")
    if fast is None:
        load(picture, name)
    mask = _classes(picture, data, fast, spec=spec, name=name, lossy=lossy)
    return mask if image_hw is None else fit_mask(mask, image_hw, policy=spec.on_mismatch, name=name)


def _classes(
    picture: PillowImage.Image, data: bytes, fast: NDArray[Any] | None, *, spec: MaskSpec, name: str, lossy: bool
) -> Mask:
    """Class ids of a decoded mask; `fast` holds its values where they are known already."""
    if spec.kind == "colours":
        return from_colours(_displayed(upright(picture, name), name) if fast is None else fast, spec, name)
    if spec.kind == "palette" and picture.mode != "P":
        raise ValueError(f"Expected an indexed mask in '{name}', got mode {picture.mode}. Declare another kind.")
    values = _stored_values(upright(picture, name), name, lossy=lossy) if fast is None else fast
    if spec.kind in ("tones", "palette") and spec.values:
        return to_mapped(values, spec, name)
    if spec.kind != "binary":
        step = _grey_step(picture.format, data)
        return to_ids(values if step == 1 else values // step, spec, name)
    if picture.mode == "P" and (picture.getpalette() or [])[:6] == WHITE_THEN_BLACK:
        raise ValueError(
            f"Expected index 0 of '{name}' to be authentic, got a palette that shows it white. Save it as grey."
        )
    return to_binary(values, spec, name, lossy=lossy)


def fit_mask(mask: Mask, image_hw: tuple[int, int], *, policy: Mismatch = "error", name: str = "mask") -> Mask:
    """Bring a mask (uint8 HxW) to the size of its image by a named policy (see `MaskSpec`).

    Raises:
        ValueError: the sizes differ and the policy is error, the sides are swapped, or a side to crop is too short.
    """
    height, width = image_hw
    if mask.shape == (height, width):
        return mask
    if policy == "error" or mask.shape == (width, height):
        check_same_size(image_hw, mask.shape, name=name)
    logger.info("Fitted mask '%s' of %dx%d to %dx%d: %s.", name, *mask.shape, height, width, policy)
    if policy == "nearest":
        rows = (2 * np.arange(height) + 1) * mask.shape[0] // (2 * height)
        columns = (2 * np.arange(width) + 1) * mask.shape[1] // (2 * width)
        fitted: Mask = mask[rows[:, None], columns]
        return fitted
    if mask.shape[0] < height or mask.shape[1] < width:
        raise ValueError(
            f"Expected the mask '{name}' to be at least {height}x{width}, its image's size, to be cropped, got "
            f"{mask.shape[0]}x{mask.shape[1]}. Fix the file."
        )
    return np.ascontiguousarray(mask[:height, :width])


def _stored_values(picture: PillowImage.Image, name: str, *, lossy: bool) -> NDArray[Any]:
    """One integer per pixel, as the file holds it: HxW, uint8 or wider."""
    if picture.mode in ("1", "P", "L", "I") or picture.mode.startswith("I;16"):
        return np.asarray(picture).astype(np.uint8) if picture.mode == "1" else np.asarray(picture)
    if picture.mode in ("LA", "PA", "RGBA"):
        if picture.getextrema()[-1] != (255, 255):
            raise ValueError(f"Expected a mask without transparency in '{name}', got some. Save it as plain grey PNG.")
        channels = np.asarray(picture)[..., :-1]
    elif picture.mode in ("RGB", "YCbCr"):
        channels = np.asarray(picture.convert("RGB"))
    else:
        raise ValueError(f"Expected a grey or indexed mask in '{name}', got mode {picture.mode}. Save it as grey PNG.")
    if int(np.ptp(channels, axis=2).max()) > (CHROMA_NOISE if lossy else 0):
        raise ValueError(f"Expected a grey or indexed mask in '{name}', got colours. Save it as grey PNG.")
    return channels[..., 0]


def _displayed(picture: PillowImage.Image, name: str) -> NDArray[np.uint8]:
    """The colours that a file displays: uint8 HxWx3."""
    if picture.has_transparency_data and picture.convert("RGBA").getextrema()[-1] != (255, 255):
        raise ValueError(f"Expected a mask without transparency in '{name}', got some. Save it as RGB PNG.")
    if picture.mode.startswith(("I", "F")):
        raise ValueError(f"Expected 8 bits per channel in the mask '{name}', got mode {picture.mode}. Save RGB PNG.")
    return np.asarray(picture.convert("RGB"))


def _grey_step(codec: str | None, data: bytes) -> int:
    """What Pillow multiplied the values of a grey PNG of 2 or 4 bits by, to reach white; 1 for other files."""
    depth, color_type = (data[24], data[25]) if codec == "PNG" else (8, 0)  # in IHDR, always the first chunk
    return {2: 85, 4: 17}.get(depth, 1) if color_type == 0 else 1
