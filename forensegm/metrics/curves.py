"""Areas and thresholds from counts by score: the one implementation behind histograms and exact score lists.

Every function takes the counts of authentic (`negatives`) and edited (`positives`) items by ascending score. Items of
one entry are tied, and no order among them is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

CountArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Objective = Callable[[CountArray, CountArray, int, int], FloatArray]


def auc_of_counts(negatives: CountArray, positives: CountArray) -> float | None:
    """Area under the ROC curve: the chance that a positive scores higher than a negative, ties counting one half.

    None where there is one class only. A perfect separation gives exactly 1.
    """
    total_negatives, total_positives = int(negatives.sum()), int(positives.sum())
    if not total_negatives or not total_positives:
        return None
    lower_share = (np.cumsum(negatives) - negatives / 2) / total_negatives
    return float((positives * lower_share).sum() / total_positives)


def ap_of_counts(negatives: CountArray, positives: CountArray) -> float | None:
    """Average precision, the sum of precision times recall step over descending thresholds (as scikit-learn does).

    None where there is one class only. A perfect separation gives exactly 1.
    """
    total_positives = int(positives.sum())
    if not total_positives or not negatives.any():
        return None
    tp, fp = flagged_at_least(positives), flagged_at_least(negatives)
    return float((positives * (tp / np.maximum(tp + fp, 1))).sum() / total_positives)


def flagged_at_least(counts: CountArray) -> CountArray:
    """Items with the score of each entry or a higher one."""
    return np.cumsum(counts[::-1])[::-1]


def best_entry(negatives: CountArray, positives: CountArray, objective: str) -> int | None:
    """Index of the lowest score to flag so that the objective is largest; None where there is one class only.

    On ties the highest score wins: of equally good thresholds the one that flags fewest.
    """
    tp, fp = flagged_at_least(positives), flagged_at_least(negatives)
    if tp.size == 0 or not tp[0] or not fp[0]:
        return None
    values = OBJECTIVES[objective](tp, fp, int(tp[0]), int(fp[0]))
    values[(negatives == 0) & (positives == 0)] = -np.inf
    return int(values.size - 1 - np.argmax(values[::-1]))


def f1_values(tp: CountArray, fp: CountArray, total_positives: int, _: int) -> FloatArray:
    """F1 at each threshold."""
    return 2 * tp / (tp + fp + total_positives)


def iou_values(tp: CountArray, fp: CountArray, total_positives: int, _: int) -> FloatArray:
    """IoU of the positive class at each threshold."""
    return tp / (fp + total_positives)


def balanced_accuracy_values(tp: CountArray, fp: CountArray, total_positives: int, total_negatives: int) -> FloatArray:
    """Mean of recall and specificity at each threshold.

    Computed from one integer, so that equal thresholds tie exactly.
    """
    # Python integers (object arrays) where the product could pass 2^63.
    exact: Any = object if total_positives * total_negatives >= 1 << 62 else np.int64
    advantage = tp.astype(exact) * total_negatives - fp.astype(exact) * total_positives
    share: FloatArray = (advantage / (2 * total_positives * total_negatives)).astype(np.float64)
    return 0.5 + share


OBJECTIVES: Mapping[str, Objective] = {
    "f1": f1_values,
    "iou": iou_values,
    "balanced_accuracy": balanced_accuracy_values,
}
