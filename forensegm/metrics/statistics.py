"""Statistics of image rows, for `bootstrap_interval`: each equals the score of the same name in metrics.json.

Pixel statistics need the rows of `SegmentationMetrics`, image statistics those of `DetectionMetrics`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from forensegm.metrics import detection, scores
from forensegm.metrics.confusion import Counts
from forensegm.metrics.groups import column
from forensegm.metrics.segmentation import FLAGGED_SHARE, class_ious

Rows = Sequence[dict[str, Any]]


def pooled(score: Callable[[Counts], float | None]) -> Callable[[Rows], float | None]:
    """Make a statistic of a score of the counts that are pooled over rows."""

    def statistic(rows: Rows) -> float | None:
        return score(Counts(*(int(count) for count in column(rows, "binary").sum(axis=0))))

    statistic.__doc__ = f"Pooled over pixels: {score.__doc__}"
    return statistic


iou_edited = pooled(scores.iou)
f1 = pooled(scores.f1)
precision = pooled(scores.precision)
recall = pooled(scores.recall)
accuracy = pooled(scores.accuracy)
mcc = pooled(scores.mcc)


def iou_authentic(rows: Rows) -> float | None:
    """IoU of the authentic pixels, pooled."""
    tn, fp, fn, tp = (int(count) for count in column(rows, "binary").sum(axis=0))
    return scores.iou(Counts(tp, fn, fp, tn))


def f1_mean(rows: Rows) -> float | None:
    """Mean F1 over the images that have one."""
    return mean_of_numbers(rows, "f1")


def iou_mean(rows: Rows) -> float | None:
    """Mean IoU over the images that have one."""
    return mean_of_numbers(rows, "iou")


def editors_miou(rows: Rows) -> float | None:
    """IoU of each editor in the truth, pooled over pixels, averaged over these editors."""
    return scores.mean_of_defined(class_ious(column(rows, "confusion").sum(axis=0))[1:])


def flagged_area_mean(rows: Rows) -> float | None:
    """Mean share of flagged pixels over authentic images."""
    shares = authentic_shares(rows)
    return float(shares.mean()) if shares.size else None


def flagged_over_5_percent(rows: Rows) -> float | None:
    """Share of the authentic images with more than 5 % of their pixels flagged."""
    shares = authentic_shares(rows)
    return float((shares > FLAGGED_SHARE).mean()) if shares.size else None


def image_auc(rows: Rows) -> float | None:
    """AUC of the image scores."""
    values, fake, _ = judged(rows)
    return detection.roc_auc(values, fake)


def image_ap(rows: Rows) -> float | None:
    """Average precision of the image scores."""
    values, fake, _ = judged(rows)
    return detection.average_precision(values, fake)


def image_accuracy(rows: Rows) -> float | None:
    """Share of the images judged right at the threshold."""
    return scores.accuracy(verdicts(rows))


def image_balanced_accuracy(rows: Rows) -> float | None:
    """Mean of the accuracies on fake and on authentic images at the threshold."""
    return scores.balanced_accuracy(verdicts(rows))


def image_f1(rows: Rows) -> float | None:
    """F1 of the verdicts, fake as the positive class."""
    return scores.f1(verdicts(rows))


def identity_top1(rows: Rows) -> float | None:
    """Share of the fake images whose dominant editor is named right."""
    return detection.identity_top1(detection.identity_pairs(rows))


def identity_macro_f1(rows: Rows) -> float | None:
    """F1 of each editor in the truth, averaged over these editors."""
    return detection.identity_macro_f1(detection.identity_pairs(rows))


def mean_of_numbers(rows: Rows, key: str) -> float | None:
    """Mean of a column over the rows where it is not None."""
    values = np.asarray(column(rows, key), dtype=np.float64)
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else None


def authentic_shares(rows: Rows) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Flagged share of each authentic image."""
    return np.asarray(column(rows, "flagged_share")[column(rows, "coverage") == "empty"], dtype=np.float64)


def judged(rows: Rows) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Score, truth and verdict of the images whose truth is known."""
    fake = np.asarray(column(rows, "fake"), dtype=np.float64)
    known = ~np.isnan(fake)
    return column(rows, "score")[known], fake[known] == 1, column(rows, "predicted_fake")[known].astype(bool)


def verdicts(rows: Rows) -> Counts:
    """Counts of judged-fake against fake images."""
    _, fake, flagged = judged(rows)
    tp = int((fake & flagged).sum())
    fp, fn = int(flagged.sum()) - tp, int(fake.sum()) - tp
    return Counts(fake.size - tp - fp - fn, fp, fn, tp)
