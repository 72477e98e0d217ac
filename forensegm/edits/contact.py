"""Small pictures of turns for the contact sheet."""

from __future__ import annotations

import base64

import cv2
import numpy as np

from forensegm.edits.editors.base import Region
from forensegm.imageio import encode_image
from forensegm.sample import Image

SIDE = 128  # pixels of the longer side of each of the three pictures
WHITE_AT = 32.0  # grey levels of change that are drawn white
OUTLINE = (255, 64, 64)


def draw_strip(before: Image, after: Image, region: Region, *, wanted: bool) -> str:
    """Draw before, after with the region outlined, and the change, side by side: a JPEG in base64.

    Returns an empty text unless `wanted`.
    """
    if not wanted:
        return ""
    factor = SIDE / max(before.shape[:2])
    height, width = (max(1, round(side * factor)) for side in before.shape[:2])
    size = (width, height)
    change = np.abs(after.astype(np.int16) - before).max(axis=2) * (255.0 / WHITE_AT)
    heat = cv2.cvtColor(np.clip(change, 0, 255).astype(np.uint8), cv2.COLOR_GRAY2RGB)
    small = [cv2.resize(one, size, interpolation=cv2.INTER_AREA) for one in (before, after, heat)]
    shape = cv2.resize(region.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    rim = cv2.dilate(shape, np.ones((3, 3), np.uint8)) > shape
    small[1][rim] = OUTLINE
    return base64.b64encode(encode_image(np.concatenate(small, axis=1), "jpeg:80")).decode("ascii")
