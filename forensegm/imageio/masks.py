"""Read masks: what the values of a file mean is declared, and anything undeclared is an error."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from forensegm.imageio.decode import Source, is_lossy_webp, load, open_picture, read_bytes, upright
from forensegm.lookup import unknown_name
from forensegm.sample import IGNORE, MAX_EDITORS, Mask, check_same_size

logger = logging.getLogger(__name__)

MaskKind = Literal["binary", "ids"]
Mismatch = Literal["error", "nearest", "crop"]

MID_RANGE = 128
CHROMA_NOISE = 8  # grey levels that a lossy codec may put between the channels of a grey picture
WHITE_THEN_BLACK = [255, 255, 255, 0, 0, 0]

_warned: set[Path] = set()


@dataclass(frozen=True)
class MaskSpec:
    """What the values of a data set's mask files mean: declared by the user, never inferred from a file.

    Attributes:
        kind: binary (0 = authentic; 1 or 255 = edited) or ids (0 = authentic, 1..K = editor).
        num_classes: K + 1, for ids; None = any id of 0..254.
        ignore: file value of pixels to leave out; None = there is none.
        on_mismatch: what to do with a mask of another size than its image: error; nearest (resize, nearest-exact); or
            crop (keep the top left of a larger mask). Swapped height and width always raise.
        editor: the id that the edited pixels of a binary mask get.

    Raises:
        ValueError: a value that is none of these, or an ignore value that has a meaning already.
    """

    kind: MaskKind
    num_classes: int | None = None
    ignore: int | None = None
    on_mismatch: Mismatch = "error"
    editor: int = 1

    def __post_init__(self) -> None:
        """Check the declaration."""
        if self.kind not in get_args(MaskKind):
            raise unknown_name(self.kind, get_args(MaskKind), what="mask kind")
        if self.on_mismatch not in get_args(Mismatch):
            raise unknown_name(self.on_mismatch, get_args(Mismatch), what="policy for masks of another size")
        if not 1 <= self.editor <= MAX_EDITORS:
            raise ValueError(
                f"Expected the editor of a binary mask to be an id of 1..{MAX_EDITORS}, got {self.editor}."
            )
        if self.num_classes is not None and not 1 <= self.num_classes <= IGNORE:
            raise ValueError(f"Expected 1 to {IGNORE} classes, got {self.num_classes}.")
        first_free = 2 if self.kind == "binary" else self.num_classes or IGNORE
        if self.ignore is not None and not first_free <= self.ignore <= IGNORE:
            raise ValueError(
                f"Expected an ignore value of {first_free}..{IGNORE}, got {self.ignore}, which has a meaning already."
            )


def read_mask(
    source: Source, spec: MaskSpec, *, image_hw: tuple[int, int] | None = None, name: str | None = None
) -> Mask:
    """Decode a mask file to uint8 HxW: 0 = authentic, 1..K = editor, 255 = ignore.

    Indexed files are read as indices, whatever their palette; grey files of 2 or 4 bits as stored when they hold ids.
    A lossy binary mask is cut at mid-range, with one logged warning per folder; lossy ids are refused.

    Args:
        source: a path, or the bytes of a file.
        spec: what its values mean.
        image_hw: height and width that the mask must have; None = any.
        name: what to call it in errors; by default its path.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a broken file, an undeclared value, colours, or a size that is not the image's.
    """
    data, name = read_bytes(source, name)
    picture = open_picture(data, name)
    load(picture, name)
    lossy = picture.format in ("JPEG", "MPO") or is_lossy_webp(picture, data)
    if spec.kind == "ids" and lossy:
        raise ValueError(f"Expected ids in '{name}', got lossy {picture.format}, which alters them. Save ids as PNG.")
    values = _stored_values(upright(picture, name), name, lossy=lossy)
    if spec.kind == "binary" and picture.mode == "P" and (picture.getpalette() or [])[:6] == WHITE_THEN_BLACK:
        raise ValueError(
            f"Expected index 0 of '{name}' to be authentic, got a palette that shows it white. Save it as grey."
        )
    if spec.kind == "ids":
        step = _grey_step(picture.format, data)
        mask = _ids(values if step == 1 else values // step, spec, name)
    else:
        mask = _binary(values, spec, name, lossy=lossy)
    return mask if image_hw is None else fit_mask(mask, image_hw, policy=spec.on_mismatch, name=name)


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


def _grey_step(codec: str | None, data: bytes) -> int:
    """What Pillow multiplied the values of a grey PNG of 2 or 4 bits by, to reach white; 1 for other files."""
    depth, color_type = (data[24], data[25]) if codec == "PNG" else (8, 0)  # in IHDR, always the first chunk
    return {2: 85, 4: 17}.get(depth, 1) if color_type == 0 else 1


def _ids(values: NDArray[Any], spec: MaskSpec, name: str) -> Mask:
    limit = IGNORE if spec.num_classes is None else spec.num_classes
    undeclared = [value for value in _present(values) if not 0 <= value < limit and value != spec.ignore]
    if undeclared:
        ignored = "no ignore value" if spec.ignore is None else f"{spec.ignore} to ignore"
        raise _undeclared(f"ids 0..{limit - 1} and {ignored}", undeclared, name)
    if spec.ignore in (None, IGNORE):
        return values.astype(np.uint8)
    return np.where(values == spec.ignore, IGNORE, values).astype(np.uint8)


def _binary(values: NDArray[Any], spec: MaskSpec, name: str, *, lossy: bool) -> Mask:
    if lossy:
        if spec.ignore is not None:
            raise ValueError(
                f"Expected a lossless mask in '{name}', got a lossy one: its ignore value is lost. Save PNG."
            )
        _warn_lossy(name)
        return np.where(values >= MID_RANGE, spec.editor, 0).astype(np.uint8)
    present = set(_present(values)) - {spec.ignore}
    if not (present <= {0, 1} or present <= {0, 255}):
        raise _undeclared("0 and 1, or 0 and 255, in a binary mask", sorted(present - {0}), name)
    mask = np.where(values != 0, spec.editor, 0).astype(np.uint8)
    if spec.ignore is not None:
        mask[values == spec.ignore] = IGNORE
    return mask


def _present(values: NDArray[Any]) -> list[int]:
    """The distinct values, ascending; for bytes without the sort that `np.unique` spends most of the reading on."""
    if values.dtype == np.uint8:
        return [int(value) for value in np.flatnonzero(np.bincount(values.ravel(), minlength=256))]
    return [int(value) for value in np.unique(values)]


def _undeclared(declared: str, found: list[int], name: str) -> ValueError:
    listed = ", ".join(map(str, found[:5])) + (f", ... up to {found[-1]}" if len(found) > 5 else "")
    return ValueError(f"Expected {declared}, got {listed} in '{name}'. Declare what the values mean, or fix the file.")


def _warn_lossy(name: str) -> None:
    """Warn once per folder, that is once per data set, not once per file."""
    folder = Path(name).parent
    if folder not in _warned:
        _warned.add(folder)
        logger.warning("Lossy masks in '%s', for example '%s': cut at mid-range. Save masks as PNG.", folder, name)
