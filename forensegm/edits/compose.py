"""From an editor's output to the next image, label mask and turn map. The last editor wins where turns overlap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forensegm.edits.editors.base import Region
from forensegm.edits.editors.offline.blend import feather, mix
from forensegm.edits.register import register
from forensegm.sample import Image, Mask


@dataclass(frozen=True, eq=False)
class Layers:
    """An image after some turns, and what is known about its pixels.

    Attributes:
        image: uint8 RGB HxWx3.
        mask: uint8 HxW, 0 = authentic, else the mask value of the last editor.
        turn_map: uint8 HxW, 0 = never edited, else the last turn.
    """

    image: Image
    mask: Mask
    turn_map: Mask

    @classmethod
    def of(cls, image: Image) -> Layers:
        """Layers of an image that nobody has edited."""
        return cls(image, np.zeros(image.shape[:2], np.uint8), np.zeros(image.shape[:2], np.uint8))

    def with_turn(self, image: Image, region: Region, *, editor_id: int, turn: int) -> Layers:
        """Layers after one more turn: `region` (bool HxW) gets the label `editor_id` and the turn `turn` (from 1)."""
        mask, turn_map = self.mask.copy(), self.turn_map.copy()
        mask[region], turn_map[region] = editor_id, turn
        return Layers(image, mask, turn_map)


def splice(before: Image, edited: Image, region: Region, *, fade: float = 0.0) -> Image:
    """Take the region from `edited`; every pixel outside it is bit-equal to `before`.

    With `fade`, the edit fades in over so many pixels inside the region: the feather lies inside the label.
    """
    if fade > 0:
        return mix(before, edited, feather(region, fade))
    return np.where(region[..., None], edited, before)


def regenerate(_before: Image, edited: Image, _region: Region, *, fade: float = 0.0) -> Image:  # noqa: ARG001
    """Take the whole frame: all of it went through the editor, whatever it was asked to change."""
    return edited


COMPOSITES: dict[str, Callable[..., Image]] = {"splice": splice, "regenerate": regenerate}


@dataclass(frozen=True, eq=False)
class Composed:
    """An editor's output, laid on its input.

    Attributes:
        image: the next image, uint8 RGB HxWx3.
        whole: the whole output at the input's size.
        how: how the output was registered, in words; empty where it had the right size.
    """

    image: Image
    whole: Image
    how: str


def compose(before: Image, edited: Image, region: Region, *, mode: str, editor: str, fade: float = 0.0) -> Composed:
    """Compose an editor's output with the image it was given.

    Args:
        before: the turn's input.
        edited: the editor's output; one of another size is laid on its input first (see `register`).
        region: the hard requested mask, bool HxW.
        mode: a name of `COMPOSITES`.
        editor: who made `edited`, for the error message.
        fade: pixels over which a splice fades in, inside the region.

    Raises:
        ValueError: the output is not uint8 RGB, or it cannot be laid on its input.
    """
    try:
        edited, how = register(before, edited, region)
    except ValueError as error:
        raise ValueError(f"Expected the editor '{editor}' to keep to its input. {error}") from error
    return Composed(COMPOSITES[mode](before, edited, region, fade=fade), edited, how)
