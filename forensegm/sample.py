"""Every convention of the project, written once: images, masks, label spaces and what follows from a mask.

* Image: uint8 RGB, shape HxWx3, values 0..255.
* Mask: uint8, shape HxW, 0 = authentic, 1..K = editor, 255 = ignore (left out of every loss and metric).
* Turn map: uint8, shape HxW, 0 = never edited, t = the last turn that touched the pixel.
* Where turns overlap, the last editor wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Mask = NDArray[np.uint8]
Coverage = Literal["empty", "partial", "full"]

AUTHENTIC = 0
IGNORE = 255
AUTHENTIC_NAME = "authentic"
MAX_EDITORS = IGNORE - 1


@dataclass(frozen=True)
class LabelSpace:
    """The ordered names of the editors: editor i of the tuple (from 0) has mask value i + 1.

    It travels in every data set, checkpoint, export and report, so that a number always keeps its name.

    Raises:
        ValueError: no editor, more than 254, an empty or doubled name, or the reserved name "authentic".

    >>> LabelSpace(("telea", "copy_move")).id_of("copy_move")
    2
    """

    editors: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check the names; a list is taken as a tuple."""
        object.__setattr__(self, "editors", tuple(self.editors))
        if not 1 <= len(self.editors) <= MAX_EDITORS:
            raise ValueError(f"Expected 1 to {MAX_EDITORS} editors, got {len(self.editors)}.")
        if any(not isinstance(name, str) or not name.strip() for name in self.editors):
            raise ValueError(f"Expected editor names to be non-empty strings, got {list(self.editors)}.")
        doubled = sorted({name for name in self.editors if self.editors.count(name) > 1})
        if doubled:
            raise ValueError(f"Expected each editor once, got {', '.join(doubled)} more than once.")
        if AUTHENTIC_NAME in self.editors:
            raise ValueError(f"Expected editor names only: '{AUTHENTIC_NAME}' is class 0 of every label space.")

    @classmethod
    def opaque(cls, count: int) -> LabelSpace:
        """Names for the ids of a data set that does not name its editors: editor_1 .. editor_`count`."""
        return cls(tuple(f"editor_{number}" for number in range(1, count + 1)))

    @property
    def names(self) -> tuple[str, ...]:
        """Class names by id, "authentic" first."""
        return (AUTHENTIC_NAME, *self.editors)

    @property
    def num_classes(self) -> int:
        """Number of classes, the authentic one included."""
        return len(self.editors) + 1

    def id_of(self, name: str) -> int:
        """Mask value of a class name; raises ValueError for a name that is not in the label space."""
        if name not in self.names:
            raise ValueError(f"Expected one of {', '.join(self.names)}, got '{name}'.")
        return self.names.index(name)

    def name_of(self, class_id: int) -> str:
        """Class name of a mask value; raises ValueError for a value that is not in the label space."""
        if not 0 <= class_id < self.num_classes:
            raise ValueError(f"Expected a class id of 0..{self.num_classes - 1}, got {class_id}.")
        return self.names[class_id]


def check_image(image: NDArray[Any], *, name: str = "image") -> Image:
    """Return `image` if it is uint8 HxWx3 with at least one pixel; raise ValueError otherwise."""
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
        raise ValueError(f"Expected {name} to be uint8 HxWx3, got {image.dtype} {list(image.shape)}.")
    return image


def check_mask(mask: NDArray[Any], *, num_classes: int | None = None, name: str = "mask") -> Mask:
    """Return `mask` if it is uint8 HxW with ids below `num_classes` or 255; raise ValueError otherwise."""
    if mask.dtype != np.uint8 or mask.ndim != 2 or mask.size == 0:
        raise ValueError(f"Expected {name} to be uint8 HxW, got {mask.dtype} {list(mask.shape)}.")
    if num_classes is not None:
        outside = [int(value) for value in np.unique(mask) if num_classes <= value < IGNORE]
        if outside:
            raise ValueError(f"Expected {name} to hold ids 0..{num_classes - 1} or {IGNORE}, got {outside[0]}.")
    return mask


def class_areas(mask: Mask) -> NDArray[np.int64]:
    """Pixels per mask value, shape (256,)."""
    return np.bincount(mask.ravel(), minlength=256).astype(np.int64)


@dataclass(frozen=True)
class ImageLabel:
    """What a mask says about its whole image.

    Attributes:
        fake: any edited pixel; None where every pixel is ignored (nothing is known, so nothing is guessed).
        editors: the ids present, ascending.
        dominant: the id with most pixels (the lowest one on a tie); None for an authentic image.
        edited_share: edited pixels over valid pixels, 0..1; None where no pixel is valid.
        coverage: empty (only authentic pixels), full (only edited ones) or partial; None where none is valid.
    """

    fake: bool | None
    editors: tuple[int, ...]
    dominant: int | None
    edited_share: float | None
    coverage: Coverage | None


def image_label(mask: Mask) -> ImageLabel:
    """Derive the image-level label from a mask (uint8 HxW).

    >>> image_label(np.array([[0, 2], [2, 255]], dtype=np.uint8))
    ImageLabel(fake=True, editors=(2,), dominant=2, edited_share=0.6666666666666666, coverage='partial')
    """
    areas = class_areas(check_mask(mask))[:IGNORE]
    valid, edited = int(areas.sum()), int(areas[1:].sum())
    if valid == 0:
        return ImageLabel(None, (), None, None, None)
    if edited == 0:
        return ImageLabel(False, (), None, 0.0, "empty")
    present = tuple(int(value) for value in np.flatnonzero(areas[1:]) + 1)
    dominant = int(np.argmax(areas[1:])) + 1
    return ImageLabel(True, present, dominant, edited / valid, "full" if edited == valid else "partial")


@dataclass(frozen=True, eq=False)
class Sample:
    """One image with its mask: what every reader yields and everything after it takes.

    Attributes:
        id: unique in its data set.
        image: uint8 RGB HxWx3.
        mask: uint8 HxW (see the module's conventions).
        group: the photograph it comes from; splits and bootstraps never cut a group. Empty = its own group.
        turn_map: uint8 HxW or None where the data set does not say.
        meta: whatever else the data set knows (codec, edits, source, licence, ...): plain JSON types.

    Raises:
        ValueError: a wrong dtype or shape, or a mask whose size is not the image's.
    """

    id: str
    image: Image
    mask: Mask
    group: str = ""
    turn_map: Mask | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every array against the conventions."""
        check_image(self.image, name=f"image of '{self.id}'")
        check_same_size(self.image.shape[:2], check_mask(self.mask).shape, name=self.id)
        if self.turn_map is not None:
            check_same_size(self.image.shape[:2], check_mask(self.turn_map, name="turn map").shape, name=self.id)
        if not self.group:
            object.__setattr__(self, "group", self.id)

    @property
    def label(self) -> ImageLabel:
        """The image-level label that the mask implies."""
        return image_label(self.mask)


def check_same_size(image_hw: Sequence[int], mask_hw: Sequence[int], *, name: str) -> None:
    """Raise ValueError unless both sizes (height, width) agree; swapped sides are named as such."""
    image_hw, mask_hw = tuple(image_hw), tuple(mask_hw)
    if image_hw == mask_hw:
        return
    hint = " Height and width are swapped." if image_hw == mask_hw[::-1] else ""
    raise ValueError(
        f"Expected the mask of '{name}' to have the image's size {image_hw[0]}x{image_hw[1]} (height x width), "
        f"got {mask_hw[0]}x{mask_hw[1]}.{hint} Fix the file, or name a policy: nearest or crop."
    )
