"""What the values of mask files mean: the declaration, and the way from stored values to class ids."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import cv2
import numpy as np
from numpy.typing import NDArray

from forensegm.lookup import unknown_name
from forensegm.sample import IGNORE, MAX_EDITORS, Mask

logger = logging.getLogger(__name__)

MaskKind = Literal["binary", "ids", "tones", "colours", "palette"]
Mismatch = Literal["error", "nearest", "crop"]

MID_RANGE = 128
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
MAPPED = ("tones", "colours", "palette")

_warned: set[Path] = set()


@dataclass(frozen=True)
class MaskSpec:
    """What the values of a data set's mask files mean: declared by the user, never inferred from a file.

    Attributes:
        kind: binary (0 = authentic; 1 or 255 = edited; see `threshold`), ids (0 = authentic, 1..K = editor), tones
            (grey values, by `values`), colours (what the file displays, by `values`) or palette (the indices of an
            indexed file: ids, or by `values`; a file that is not indexed is refused).
        num_classes: K + 1, for ids; None = any id of 0..254.
        ignore: file value of pixels to leave out, for binary and ids; None = there is none.
        on_mismatch: what to do with a mask of another size than its image: error; nearest (resize, nearest-exact); or
            crop (keep the top left of a larger mask). Swapped height and width always raise.
        editor: the id that the edited pixels of a binary mask get.
        values: class id (0, 1..K, or 255 = ignore) of every value that a file may hold, for tones, colours (keys
            "#rrggbb") and palette. Any other value is an error.
        threshold: for graded binary masks: this value and those above are edited; None = no value between is allowed.

    Raises:
        ValueError: a value that is none of these, or an ignore value that has a meaning already.
    """

    kind: MaskKind
    num_classes: int | None = None
    ignore: int | None = None
    on_mismatch: Mismatch = "error"
    editor: int = 1
    values: Mapping[int | str, int] = field(default_factory=dict)
    threshold: int | None = None

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
        if self.threshold is not None and (self.kind != "binary" or self.threshold < 1 or self.ignore is not None):
            raise ValueError(
                f"Expected a threshold of 1 or more, of binary masks without an ignore value, got {self.threshold}."
            )
        if self.kind in MAPPED:
            self._check_values()
        elif self.values:
            raise ValueError(f"Expected values only for masks of kind {', '.join(MAPPED)}, got some for {self.kind}.")
        first_free = 2 if self.kind == "binary" else self.num_classes or IGNORE
        if self.ignore is not None and not first_free <= self.ignore <= IGNORE:
            raise ValueError(
                f"Expected an ignore value of {first_free}..{IGNORE}, got {self.ignore}, which has a meaning already."
            )

    def _check_values(self) -> None:
        if not self.values and self.kind != "palette":
            raise ValueError(f"Expected the class of each value of masks of kind {self.kind}, got none.")
        if self.values and self.ignore is not None:
            raise ValueError(f"Expected the value to ignore among values, as class {IGNORE}, got {self.ignore} apart.")
        for value, target in self.values.items():
            fits = isinstance(value, str) and COLOUR.fullmatch(value) if self.kind == "colours" else is_grey(value)
            if not fits:
                form = '"#rrggbb"' if self.kind == "colours" else "a number of 0..65535"
                raise ValueError(f"Expected {form} as value of a mask of kind {self.kind}, got {value!r}.")
            if not (0 <= target < (self.num_classes or IGNORE) or target == IGNORE):
                raise ValueError(f"Expected the class of value {value!r} to be an id or {IGNORE}, got {target}.")


def is_grey(value: Any) -> bool:
    """Whether a declared value can stand in a grey or indexed file."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 16


def to_ids(values: NDArray[Any], spec: MaskSpec, name: str) -> Mask:
    """Class ids of a mask that stores ids; raises ValueError for an undeclared one."""
    limit = IGNORE if spec.num_classes is None else spec.num_classes
    # The largest value alone says that all are declared in most files, at a tenth of the cost of a histogram.
    if values.dtype != np.uint8 or int(values.max()) >= limit:
        undeclared = [value for value in present(values) if not 0 <= value < limit and value != spec.ignore]
        if undeclared:
            ignored = "no ignore value" if spec.ignore is None else f"{spec.ignore} to ignore"
            raise _undeclared(f"ids 0..{limit - 1} and {ignored}", undeclared, name)
    if spec.ignore in (None, IGNORE):
        return values.astype(np.uint8)
    return np.where(values == spec.ignore, IGNORE, values).astype(np.uint8)


def to_binary(values: NDArray[Any], spec: MaskSpec, name: str, *, lossy: bool) -> Mask:
    """Class ids of a black-and-white mask; raises ValueError for an undeclared value."""
    if lossy and spec.ignore is not None:
        raise ValueError(f"Expected a lossless mask in '{name}', got a lossy one: its ignore value is lost. Save PNG.")
    if lossy:
        _warn_lossy(name)
    if lossy or spec.threshold is not None:
        return np.where(values >= (spec.threshold or MID_RANGE), spec.editor, 0).astype(np.uint8)
    if not is_black_and_white(values):
        found = set(present(values)) - {spec.ignore}
        if not (found <= {0, 1} or found <= {0, 255}):
            raise _undeclared(
                "0 and 1, or 0 and 255, in a binary mask (a graded one is cut where mask_threshold says, and one of "
                "several tones is declared as tones)",
                sorted(found - {0}),
                name,
            )
    mask: Mask = np.minimum(values, 1).astype(np.uint8, copy=False)
    if spec.editor != 1:
        mask *= np.uint8(spec.editor)
    if spec.ignore is not None:
        mask[values == spec.ignore] = IGNORE
    return mask


def is_black_and_white(values: NDArray[Any]) -> bool:
    """Whether bytes are all 0 and 1, or all 0 and 255, at a tenth of the cost of a histogram."""
    return values.dtype == np.uint8 and bool(values.max() <= 1 or not ((values + np.uint8(1)) & 0xFE).any())


def to_mapped(values: NDArray[Any], spec: MaskSpec, name: str) -> Mask:
    """Class ids of a mask whose grey values or indices are declared one by one; raises ValueError for another."""
    undeclared = [value for value in present(values) if value not in spec.values]
    if undeclared:
        raise _undeclared(f"the declared values {', '.join(map(str, spec.values))}", undeclared, name)
    table = np.zeros(max(256, *(int(value) + 1 for value in spec.values)), dtype=np.uint8)
    for value, target in spec.values.items():
        table[int(value)] = target
    mask: Mask = table[values]
    return mask


def from_colours(pixels: NDArray[np.uint8], spec: MaskSpec, name: str) -> Mask:
    """Class ids of a colour-coded mask (uint8 HxWx3); raises ValueError for a colour that is not declared."""
    wide = pixels.astype(np.int32)
    codes = (wide[..., 0] << 16) | (wide[..., 1] << 8) | wide[..., 2]
    mask = np.zeros(codes.shape, dtype=np.uint8)
    known = np.zeros(codes.shape, dtype=bool)
    for colour, target in spec.values.items():
        hit = codes == int(str(colour)[1:], 16)
        mask[hit] = target
        known |= hit
    if not known.all():
        others = [f"#{code:06x}" for code in np.unique(codes[~known])]
        raise _undeclared(f"the declared colours {', '.join(map(str, spec.values))}", others, name)
    return mask


def present(values: NDArray[Any]) -> list[int]:
    """The distinct values, ascending; for bytes without the sort that `np.unique` spends most of the reading on."""
    if values.dtype == np.uint8:
        counts = cv2.calcHist([np.ascontiguousarray(values)], [0], None, [256], [0, 256])
        return [int(value) for value in np.flatnonzero(counts)]
    return [int(value) for value in np.unique(values)]


def _undeclared(declared: str, found: Iterable[object], name: str) -> ValueError:
    values = list(found)
    listed = ", ".join(map(str, values[:5])) + (f", ... up to {values[-1]}" if len(values) > 5 else "")
    return ValueError(f"Expected {declared}, got {listed} in '{name}'. Declare what the values mean, or fix the file.")


def _warn_lossy(name: str) -> None:
    """Warn once per folder, that is once per data set, not once per file."""
    folder = Path(name).parent
    if folder not in _warned:
        _warned.add(folder)
        logger.warning("Lossy masks in '%s', for example '%s': cut at mid-range. Save masks as PNG.", folder, name)
