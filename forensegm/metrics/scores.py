"""Scores from integer counts. A score whose class does not occur is None: undefined, never 0 and never NaN.

One rule for all: IoU, F1 and recall ask how well something was found, so they are undefined where the truth holds
nothing to find. An authentic image therefore has no F1, however well or badly it was handled; its false alarms have a
figure of their own. scikit-learn and torchmetrics return 0 there once anything is flagged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from forensegm.metrics.confusion import Counts


def precision(counts: Counts) -> float | None:
    """tp / (tp + fp); None where nothing was predicted."""
    return ratio(counts.tp, counts.tp + counts.fp)


def recall(counts: Counts) -> float | None:
    """tp / (tp + fn); None where the truth holds nothing to find."""
    return ratio(counts.tp, counts.tp + counts.fn)


def specificity(counts: Counts) -> float | None:
    """tn / (tn + fp); None where the truth holds nothing else."""
    return ratio(counts.tn, counts.tn + counts.fp)


def f1(counts: Counts, *, zero_division: float | None = None) -> float | None:
    """2 tp / (2 tp + fp + fn); None where the truth holds nothing to find.

    With `zero_division`, truth without positives is scored as well, as scikit-learn does: 0 where anything was
    predicted, `zero_division` where nothing was.
    """
    return overlap(2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn, counts, zero_division)


def iou(counts: Counts, *, zero_division: float | None = None) -> float | None:
    """tp / (tp + fp + fn); None where the truth holds nothing to find. For `zero_division` see `f1`."""
    return overlap(counts.tp, counts.tp + counts.fp + counts.fn, counts, zero_division)


def accuracy(counts: Counts) -> float | None:
    """(tp + tn) / n; None where nothing was counted."""
    return ratio(counts.tp + counts.tn, sum(counts))


def balanced_accuracy(counts: Counts) -> float | None:
    """Mean of recall and specificity; None unless the truth holds both classes."""
    return mean_of_all([recall(counts), specificity(counts)])


def mcc(counts: Counts) -> float | None:
    """Matthews correlation coefficient, -1..1; None where truth or prediction holds one class only."""
    tn, fp, fn, tp = counts
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    if product == 0:
        return None
    if fp == fn == 0:
        return 1.0  # the square root below may round
    return (tp * tn - fp * fn) / math.sqrt(product)


def ratio(part: int, whole: int) -> float | None:
    """part / whole; None where `whole` is 0."""
    return part / whole if whole else None


def overlap(part: int, whole: int, counts: Counts, zero_division: float | None) -> float | None:
    """part / whole by the rule of `f1`."""
    if zero_division is None:
        return ratio(part, whole) if counts.tp + counts.fn else None
    return part / whole if whole else zero_division


def mean_of_defined(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are not None, the same to the bit in any order; None where there is none."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def mean_of_all(values: Iterable[float | None]) -> float | None:
    """Mean; None as soon as one value is None (a mean of two named classes needs both) or there is none."""
    values = list(values)
    return None if None in values else mean_of_defined(values)
