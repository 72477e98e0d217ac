"""The one confusion count: integer joint counts of truth and prediction, from which every score is derived."""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensegm.sample import AUTHENTIC, IGNORE, Mask

# cv2.calcHist counts in float32, which is exact up to 2^24: larger images are counted in strips of that many pixels.
STRIP = 1 << 24


class Counts(NamedTuple):
    """Counts of one class against the rest, as Python integers.

    Attributes:
        tn: in neither truth nor prediction.
        fp: predicted, but not in the truth.
        fn: in the truth, but not predicted.
        tp: in both.
    """

    tn: int
    fp: int
    fn: int
    tp: int


def as_class_map(values: ArrayLike, *, name: str) -> Mask:
    """Return `values` as a contiguous uint8 HxW map; integers and bools of any type are taken if 0..255.

    Raises:
        ValueError: not HxW, empty, not of integers, or a value outside 0..255.
    """
    array = np.asarray(values)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "uib":
        raise ValueError(f"Expected {name} to be HxW of class ids, got {array.dtype} {list(array.shape)}.")
    if array.dtype != np.uint8:
        low, high = int(array.min()), int(array.max())
        if low < 0 or high > IGNORE:
            raise ValueError(f"Expected {name} to hold ids of 0..{IGNORE}, got {low if low < 0 else high}.")
    return np.ascontiguousarray(array, dtype=np.uint8)


def confusion_counts(pred: ArrayLike, target: ArrayLike, num_classes: int) -> NDArray[np.int64]:
    """Count pixels by true and predicted class; pixels whose truth is 255 are left out.

    Args:
        pred: predicted class ids, HxW. What it holds where the truth is 255 does not matter.
        target: true class ids, HxW, 255 = ignore.
        num_classes: number of classes, the authentic one included.

    Returns:
        int64, num_classes x num_classes, rows = truth, columns = prediction.

    Raises:
        ValueError: different shapes, or an id that is not below `num_classes`.

    >>> confusion_counts([[0, 1, 1]], [[0, 1, 255]], 2).tolist()
    [[1, 0], [0, 1]]
    """
    pred, target = as_class_map(pred, name="the class map"), as_class_map(target, name="the target")
    check_same_shape(pred, target, name="the class map")
    counts = np.zeros((num_classes, num_classes), dtype=np.int64)
    flat_pred, flat_target = pred.reshape(-1), target.reshape(-1)
    for start in range(0, pred.size, STRIP):
        pair = [flat_target[start : start + STRIP], flat_pred[start : start + STRIP]]
        # Ids outside the ranges fall out of the histogram; 255 in the truth is the only one that may.
        counts += cv2.calcHist(pair, [0, 1], None, [num_classes] * 2, [0, num_classes] * 2).astype(np.int64)
    if counts.sum() != pred.size - np.count_nonzero(target == IGNORE):
        raise ValueError(unknown_id(pred, target, num_classes))
    return counts


def binary_counts(flagged: NDArray[np.bool_], target: Mask) -> Counts:
    """Count flagged against edited pixels (truth 1..254); pixels whose truth is 255 are left out.

    >>> binary_counts(np.array([[True, True, False]]), np.array([[3, 0, 255]], dtype=np.uint8))
    Counts(tn=0, fp=1, fn=0, tp=1)
    """
    edited = target != AUTHENTIC
    total = target.size
    if target.max() == IGNORE:
        valid = target != IGNORE
        flagged, edited = flagged & valid, edited & valid
        total = int(np.count_nonzero(valid))
    tp = int(np.count_nonzero(flagged & edited))
    fp, fn = int(np.count_nonzero(flagged)) - tp, int(np.count_nonzero(edited)) - tp
    return Counts(total - tp - fp - fn, fp, fn, tp)


def class_counts(confusion: NDArray[np.int64], class_id: int) -> Counts:
    """Counts of one class against the rest, from a confusion matrix (rows = truth, columns = prediction)."""
    tp = int(confusion[class_id, class_id])
    fn, fp = int(confusion[class_id].sum()) - tp, int(confusion[:, class_id].sum()) - tp
    return Counts(int(confusion.sum()) - tp - fn - fp, fp, fn, tp)


def check_same_shape(prediction: NDArray[Any], target: Mask, *, name: str) -> None:
    """Raise ValueError unless a prediction (HxW) has the shape of its target."""
    if prediction.shape != target.shape:
        raise ValueError(
            f"Expected {name} to have the target's shape {list(target.shape)}, got {list(prediction.shape)}. "
            "Score predictions at the size of their truth, with padding cut off."
        )


def unknown_id(pred: Mask, target: Mask, num_classes: int) -> str:
    """Say which id of a truth or of a prediction is not in the label space."""
    valid = target != IGNORE
    highest_target, highest_pred = int(target[valid].max()), int(pred[valid].max())
    name, highest = ("target", highest_target) if highest_target >= num_classes else ("class map", highest_pred)
    return f"Expected the {name} to hold ids of 0..{num_classes - 1}, got {highest}."
