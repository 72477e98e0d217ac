"""Run anything that maps an image to per-pixel values on large images, tile by tile, with a smooth blend."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forensegm.sample import Image

Values = NDArray[np.float32]


def tile_starts(length: int, tile: int, overlap: int) -> list[int]:
    """Return where tiles begin along one side: evenly stepped, the last one flush with the end.

    >>> tile_starts(10, 4, 1)
    [0, 3, 6]
    >>> tile_starts(3, 4, 1)
    [0]
    """
    if not 0 <= overlap < tile:
        raise ValueError(f"Expected an overlap of 0 or more and below the tile {tile}, got {overlap}.")
    if length <= tile:
        return [0]
    step = tile - overlap
    return [*range(0, length - tile, step), length - tile]


def window(length: int, overlap: int) -> Values:
    """Return weights along one side: rising over the overlap, flat, falling; nowhere 0."""
    distance = np.minimum(np.arange(length), np.arange(length)[::-1]) + 1
    return np.minimum(distance / (overlap + 1), 1.0).astype(np.float32)


def tiled(image: Image, predict: Callable[[Image], Values], *, tile: int, overlap: int) -> Values:
    """Return `predict`'s values for an image of any size.

    Args:
        image: uint8 RGB HxWx3.
        predict: maps uint8 hxwx3 to float32 Kxhxw, for h and w up to `tile`.
        tile: longest side that `predict` sees.
        overlap: pixels that neighbouring tiles share.

    Returns:
        float32 KxHxW: the weighted mean of the tiles that cover a pixel.
    """
    height, width = image.shape[:2]
    if max(height, width) <= tile:
        return predict(image)
    total: Values | None = None
    weights = np.zeros((height, width), dtype=np.float32)
    for top in tile_starts(height, tile, overlap):
        for left in tile_starts(width, tile, overlap):
            part = image[top : top + tile, left : left + tile]
            values = predict(part)
            weight = np.outer(window(part.shape[0], overlap), window(part.shape[1], overlap))
            if total is None:
                total = np.zeros((len(values), height, width), dtype=np.float32)
            rows, columns = slice(top, top + part.shape[0]), slice(left, left + part.shape[1])
            total[:, rows, columns] += values * weight
            weights[rows, columns] += weight
    assert total is not None
    total /= weights
    return total
