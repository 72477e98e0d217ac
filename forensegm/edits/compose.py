"""From an editor's output to the next image, label mask and turn map. The last editor wins where turns overlap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forensegm.edits.editors.base import Region
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


def splice(before: Image, edited: Image, region: Region) -> Image:
    """Take the region from `edited`; every pixel outside it is bit-equal to `before`."""
    return np.where(region[..., None], edited, before)


COMPOSITES: dict[str, Callable[[Image, Image, Region], Image]] = {"splice": splice}


def compose(before: Image, edited: Image, region: Region, *, mode: str, editor: str) -> Image:
    """Compose an editor's output with the image it was given.

    Args:
        before: the turn's input.
        edited: the editor's output.
        region: the hard requested mask, bool HxW.
        mode: a name of `COMPOSITES`.
        editor: who made `edited`, for the error message.

    Raises:
        ValueError: the output is not uint8 RGB of the input's size; it would not lie on its mask.
    """
    if edited.shape != before.shape or edited.dtype != np.uint8:
        raise ValueError(
            f"Expected the editor '{editor}' to return uint8 {list(before.shape)}, got {edited.dtype} "
            f"{list(edited.shape)}. An editor that needs another size pads its input and crops its output back."
        )
    return COMPOSITES[mode](before, edited, region)
