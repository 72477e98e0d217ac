"""Lay the output of an editor that changed the size back onto its input, or refuse it."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from forensegm.edits.editors.base import Region
from forensegm.sample import Image

# Mean difference outside the region, in grey levels, up to which an output counts as lying on its input: our choice. An
# autoencoder's round trip costs 1 to 4 on photographs (TAEF2); another picture tens. It does not tell a small shift.
MAX_DIFFERENCE = 12.0
FEWEST_OUTSIDE = 0.05  # share of pixels outside the region below which there is nothing to compare


def register(before: Image, output: Image, region: Region) -> tuple[Image, str]:
    """Bring `output` to the size of `before`.

    Editors that change the size have stretched the frame, or cut it to their grid. Both are tried, and the one that
    fits best outside the region is taken. What a cut left out is filled with `before`; no part of the region may be.

    Args:
        before: uint8 RGB HxWx3, what the editor was given.
        output: uint8 RGB of any size.
        region: bool HxW, what it was asked to change.

    Returns:
        uint8 RGB HxWx3, and what was done in words; empty where the size is right already.

    Raises:
        ValueError: not uint8 RGB, or no way in which it lies on its input.
    """
    if output.dtype != np.uint8 or output.ndim != 3 or output.shape[2] != 3 or output.size == 0:
        raise ValueError(f"Expected an editor to return uint8 HxWx3, got {output.dtype} {list(output.shape)}.")
    if output.shape == before.shape:
        return output, ""
    size = f"{output.shape[0]}x{output.shape[1]}"
    outside = ~region
    best, inside, difference, how = output, np.ones_like(region), np.inf, ""
    if outside.mean() >= FEWEST_OUTSIDE:
        for candidate, covered, name in _candidates(before, output):
            where = outside & covered
            gap = float(np.abs(candidate.astype(np.int16) - before)[where].mean()) if where.any() else np.inf
            if gap < difference:
                best, inside, difference, how = candidate, covered, gap, name
    cut = bool((region & ~inside).any())
    if cut or difference > MAX_DIFFERENCE:
        found = (
            f"a mean difference of {difference:.1f} grey levels" if np.isfinite(difference) else "nothing to compare"
        )
        if cut:
            found = "a part of the region cut away and a good fit"
        raise ValueError(
            f"Expected an output of {before.shape[0]}x{before.shape[1]} or one that can be laid on it, got {size} with "
            f"{found} outside the region. An editor that needs another size pads its input and crops its output back."
        )
    return best, f"{how} from {size}"


def _candidates(before: Image, output: Image) -> Iterator[tuple[Image, Region, str]]:
    height, width = before.shape[:2]
    smaller = output.shape[0] * output.shape[1] < height * width
    method = cv2.INTER_CUBIC if smaller else cv2.INTER_AREA
    stretched = np.asarray(cv2.resize(output, (width, height), interpolation=method), np.uint8)
    yield stretched, np.ones((height, width), bool), "resized"
    own_height, own_width = output.shape[:2]
    if own_height > height or own_width > width:
        return
    for where, share in (("top left", 0), ("centre", 1), ("bottom right", 2)):
        top, left = (height - own_height) * share // 2, (width - own_width) * share // 2
        covered = np.zeros((height, width), bool)
        covered[top : top + own_height, left : left + own_width] = True
        canvas = before.copy()
        canvas[covered] = output.reshape(-1, 3)
        yield canvas, covered, f"placed at the {where}"
