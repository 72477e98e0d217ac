"""What several offline editors need: feathering that stays inside the region, and a look at its surroundings."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from forensegm.edits.editors.base import Region
from forensegm.sample import Image


def feather(region: Region, width: float) -> NDArray[np.float32]:
    """Weight 0..1 of the edited pixel: 0 outside the region, rising to 1 over `width` pixels inside it."""
    padded = np.pad(region, 1, mode="edge").astype(np.uint8)  # the image's own border is no edge of the region
    distance = cv2.distanceTransform(padded, cv2.DIST_L2, 5)[1:-1, 1:-1]
    return np.asarray(np.clip(distance / (width + 1.0), 0.0, 1.0), np.float32)


def mix(image: Image, edited: NDArray[np.floating] | Image, weight: NDArray[np.float32]) -> Image:
    """Return `image` with `edited` laid over it by `weight`; where the weight is 0 the bytes are the image's own."""
    share = weight[..., None]
    mixed = image + share * (edited.astype(np.float32) - image)
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def ring(region: Region, width: int) -> Region:
    """Pixels outside the region at most `width` (chessboard) pixels away from it."""
    kernel = np.ones((2 * width + 1, 2 * width + 1), np.uint8)
    return (cv2.dilate(region.astype(np.uint8), kernel) > 0) & ~region


def rim(region: Region) -> NDArray[np.intp]:
    """Coordinates (n x 2: x, y) of the region's pixels that touch its outside; those of the region if it has none."""
    inner = cv2.erode(region.astype(np.uint8), np.ones((3, 3), np.uint8), borderValue=1) > 0
    edge = region & ~inner
    rows, columns = np.nonzero(edge if edge.any() else region)
    return np.stack([columns, rows], axis=1)


def is_grey(image: Image) -> bool:
    """Whether the three channels are equal everywhere: then colour of any kind would give an edit away."""
    return bool((image[..., :1] == image).all())


def as_grey(image: Image) -> Image:
    """Return the image without colour, still RGB."""
    return np.asarray(cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB))
