"""Gather the scores of one pass: predictions go in, the keys of metrics.json come out."""

from __future__ import annotations

from typing import Any

import numpy as np

from forensegm.inference import Prediction
from forensegm.metrics import DetectionMetrics, SegmentationMetrics, roc_auc
from forensegm.pooling import pool_all
from forensegm.sample import LabelSpace, Sample, image_label


class Collector:
    """Streaming scores of one pass over a data set, pixel and image level, with one row per image.

    Args:
        labels: the label space of predictions and truth.
        pixel_threshold: edited-probability at and above which a pixel counts as edited.
        image_threshold: pooled score at and above which an image counts as fake.
        pooling: name of the pooling behind the image score.
    """

    def __init__(self, labels: LabelSpace, *, pixel_threshold: float, image_threshold: float, pooling: str) -> None:
        """Start without images."""
        self.labels = labels
        self.pooling = pooling
        self.pixels = SegmentationMetrics(labels, threshold=pixel_threshold)
        self.images = DetectionMetrics(labels, threshold=image_threshold)
        self.pooled: list[dict[str, float]] = []

    def update(self, prediction: Prediction, sample: Sample) -> None:
        """Add one image: its prediction and its sample (of equal height and width)."""
        self.pixels.update(prediction.edited_prob, prediction.class_map, sample.mask, id=sample.id, group=sample.group)
        truth, pooled = image_label(sample.mask), pool_all(prediction.edited_prob)
        self.images.update(
            pooled[self.pooling],
            truth.fake,
            editor=prediction.editor,
            target_editor=None if truth.dominant is None else self.labels.name_of(truth.dominant),
            editor_scores=prediction.editor_scores,
            id=sample.id,
            group=sample.group,
        )
        self.pooled.append(pooled)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per image, pixel and image figures together: what intervals and comparisons are made from."""
        return [{**pixel, **image} for pixel, image in zip(self.pixels.rows, self.images.rows, strict=True)]

    def compute(self) -> dict[str, Any]:
        """Return the keys pixel, image, editor_identity, authentic and undefined of metrics.json."""
        pixels, images = self.pixels.compute(), self.images.compute()
        undefined = {
            f"pixel.{key}" if not key.startswith("authentic") else key: reason
            for key, reason in pixels["undefined"].items()
        }
        return {
            "pixel": {"binary": pixels["binary"], "editors": pixels["editors"]},
            "image": {**images["image"], "pooling": self.pooling, "auc_by_pooling": self.auc_by_pooling()},
            "editor_identity": images["editor_identity"],
            "authentic": pixels["authentic"],
            "undefined": {**undefined, **images["undefined"]},
        }

    def auc_by_pooling(self) -> dict[str, float | None]:
        """Image AUC of every pooling side by side, since no paper fixes one."""
        known = [
            (pooled, row["fake"])
            for pooled, row in zip(self.pooled, self.images.rows, strict=True)
            if row["fake"] is not None
        ]
        if not known:
            return {}
        truth = np.array([fake for _, fake in known])
        return {method: roc_auc(np.array([pooled[method] for pooled, _ in known]), truth) for method in known[0][0]}
