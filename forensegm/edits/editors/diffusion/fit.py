"""Make an image fit an editor's grid, and its output fit the image again: pad, edit, crop back."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from forensegm.edits.editors.base import Region
from forensegm.edits.register import register
from forensegm.sample import Image


@dataclass(frozen=True, eq=False)
class Padded:
    """An image and its region on an editor's grid.

    Attributes:
        image: uint8 RGB, mirrored at its right and lower border.
        region: bool, the cells of the editor's grid that the requested region touches: what the editor is told to
            change. A region smaller than a cell would vanish on the latent grid otherwise.
        hw: size of the image before padding.
    """

    image: Image
    region: Region
    hw: tuple[int, int]

    def cut(self, output: Image) -> tuple[Image, str]:
        """Cut an output of the padded size back; one of another size is registered first, which the text says."""
        output, how = register(self.image, output, self.region)
        return np.ascontiguousarray(output[: self.hw[0], : self.hw[1]]), how


def pad(image: Image, region: Region, *, multiple: int, smallest: int, cell: int) -> Padded:
    """Pad to sides that are multiples of `multiple` and at least `smallest`; grow the region to cells of `cell` pixels.

    The padding is no part of the region.
    """
    height, width = image.shape[:2]
    bottom, right = (_up(max(side, smallest), multiple) - side for side in (height, width))
    # Reflection needs no more than the image has: what is beyond is reflected again.
    padded = cv2.copyMakeBorder(image, 0, bottom, 0, right, cv2.BORDER_REFLECT)
    grown = np.pad(region, ((0, bottom), (0, right)))
    rows, columns = (_up(side, cell) for side in grown.shape)
    cells = np.zeros((rows, columns), bool)
    cells[: grown.shape[0], : grown.shape[1]] = grown
    touched = np.asarray(cells.reshape(rows // cell, cell, columns // cell, cell).any(axis=(1, 3)))
    whole = np.repeat(np.repeat(touched, cell, axis=0), cell, axis=1)[: grown.shape[0], : grown.shape[1]]
    return Padded(np.asarray(padded, np.uint8), whole, (height, width))


def _up(side: int, multiple: int) -> int:
    return -(-side // multiple) * multiple
