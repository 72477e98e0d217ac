"""What an edit really changed, whether it counts as one, and why not. The thresholds are declared in `EditConfig`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from skimage.metrics import structural_similarity

from forensegm.config import EditConfig
from forensegm.edits.editors.base import Region
from forensegm.sample import Image

# A pixel counts as clearly changed from this many grey levels on: more than an autoencoder's round trip leaves on most.
CLEAR = 8.0
BLACK = 4.0  # grey levels: a region darker than this that was not dark before is a safety checker's black picture
# Share of the gradient energy outside the region that an output has left, below which the frame counts as blurred by a
# safety checker. A Gaussian of sigma 20 leaves 4 % in the median of twelve photographs, and more of smooth ones.
# Outside the region an editor has no order to smooth anything.
BLURRED = 0.2
LEAST_ENERGY = 1.0  # below it a frame was as good as flat before: nothing can be told
SSIM_WINDOW = 7
DECIMALS = 6


@dataclass(frozen=True, eq=False)
class Change:
    """How an image differs from the one before it.

    Attributes:
        changed: bool HxW, pixels of which any channel differs.
        share_inside: share of the region's pixels that changed, 0..1.
        share_outside: share of the other pixels that changed, 0..1; 0 where there are none.
        mean_inside: mean absolute change in grey levels over the region's pixels and channels.
        mean_outside: the same over the other pixels; 0 where there are none.
        ssim_inside: mean structural similarity of the luma in the region, -1..1; None for images below 7 pixels a side.
        ssim_outside: the same over the other pixels; None where there are none.
        agreement: overlap (IoU) of the clearly changed pixels and the region, 0..1.
    """

    changed: Region
    share_inside: float
    share_outside: float
    mean_inside: float
    mean_outside: float
    ssim_inside: float | None
    ssim_outside: float | None
    agreement: float

    def numbers(self) -> dict[str, float | None]:
        """What goes into a record, rounded."""
        names = ("mean_inside", "mean_outside", "ssim_inside", "ssim_outside", "agreement")
        return {name: _rounded(getattr(self, name)) for name in names}


def measure_change(before: Image, after: Image, region: Region) -> Change:
    """Compare two images of one size (uint8 RGB) inside and outside `region` (bool HxW, not empty)."""
    difference = np.abs(after.astype(np.int16) - before)
    mean, largest = difference.mean(axis=2), difference.max(axis=2)
    changed, clear = mean > 0, largest >= CLEAR
    outside = ~region
    union = (clear | region).sum()
    similarity = _similarity(before, after)
    return Change(
        changed,
        _mean(changed[region]),
        _mean(changed[outside]),
        _mean(mean[region]),
        _mean(mean[outside]),
        None if similarity is None else _mean(similarity[region]),
        None if similarity is None or not outside.any() else _mean(similarity[outside]),
        float((clear & region).sum() / union) if union else 0.0,
    )


def verdict(change: Change, before: Image, output: Image, region: Region, config: EditConfig) -> str:
    """Say why a turn is rejected: unchanged, black, blurred, outside or elsewhere; empty where it is accepted.

    Args:
        change: what `measure_change` says of `before` and the composed image.
        before: the turn's input.
        output: the editor's whole output, at the input's size.
        region: bool HxW, what was asked for.
        config: the declared thresholds.
    """
    if change.share_inside < config.min_share_changed or change.mean_inside < config.min_mean_change:
        return "unchanged"
    if output[region].mean() < BLACK <= before[region].mean():
        return "black"
    energy = _energy(before, ~region)
    if energy > LEAST_ENERGY and _energy(output, ~region) < BLURRED * energy:
        return "blurred"
    if change.mean_outside > config.max_outside:
        return "outside"
    if change.agreement < config.min_agreement:
        return "elsewhere"
    return ""


def _similarity(before: Image, after: Image) -> np.ndarray[Any, Any] | None:
    if min(before.shape[:2]) < SSIM_WINDOW:
        return None
    luma = [np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)) for image in (before, after)]
    if np.array_equal(luma[0], luma[1]):
        return np.ones(luma[0].shape)
    full = structural_similarity(  # type: ignore[no-untyped-call]
        luma[0], luma[1], win_size=SSIM_WINDOW, data_range=255, full=True
    )[1]
    return np.asarray(full)


def _energy(image: Image, where: Region) -> float:
    """Mean squared difference of pixels that are neighbours, both of them in `where`; 0 where there are none."""
    grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.float32)
    down, right = np.square(np.diff(grey, axis=0)), np.square(np.diff(grey, axis=1))
    return _mean(down[where[1:] & where[:-1]]) + _mean(right[where[:, 1:] & where[:, :-1]])


def _mean(values: np.ndarray[Any, Any]) -> float:
    return float(values.mean()) if values.size else 0.0


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)
