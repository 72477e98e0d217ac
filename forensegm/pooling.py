"""From maps to image level: one real/fake score per image, and which editor made it.

A pooling takes the edited-probability map (float32 HxW, 0..1) and the mask of its valid pixels (bool HxW, or None where
all are), and returns a score of 0..1. Its threshold is chosen on validation data, apart from the pixel threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensegm.lookup import lookup
from forensegm.sample import AUTHENTIC, IGNORE, LabelSpace

ProbMap = NDArray[np.float32]
Valid = NDArray[np.bool_]
Pooling = Callable[..., float]

ROUNDING = 1e-6  # how far outside 0..1 the rounding of a float32 softmax or blend may put a probability


def any_pixel(edited_prob: ProbMap, valid: Valid | None, *, threshold: float = 0.5) -> float:
    """1 if any pixel is at least `threshold`, else 0: one hot pixel decides (as some papers do)."""
    return float(values_of(edited_prob, valid).max() >= np.float32(threshold))


def area(edited_prob: ProbMap, valid: Valid | None, *, threshold: float = 0.5) -> float:
    """Share of the pixels that are at least `threshold`."""
    values = values_of(edited_prob, valid)
    return int(np.count_nonzero(values >= np.float32(threshold))) / values.size


def mean(edited_prob: ProbMap, valid: Valid | None) -> float:
    """Mean probability."""
    return float(values_of(edited_prob, valid).mean(dtype=np.float64))


def highest(edited_prob: ProbMap, valid: Valid | None) -> float:
    """Highest probability: one hot pixel decides."""
    return float(values_of(edited_prob, valid).max())


def topk_mean(edited_prob: ProbMap, valid: Valid | None, *, share: float = 0.01, at_least: int = 4) -> float:
    """Mean of the highest 1 % of the pixels (`share`), and of no fewer than 4 (`at_least`): a small edit suffices."""
    values = values_of(edited_prob, valid)
    if not 0 < share <= 1 or at_least < 1:
        raise ValueError(f"Expected a share of 0..1 and at_least >= 1, got {share} and {at_least}.")
    count = min(values.size, max(math.ceil(share * values.size), at_least))
    return float(np.partition(values, values.size - count)[values.size - count :].mean(dtype=np.float64))


def logsumexp(edited_prob: ProbMap, valid: Valid | None, *, sharpness: float = 10.0) -> float:
    """Smooth maximum log(mean(exp(r p))) / r with r = 10 (`sharpness`): between mean and highest.

    Pinheiro and Collobert, "From image-level to pixel-level labeling with convolutional networks", CVPR 2015, eq. 6.
    """
    if sharpness <= 0:
        raise ValueError(f"Expected a sharpness above 0, got {sharpness}.")
    values = values_of(edited_prob, valid)
    top = values.max()
    shifted = np.exp((values - top) * np.float32(sharpness)).mean(dtype=np.float64)
    return float(np.clip(float(top) + math.log(shifted) / sharpness, 0.0, 1.0))


def largest_component(edited_prob: ProbMap, valid: Valid | None, *, threshold: float = 0.5) -> float:
    """Share of the image that the largest 8-connected region of pixels at or above `threshold` covers."""
    flagged = edited_prob >= np.float32(threshold)
    total = flagged.size
    if valid is not None:
        flagged, total = flagged & valid, int(np.count_nonzero(valid))
    count, _, stats, _ = cv2.connectedComponentsWithStats(flagged.view(np.uint8), connectivity=8)
    return int(stats[1:, cv2.CC_STAT_AREA].max()) / total if count > 1 else 0.0


POOLINGS: Mapping[str, Pooling] = {
    "any": any_pixel,
    "area": area,
    "mean": mean,
    "max": highest,
    "topk_mean": topk_mean,
    "logsumexp": logsumexp,
    "largest_component": largest_component,
}


def pool_mask(
    edited_prob: ArrayLike,
    method: str | Pooling = "topk_mean",
    *,
    valid: ArrayLike | None = None,
    **params: Any,
) -> float:
    """Pool an edited-probability map into the image's real/fake score, 0..1; the larger, the more likely fake.

    Args:
        edited_prob: probability 0..1 that a pixel is edited, HxW.
        method: name in `POOLINGS`, or a function of your own with the same arguments.
        valid: True where a pixel counts, HxW; None = everywhere. Padding and ignored pixels are to be False, and may
            hold anything.
        **params: options of the method, for example threshold=0.3 for "area".

    Raises:
        ValueError: an unknown method, sizes that differ, no valid pixel, or a valid probability outside 0..1.

    >>> pool_mask([[0.0, 0.0], [0.5, 1.0]], "area", threshold=0.5)
    0.5
    """
    pooling = lookup(POOLINGS, method, what="pooling")
    return float(pooling(*checked(edited_prob, valid), **params))


def pool_all(edited_prob: ArrayLike, *, valid: ArrayLike | None = None) -> dict[str, float]:
    """Score of every method of `POOLINGS` with its default options; arguments and errors as in `pool_mask`."""
    prob, mask = checked(edited_prob, valid)
    return {name: float(pooling(prob, mask)) for name, pooling in POOLINGS.items()}


def editor_scores(
    class_probs: ArrayLike,
    labels: LabelSpace,
    *,
    flagged: ArrayLike | None = None,
    valid: ArrayLike | None = None,
) -> dict[str, float]:
    """Pool class probabilities into one score per editor; the scores sum to 1.

    An editor's score is its probability summed over the flagged pixels, as a share of that of all editors. Where no
    pixel is flagged, all valid pixels are summed: their editor probabilities are small but still say which editor is
    the least unlikely, which is what a forced choice asks. All alike where every editor's probability is exactly 0.

    Args:
        class_probs: probability of each class, (K+1)xHxW.
        labels: the label space; its editors are classes 1..K.
        flagged: True where a pixel is judged edited, HxW; None = none is.
        valid: True where a pixel counts, HxW; None = everywhere.

    Raises:
        ValueError: a number of classes other than the label space's, sizes that differ, or no probabilities.
    """
    probs = np.asarray(class_probs)
    if probs.ndim != 3 or len(probs) != labels.num_classes:
        raise ValueError(f"Expected class_probs to be {labels.num_classes}xHxW, got {list(probs.shape)}.")
    counted = np.ones(probs.shape[1:], dtype=bool) if valid is None else as_valid(valid, probs.shape[1:])
    chosen = np.zeros_like(counted) if flagged is None else as_valid(flagged, probs.shape[1:]) & counted
    if not chosen.any():
        chosen = counted
    masses = [float(channel[chosen].sum(dtype=np.float64)) for channel in probs[1:]]
    total = math.fsum(masses)
    if not math.isfinite(total) or min(masses) < -ROUNDING:
        raise ValueError(f"Expected class probabilities of 0..1, got a sum of {total} over {int(chosen.sum())} pixels.")
    if total <= 0:
        return dict.fromkeys(labels.editors, 1 / len(labels.editors))
    return {name: mass / total for name, mass in zip(labels.editors, masses, strict=True)}


def dominant_editor(
    class_map: ArrayLike, labels: LabelSpace, *, scores: Mapping[str, float] | None = None
) -> str | None:
    """Name the editor with most pixels in a class map (uint8 HxW; 255 is left out); the lower id on a tie.

    Where no pixel is edited there is none: None, or, with `scores` (of `editor_scores`), the editor of the highest
    score. Identity scores on truly fake images ask for that forced choice; a verdict shown to a user does not.

    Raises:
        ValueError: an id outside the label space.

    >>> dominant_editor([[0, 2, 2, 1]], LabelSpace(("telea", "copy_move")))
    'copy_move'
    """
    ids = np.asarray(class_map).reshape(-1)
    if ids.dtype.kind not in "uib":
        raise ValueError(f"Expected a class map of integer ids, got {ids.dtype}.")
    ids = ids[ids != IGNORE]
    if ids.size and not 0 <= ids.min() <= ids.max() < labels.num_classes:
        wrong = ids.min() if ids.min() < 0 else ids.max()
        raise ValueError(f"Expected a class map with ids of 0..{labels.num_classes - 1}, got {int(wrong)}.")
    areas = np.bincount(ids, minlength=labels.num_classes)
    areas[AUTHENTIC] = 0
    if areas.any():
        return labels.name_of(int(np.argmax(areas)))
    if not scores:
        return None
    return max(sorted(scores, key=labels.id_of), key=lambda name: scores[name])


def values_of(edited_prob: ProbMap, valid: Valid | None) -> ProbMap:
    """Probabilities of the valid pixels, flat."""
    return edited_prob.reshape(-1) if valid is None else edited_prob[valid]


def as_valid(valid: ArrayLike, hw: tuple[int, ...]) -> Valid:
    """Return a mask as bools; raises ValueError unless its height and width are `hw`."""
    mask = np.asarray(valid)
    if mask.shape != tuple(hw):
        raise ValueError(f"Expected the mask to have the map's size {list(hw)}, got {list(mask.shape)}.")
    return mask.astype(bool)


def checked(edited_prob: ArrayLike, valid: ArrayLike | None) -> tuple[ProbMap, Valid | None]:
    """Return map and mask as arrays, with every valid probability in 0..1."""
    prob = np.ascontiguousarray(edited_prob, dtype=np.float32)
    if prob.ndim != 2:
        raise ValueError(f"Expected an edited-probability map of HxW, got {list(prob.shape)}.")
    mask = None if valid is None else as_valid(valid, prob.shape)
    values = values_of(prob, mask)
    if values.size == 0:
        raise ValueError("Expected at least one valid pixel, got none: an image without one has no score.")
    low, high = values.min(), values.max()
    if not (low >= -ROUNDING and high <= 1 + ROUNDING):
        raise ValueError(f"Expected edited-probabilities of 0..1, got {low if not low >= -ROUNDING else high}.")
    return np.clip(prob, np.float32(0), np.float32(1)) if low < 0 or high > 1 else prob, mask
