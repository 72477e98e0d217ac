"""Scores of masks and images that are right, mergeable and fast. Undefined is None with a reason, never 0 or NaN."""

from forensegm.metrics.confusion import Counts, binary_counts, class_counts, confusion_counts
from forensegm.metrics.detection import DetectionMetrics, average_precision, best_threshold, roc_auc
from forensegm.metrics.groups import Interval, bootstrap_interval, column
from forensegm.metrics.histogram import ScoreHistogram
from forensegm.metrics.segmentation import SegmentationMetrics

__all__ = [
    "Counts",
    "DetectionMetrics",
    "Interval",
    "ScoreHistogram",
    "SegmentationMetrics",
    "average_precision",
    "best_threshold",
    "binary_counts",
    "bootstrap_interval",
    "class_counts",
    "column",
    "confusion_counts",
    "roc_auc",
]
