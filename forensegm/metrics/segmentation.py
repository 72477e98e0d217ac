"""Pixel scores of edited-probability maps and class maps: streaming and mergeable; of an image only one row is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensegm.metrics import reasons, scores
from forensegm.metrics.confusion import (
    Counts,
    as_class_map,
    binary_counts,
    check_same_shape,
    class_counts,
    confusion_counts,
)
from forensegm.metrics.histogram import ScoreHistogram
from forensegm.metrics.reasons import split_reasons
from forensegm.sample import LabelSpace, Mask

# An authentic image counts as visibly misjudged from this share of flagged pixels on.
FLAGGED_SHARE = 0.05

Row = dict[str, Any]


class SegmentationMetrics:
    """Pixel scores of one pass over a data set.

    In the binary scores, a pixel counts as edited where its probability is at least `threshold` (compared in float32).
    The class map is judged as it is. Two reductions, named: pooled over the pixels of all images, and (`per_image`) the
    mean over the images that hold an edited pixel. Authentic images have no F1 or IoU; they have figures of their own.

    Args:
        labels: the label space of predictions and truth.
        threshold: edited-probability at and above which a pixel counts as edited.
        zero_division: None, or the F1 and IoU of an authentic image without a flagged pixel (one with a flagged pixel
            then scores 0); authentic images then enter the means over images.

    Attributes:
        confusion: int64 KxK, rows = truth, columns = class map.
        histogram: joint histogram of edited-probability and truth, with a bin edge at the threshold.
        rows: one dict of plain JSON types per image, in the order of the updates: id, group, confusion (KxK list),
            binary ([tn, fp, fn, tp]), coverage ("empty", "partial", "full" or None), editors_present (ids),
            edited_share and flagged_share (of the valid pixels; None without any), f1 and iou (None where undefined).

    Raises:
        ValueError: a threshold outside 0..1.
    """

    def __init__(self, labels: LabelSpace, *, threshold: float = 0.5, zero_division: float | None = None) -> None:
        """Start without images."""
        self.labels = labels
        self.threshold = float(threshold)
        self.zero_division = zero_division
        self.histogram = ScoreHistogram(thresholds=[self.threshold])
        self.confusion: NDArray[np.int64] = np.zeros((labels.num_classes, labels.num_classes), dtype=np.int64)
        self.rows: list[Row] = []

    def update(self, edited_prob: ArrayLike, class_map: ArrayLike, target: ArrayLike, *, id: str, group: str) -> None:
        """Add one image. Anything that np.asarray takes will do.

        Args:
            edited_prob: probability 0..1 that a pixel is edited, float32 HxW.
            class_map: predicted class ids, uint8 HxW.
            target: true class ids, uint8 HxW, 255 = ignore.
            id: name of the image, unique in the data set.
            group: the photograph it comes from; bootstraps never cut a group.

        Raises:
            ValueError: sizes that differ, ids outside the label space, or a probability that is not in 0..1, where the
                truth is known. The message names the image, and nothing of it is counted.
        """
        try:
            prob = np.asarray(edited_prob, dtype=np.float32)
            truth = as_class_map(target, name="the target")
            check_same_shape(prob, truth, name="edited_prob")
            confusion = confusion_counts(class_map, truth, self.labels.num_classes)
            counts = self.flagged_counts(prob, truth)
            self.histogram.update(prob, truth)
        except ValueError as error:
            raise ValueError(f"Image '{id}': {error}") from error
        self.confusion += confusion
        self.rows.append({"id": id, "group": group, **self.image_row(confusion, counts)})

    def flagged_counts(self, prob: NDArray[np.float32], truth: Mask) -> Counts:
        """Counts at the threshold; ignored pixels may hold anything, not-a-number too."""
        with np.errstate(invalid="ignore"):
            return binary_counts(prob >= np.float32(self.threshold), truth)

    def image_row(self, confusion: NDArray[np.int64], counts: Counts) -> Row:
        """Everything of a row but its names; the truth's label is read off the counts, cheaper than off the mask."""
        areas = confusion.sum(axis=1)
        valid, edited = sum(counts), counts.fn + counts.tp
        coverage = None if not valid else "empty" if not edited else "full" if edited == valid else "partial"
        known = {"zero_division": self.zero_division if valid else None}
        return {
            "confusion": confusion.tolist(),
            "binary": list(counts),
            "coverage": coverage,
            "editors_present": [int(class_id) for class_id in np.flatnonzero(areas[1:]) + 1],
            "edited_share": scores.ratio(edited, valid),
            "flagged_share": scores.ratio(counts.fp + counts.tp, valid),
            "f1": scores.f1(counts, **known),
            "iou": scores.iou(counts, **known),
        }

    def merge(self, other: SegmentationMetrics) -> None:
        """Add the images of another instance: only integers are summed, so every score is the same to the bit.

        Raises:
            ValueError: the other one has another label space, threshold or zero_division.
        """
        mine, theirs = ((m.labels, m.threshold, m.zero_division) for m in (self, other))
        if mine != theirs:
            raise ValueError(f"Expected metrics of the same labels and threshold, got {mine} and {theirs}.")
        self.histogram.merge(other.histogram)
        self.confusion += other.confusion
        self.rows.extend(other.rows)

    def compute(self) -> dict[str, Any]:
        """Return every score as a nested dict of plain numbers.

        Keys: binary (iou_edited, iou_authentic, miou, f1, precision, recall, accuracy, mcc, auc, ap: pooled; threshold;
        counts; per_image with f1_mean, iou_mean, n), editors (miou: the mean over the n editors in the truth;
        miou_with_authentic: the same with class 0; per_class by name), authentic (flagged_area_mean,
        flagged_over_5_percent: share of the n authentic images), and undefined: reason by path of each None.
        """
        undefined: dict[str, str] = {}
        return {
            "binary": self.binary(undefined),
            "editors": self.editors(undefined),
            "authentic": self.authentic(undefined),
            "undefined": undefined,
        }

    def binary(self, undefined: dict[str, str]) -> dict[str, Any]:
        """Scores of edited against authentic pixels."""
        counts = pooled_counts(self.rows)
        swapped = Counts(counts.tp, counts.fn, counts.fp, counts.tn)
        no_edited = reasons.NO_EDITED if sum(counts) else reasons.NO_PIXEL
        no_authentic = reasons.NO_AUTHENTIC if sum(counts) else reasons.NO_PIXEL
        one_class = reasons.ONE_CLASS if sum(counts) else reasons.NO_PIXEL
        edited, authentic = scores.iou(counts), scores.iou(swapped)
        pooled = {
            "iou_edited": (edited, no_edited),
            "iou_authentic": (authentic, no_authentic),
            "miou": (scores.mean_of_all([edited, authentic]), one_class),
            "f1": (scores.f1(counts), no_edited),
            "precision": (scores.precision(counts), reasons.NO_FLAGGED),
            "recall": (scores.recall(counts), no_edited),
            "accuracy": (scores.accuracy(counts), reasons.NO_PIXEL),
            "mcc": (scores.mcc(counts), reasons.CONSTANT),
            "auc": (self.histogram.auc(), one_class),
            "ap": (self.histogram.average_precision(), one_class),
        }
        return {
            **split_reasons("binary", pooled, undefined),
            "threshold": self.threshold,
            "counts": counts._asdict(),
            "per_image": self.per_image(undefined),
        }

    def per_image(self, undefined: dict[str, str]) -> dict[str, Any]:
        """Means over images, and over how many."""
        means = {
            f"{name}_mean": (scores.mean_of_defined(row[name] for row in self.rows), reasons.NO_EDITED_IMAGE)
            for name in ("f1", "iou")
        }
        n = sum(row["f1"] is not None for row in self.rows)
        return {**split_reasons("binary.per_image", means, undefined), "n": n}

    def editors(self, undefined: dict[str, str]) -> dict[str, Any]:
        """IoU of each editor's pixels in the class map."""
        ious = class_ious(self.confusion)
        per_class = {name: (ious[index], reasons.NO_CLASS) for index, name in enumerate(self.labels.names) if index}
        means = {
            "miou": (scores.mean_of_defined(ious[1:]), reasons.NO_EDITOR),
            "miou_with_authentic": (scores.mean_of_defined(ious), reasons.NO_PIXEL),
        }
        return {
            **split_reasons("editors", means, undefined),
            "n": sum(value is not None for value in ious[1:]),
            "per_class": split_reasons("editors.per_class", per_class, undefined),
        }

    def authentic(self, undefined: dict[str, str]) -> dict[str, Any]:
        """False alarms on the images whose truth holds no edited pixel."""
        shares = [row["flagged_share"] for row in self.rows if row["coverage"] == "empty"]
        over = scores.ratio(sum(share > FLAGGED_SHARE for share in shares), len(shares))
        figures = {
            "flagged_area_mean": (scores.mean_of_defined(shares), reasons.NO_AUTHENTIC_IMAGE),
            "flagged_over_5_percent": (over, reasons.NO_AUTHENTIC_IMAGE),
        }
        return {**split_reasons("authentic", figures, undefined), "n": len(shares)}


def pooled_counts(rows: list[Row]) -> Counts:
    """Counts at the threshold, summed over images."""
    return Counts(*(sum(row["binary"][field] for row in rows) for field in range(len(Counts._fields))))


def class_ious(confusion: NDArray[np.int64]) -> list[float | None]:
    """IoU of each class; None for a class that the truth does not hold."""
    return [scores.iou(class_counts(confusion, class_id)) for class_id in range(len(confusion))]
