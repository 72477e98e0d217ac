"""Fills: the region is replaced by what its surroundings suggest. Their trace is missing texture and noise."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray
from skimage.restoration import inpaint_biharmonic

from forensegm.edits.editors.base import EditorOutput, EditTask, Region
from forensegm.edits.editors.offline.blend import feather, is_grey, mix, ring
from forensegm.sample import Image

# The direct biharmonic solver needs 0.1 s for 6,000 unknown pixels, and its time grows faster than their number.
MAX_UNKNOWNS = 6_000
RIM_SIGMA = 2.0  # in pixels of the coarse grid
MAD_TO_SIGMA = 1.4826  # of a normal distribution


def telea(task: EditTask) -> EditorOutput:
    """Fast-marching inpainting (Telea 2004), with a drawn radius."""
    return _inpaint(task, cv2.INPAINT_TELEA)


def navier_stokes(task: EditTask) -> EditorOutput:
    """Inpainting that continues the lines of equal brightness (Bertalmio et al. 2001), with a drawn radius."""
    return _inpaint(task, cv2.INPAINT_NS)


def _inpaint(task: EditTask, method: int) -> EditorOutput:
    radius = int(task.rng.integers(3, 8))
    filled = cv2.inpaint(task.image, task.region.astype(np.uint8), radius, method)
    return EditorOutput(np.asarray(filled, np.uint8), {"radius": radius})


def biharmonic(task: EditTask) -> EditorOutput:
    """Biharmonic fill (Damelin and Hoang 2018), with grain as strong as in the ring around the region.

    It is solved on a grid at least twice as coarse as the pixels, so that it continues shades rather than noise, and
    more coarsely where that would leave more than `MAX_UNKNOWNS` unknowns; it is smooth anyway.
    """
    step = max(2, math.ceil(math.sqrt(int(task.region.sum()) / MAX_UNKNOWNS)))
    filled = _solve(task.image, task.region, step)
    sigma = noise_level(task.image, ring(task.region, 8)) * float(task.rng.uniform(0.6, 1.0))
    height, width = task.region.shape
    color = 0.0 if is_grey(task.image) else 0.5  # of the brightness grain; sensors and codecs leave less in colour
    grain = task.rng.normal(0.0, 1.0, (height, width, 1)) + color * task.rng.normal(0.0, 1.0, (height, width, 3))
    noisy = mix(task.image, filled + sigma * grain / math.hypot(1.0, color), feather(task.region, 1.0))
    return EditorOutput(noisy, {"step": step, "grain_sigma": round(sigma, 3)})


def _solve(image: Image, region: Region, step: int) -> NDArray[np.float64]:
    """Float image 0..255 whose region is filled; the system is solved on a grid of `step` pixels."""
    height, width = region.shape
    size = (max(1, width // step), max(1, height // step))
    unknown = cv2.resize(region.astype(np.float32), size, interpolation=cv2.INTER_AREA) > 0
    if unknown.all():
        known = image if region.all() else image[~region]
        return np.broadcast_to(known.reshape(-1, 3).mean(axis=0), image.shape).astype(np.float64)
    coarse = _smooth_known(np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.float64), ~unknown)
    # At the image's border nothing holds the solution, which then runs off; mirrored, it stays level there.
    pads = [_reach(np.asarray(unknown.any(axis=1 - axis))) for axis in (0, 1)]
    padded, hole = np.pad(coarse, (*pads, (0, 0)), mode="symmetric"), np.pad(unknown, pads, mode="symmetric")
    solved = inpaint_biharmonic(padded, hole, channel_axis=-1)
    inner = tuple(slice(before, before + length) for (before, _), length in zip(pads, unknown.shape, strict=True))
    return np.asarray(cv2.resize(solved[inner], (width, height), interpolation=cv2.INTER_CUBIC), np.float64)


def _smooth_known(image: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Blur that looks at known pixels only: their slopes, which the solution continues, are then shade, not texture."""
    weight = known.astype(np.float64)
    total = cv2.GaussianBlur(weight, (0, 0), RIM_SIGMA)
    blurred = cv2.GaussianBlur(image * weight[..., None], (0, 0), RIM_SIGMA)
    return np.asarray(blurred / np.maximum(total, 1e-6)[..., None], np.float64)


def _reach(occupied: NDArray[np.bool_]) -> tuple[int, int]:
    """How far a region reaches in from either end of an axis that it touches, and two more; 0 where it does not."""
    free = np.flatnonzero(~occupied)
    first, last = (int(free[0]), int(free[-1])) if free.size else (len(occupied), -1)
    before = min(first + 2, len(occupied)) if occupied[0] else 0
    after = min(len(occupied) - 1 - last + 2, len(occupied)) if occupied[-1] else 0
    return before, after


def noise_level(image: Image, where: Region) -> float:
    """Standard deviation, in grey levels, of the finest detail: robust, from the diagonal second difference.

    The filter [1 -1; -1 1] / 2 keeps white noise at its level and drops gradients and straight edges.
    """
    grey = image.astype(np.float32).mean(axis=2)
    detail = cv2.filter2D(grey, -1, np.array([[1, -1], [-1, 1]], np.float32) / 2)
    values = detail[where]
    return float(MAD_TO_SIGMA * np.median(np.abs(values - np.median(values)))) if values.size else 0.0
