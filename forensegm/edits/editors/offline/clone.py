"""Clones: the region is covered with other real pixels, from another photograph or from elsewhere in this one.

As a forger would, both try a number of places for the source and take the one whose rim fits best.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from forensegm.edits.editors.base import EditorOutput, EditTask, Region
from forensegm.edits.editors.offline.blend import as_grey, feather, is_grey, mix, rim
from forensegm.sample import Image

PLACES = 32  # source positions tried
PAD = 4  # seamlessClone needs known pixels all around its mask
Affine = NDArray[np.float64]  # 2x3: target (x, y, 1) to source (x, y)


def poisson_splice(task: EditTask) -> EditorOutput:
    """Poisson blending (Perez et al. 2003) of a patch of another photograph."""
    flip = bool(task.rng.random() < 0.5)
    donor = task.donor()
    donor = as_grey(donor) if is_grey(task.image) else donor
    donor = np.ascontiguousarray(donor[:, ::-1]) if flip else donor
    mixed = bool(task.rng.random() < 0.25)
    # The blend takes up a constant difference of colour, so only the spread along the rim counts.
    matrix = _best_place(task, donor, 0.0, 1.0, lambda difference: float(difference.std(axis=0).mean()), overlap=True)
    patch = _warp(donor, np.rint(matrix), cv2.INTER_NEAREST)
    border = ((PAD, PAD), (PAD, PAD))
    source, target = (np.pad(part, (*border, (0, 0)), mode="symmetric") for part in (patch, task.image))
    # A copy, since seamlessClone writes into its mask, and one pixel wider, since it fails on masks thinner than three.
    mask = cv2.dilate(np.pad(task.region.astype(np.uint8) * 255, border), np.ones((3, 3), np.uint8))
    left, top, width, height = cv2.boundingRect(mask)
    center = (left + width // 2, top + height // 2)
    blended = cv2.seamlessClone(source, target, mask, center, cv2.MIXED_CLONE if mixed else cv2.NORMAL_CLONE)
    shift = [int(value) for value in np.rint(matrix[:, 2])]
    cut = np.array(blended[PAD:-PAD, PAD:-PAD], np.uint8)
    return EditorOutput(cut, {"shift_xy": shift, "flip": flip, "mixed_gradients": mixed})


def copy_move(task: EditTask) -> EditorOutput:
    """Cover the region with a rotated and scaled part of the same image, feathered over one to three pixels."""
    angle = float(task.rng.uniform(-30.0, 30.0))
    scale = float(task.rng.uniform(0.8, 1.25))
    width = float(task.rng.uniform(1.0, 3.0))
    matrix = _best_place(task, task.image, angle, scale, lambda difference: float(np.abs(difference).mean()))
    moved = _warp(task.image, matrix, cv2.INTER_CUBIC)
    center = np.array([*_center(task.region), 1.0])
    shift = [round(float(value), 2) for value in matrix @ center - center[:2]]
    parameters = {"shift_xy": shift, "angle": round(angle, 3), "scale": round(scale, 4), "feather": round(width, 2)}
    return EditorOutput(mix(task.image, moved, feather(task.region, width)), parameters)


def _best_place(
    task: EditTask,
    source: Image,
    angle: float,
    scale: float,
    misfit: Callable[[NDArray[np.float32]], float],
    *,
    overlap: bool = False,
) -> Affine:
    """Draw `PLACES` positions of the source and return the affine map of the best one.

    Args:
        task: the edit; its rng is used.
        source: image that is copied from.
        angle: rotation in degrees.
        scale: size of the copy over that of its source.
        misfit: cost of the differences (n x 3) between source and image along the rim.
        overlap: whether the source may lie where the region itself lies.
    """
    height, width = task.region.shape
    cosine, sine = math.cos(math.radians(angle)) / scale, math.sin(math.radians(angle)) / scale
    turn = np.array([[cosine, -sine], [sine, cosine]])
    center = _center(task.region)
    edge, inside = rim(task.region), np.argwhere(task.region)[:, ::-1]
    inside = inside[:: max(1, len(inside) // 400)]
    best, lowest = np.zeros((2, 3)), math.inf
    for goal in task.rng.uniform((0.0, 0.0), (width - 1.0, height - 1.0), (PLACES, 2)):
        matrix = np.column_stack([turn, goal - turn @ center])
        at_edge, at_inside = _nearest(matrix, edge), _nearest(matrix, inside)
        outside = ((at_inside < 0) | (at_inside >= (width, height))).any(axis=1)
        at_edge, at_inside = (np.clip(points, 0, (width - 1, height - 1)) for points in (at_edge, at_inside))
        # Reflected borders and the region's own pixels make poor sources: 255 = worse than any misfit of the rim.
        penalty = 255.0 * outside.mean() + 255.0 * (not overlap) * task.region[at_inside[:, 1], at_inside[:, 0]].mean()
        difference = source[at_edge[:, 1], at_edge[:, 0]].astype(np.float32) - task.image[edge[:, 1], edge[:, 0]]
        cost = misfit(difference) + float(penalty)
        if cost < lowest:
            best, lowest = matrix, cost
    return best


def _center(region: Region) -> NDArray[np.float64]:
    """Mean (x, y) of the region's pixels."""
    return np.asarray(np.argwhere(region)[:, ::-1].mean(axis=0), np.float64)


def _nearest(matrix: Affine, points: NDArray[np.intp]) -> NDArray[np.intp]:
    """Source pixels (n x 2: x, y) of target pixels; they may lie outside the image."""
    return np.rint(points @ matrix[:, :2].T + matrix[:, 2]).astype(np.intp)


def _warp(source: Image, matrix: Affine, interpolation: int) -> Image:
    """Source pixels at every target position; beyond the border the source is mirrored."""
    height, width = source.shape[:2]
    flags = interpolation | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(source, matrix, (width, height), flags=flags, borderMode=cv2.BORDER_REFLECT_101))
