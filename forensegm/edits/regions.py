"""Where an edit goes: proposals of hard masks, or None where nothing fitting was found. Those here need no model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.segmentation import slic

from forensegm.edits.editors.base import Region
from forensegm.edits.grounded import GROUNDED_SAM
from forensegm.edits.loading import NeedsModel
from forensegm.edits.view import Area, Found, Proposer, View
from forensegm.sample import Image

GRABCUT_SIDE = 128  # larger images are segmented at this size: four times faster than 256, and as good for a proposal
TRIES = 4


def superpixels(image: Image, area: Area, rng: np.random.Generator) -> Region | None:
    """Grow a region out of SLIC superpixels: from a random one, always by the neighbour of the most similar colour."""
    goal = _draw_pixels(image, area, rng)
    segments = slic(image, n_segments=int(rng.integers(30, 120)), compactness=float(rng.uniform(5, 20)), start_label=0)
    sizes = np.bincount(segments.ravel()).astype(float)
    colors = np.stack([np.bincount(segments.ravel(), image[..., c].ravel()) for c in range(3)], axis=1) / sizes[:, None]
    neighbours = _neighbours(segments)
    chosen = {int(rng.integers(len(sizes)))}
    while sum(sizes[one] for one in chosen) < goal:
        around = sorted({other for one in chosen for other in neighbours[one]} - chosen)
        if not around:
            break
        mean = np.average(colors[sorted(chosen)], axis=0, weights=sizes[sorted(chosen)])
        chosen.add(min(around, key=lambda one: float(np.abs(colors[one] - mean).sum())))
    return _fitting(_smooth(np.isin(segments, sorted(chosen))), area)


def grabcut(image: Image, area: Area, rng: np.random.Generator) -> Region | None:
    """Cut out with GrabCut (Rother et al. 2004) what stands in the middle of a random box; its largest part counts."""
    height, width = image.shape[:2]
    factor = min(1.0, GRABCUT_SIDE / max(height, width))
    columns, rows = round(width * factor), round(height * factor)
    if min(rows, columns) < 8:
        return None
    small = cv2.resize(image, (columns, rows), interpolation=cv2.INTER_AREA)
    side = math.sqrt(2.0 * _draw_pixels(image, area, rng)) * factor  # objects fill about half of their box
    stretch = math.exp(rng.uniform(-0.5, 0.5))
    box_width = int(np.clip(side * stretch, 4, columns - 2))
    box_height = int(np.clip(side / stretch, 4, rows - 2))
    left, top = int(rng.integers(columns - box_width + 1)), int(rng.integers(rows - box_height + 1))
    # Left to itself it calls whole boxes of texture background: the core is given, and far-off colours do not count.
    trimap = np.full((rows, columns), cv2.GC_BGD, np.uint8)
    trimap[top : top + box_height, left : left + box_width] = cv2.GC_PR_FGD
    center = (left + box_width // 2, top + box_height // 2)
    cv2.ellipse(trimap, center, (box_width // 4, box_height // 4), 0, 0, 360, cv2.GC_FGD, -1)
    near = (
        slice(max(0, top - box_height // 2), top + box_height + box_height // 2),
        slice(max(0, left - box_width // 2), left + box_width + box_width // 2),
    )
    cut = np.ascontiguousarray(trimap[near])
    models = np.zeros((2, 1, 65))  # of background and foreground; it fits them itself
    cv2.setRNGSeed(int(rng.integers(2**31)))  # its k-means start
    cv2.grabCut(np.ascontiguousarray(small[near]), cut, (0, 0, 1, 1), models[0], models[1], 3, cv2.GC_INIT_WITH_MASK)
    found = np.zeros((rows, columns), np.float32)
    found[near] = (cut == cv2.GC_FGD) | (cut == cv2.GC_PR_FGD)
    full = cv2.resize(found, (width, height), interpolation=cv2.INTER_LINEAR) > 0.5
    return _fitting(_smooth(full), area)


def shapes(image: Image, area: Area, rng: np.random.Generator) -> Region:
    """Draw an ellipse, a convex polygon or a blob around a random point, of exactly a drawn area; it always fits."""
    height, width = image.shape[:2]
    y, x = np.mgrid[:height, :width].astype(np.float64)
    dy, dx = y - rng.uniform(0.05, 0.95) * height, x - rng.uniform(0.05, 0.95) * width
    kind = str(rng.choice(["ellipse", "polygon", "blob"]))
    if kind == "polygon":
        gauge = _polygon_gauge(dy, dx, rng)
    else:
        tilt, stretch = rng.uniform(0, math.pi), math.exp(rng.uniform(0.0, 0.8))
        along, across = dx * math.cos(tilt) + dy * math.sin(tilt), dy * math.cos(tilt) - dx * math.sin(tilt)
        gauge = np.hypot(along / stretch, across)
        if kind == "blob":
            turns = np.arange(2, 6)[:, None, None]
            waves = np.cos(turns * np.arctan2(across, along) + rng.uniform(0, 2 * math.pi, (4, 1, 1)))
            gauge = gauge / (1.0 + (rng.uniform(-0.5, 0.5, (4, 1, 1)) / turns * waves).sum(axis=0))
    # The area is met exactly, also at the image's border: the region is the `goal` pixels of the lowest gauge.
    goal = _draw_pixels(image, area, rng)
    region = np.zeros(height * width, bool)
    region[np.argsort(gauge.ravel(), kind="stable")[:goal]] = True
    return region.reshape(height, width)


def known_objects(view: View) -> Found | None:
    """Take an annotated object of a fitting area that the border does not cut, grown by a few pixels.

    Annotations run through the object's rim; an edit that leaves the rim leaves a ghost.
    """
    fitting = []
    for one in view.objects:
        grown = np.asarray(ndimage.binary_dilation(one.region, iterations=grow_by(one.region)))
        if not one.border and _fitting(grown, view.area) is not None:
            fitting.append(Found(grown, one.name))
    return fitting[int(view.rng.integers(len(fitting)))] if fitting else None


def grow_by(region: Region) -> int:
    """Pixels by which an annotated region is grown: a twentieth of its size, at least 2."""
    return max(2, round(math.sqrt(float(region.sum())) / 20))


def _from_pixels(propose: Callable[[Image, Area, np.random.Generator], Region | None]) -> Proposer:
    """Make a proposer of a function that looks at pixels alone."""

    def proposer(view: View) -> Found | None:
        region = propose(view.image, view.area, view.rng)
        return None if region is None else Found(region)

    return proposer


OFFLINE: dict[str, Proposer] = {
    "superpixels": _from_pixels(superpixels),
    "grabcut": _from_pixels(grabcut),
    "shapes": _from_pixels(shapes),
}
ABOUT = {
    "superpixels": "Neighbouring SLIC superpixels of similar colour",
    "grabcut": "What stands in the middle of a random box, cut out by GrabCut",
    "shapes": "Ellipses, convex polygons and blobs of exactly a drawn area",
    "objects": "Annotated objects (COCO) of a fitting area that the border does not cut, grown by a few pixels",
    "grounded_sam": "What Grounding DINO finds for the planner's words, outlined by SAM",
}
REGIONS: dict[str, Proposer | NeedsModel[Proposer]] = {
    **OFFLINE,
    "objects": known_objects,
    "grounded_sam": GROUNDED_SAM,
}


def draw_region(view: View, proposers: Mapping[str, Proposer] | None = None) -> tuple[Found, str]:
    """Draw a region with a randomly chosen proposer; where none finds a fitting one, `shapes` does.

    Args:
        view: the image, and 0 < smallest <= largest < 1 as the area to keep to.
        proposers: what to choose from; None = those that need no model.

    Returns:
        bool HxW with at least one pixel set and an area within `view.area`, to whole pixels; and the proposer's name.
    """
    table = OFFLINE if proposers is None else proposers
    for _ in range(TRIES):
        name = str(view.rng.choice(sorted(table)))
        found = table[name](view)
        if found is not None and _fitting(found.region, view.area) is not None:
            return found, name
    return Found(shapes(view.image, view.area, view.rng)), "shapes"


def pixel_limits(hw: tuple[int, int], area: Area) -> tuple[int, int]:
    """Smallest and largest number of pixels that `area` allows in an image of this size; at least one."""
    pixels = hw[0] * hw[1]
    smallest = max(1, math.ceil(area[0] * pixels))
    return smallest, max(smallest, math.floor(area[1] * pixels))


def _draw_pixels(image: Image, area: Area, rng: np.random.Generator) -> int:
    """Number of pixels to aim at; uniform in its logarithm, since small edits are as common as large ones."""
    smallest, largest = pixel_limits(image.shape[:2], area)
    return int(np.clip(round(math.exp(rng.uniform(math.log(smallest), math.log(largest)))), smallest, largest))


def _fitting(region: Region, area: Area) -> Region | None:
    smallest, largest = pixel_limits(region.shape, area)
    return region if smallest <= int(region.sum()) <= largest else None


def _smooth(region: Region) -> Region:
    """Largest connected part, holes filled, corners and threads rounded off, as a person would draw it."""
    sigma = min(region.shape) / 80.0
    rounded = cv2.GaussianBlur(region.astype(np.float32), (0, 0), sigma) > 0.5
    labels, count = ndimage.label(rounded)
    if count == 0:
        return np.zeros_like(region)
    largest = int(np.argmax(np.bincount(labels.ravel())[1:])) + 1
    return np.asarray(ndimage.binary_fill_holes(labels == largest), dtype=bool)


def _neighbours(segments: NDArray[np.intp]) -> list[set[int]]:
    """For each segment, the segments that share an edge with it."""
    neighbours: list[set[int]] = [set() for _ in range(int(segments.max()) + 1)]
    for one, other in ((segments[:, :-1], segments[:, 1:]), (segments[:-1], segments[1:])):
        differs = one != other
        for first, second in set(zip(one[differs].tolist(), other[differs].tolist(), strict=True)):
            neighbours[first].add(second)
            neighbours[second].add(first)
    return neighbours


def _polygon_gauge(dy: NDArray[np.float64], dx: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Gauge function of a convex polygon of 4 to 8 sides: the largest of the scaled distances to its sides."""
    sides = int(rng.integers(4, 9))
    angles = (np.arange(sides) + rng.uniform(-0.3, 0.3, sides)) * 2 * math.pi / sides + rng.uniform(0, 2 * math.pi)
    distances = rng.uniform(0.6, 1.4, sides)
    sides_gauge = [(dx * math.cos(a) + dy * math.sin(a)) / d for a, d in zip(angles, distances, strict=True)]
    return np.asarray(np.max(np.stack(sides_gauge), axis=0), np.float64)
