"""Choose the thresholds that travel with a checkpoint, on validation data and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np

from forensegm.evaluation.evaluate import Evaluation
from forensegm.metrics import best_threshold


def choose_thresholds(evaluation: Evaluation, *, source: str) -> dict[str, Any]:
    """Return pixel and image thresholds, the pooling they belong to, and where they come from.

    The pixel threshold maximizes the edited IoU pooled over pixels, the image threshold the balanced accuracy. Where
    validation holds one class only, the threshold is 0.5 and `source` says so.
    """
    collector = evaluation.collector
    pixel = collector.pixels.histogram.best_threshold(objective="iou")
    known = [row for row in collector.images.rows if row["fake"] is not None]
    image = best_threshold(
        np.array([row["score"] for row in known]),
        np.array([row["fake"] for row in known]),
        objective="balanced_accuracy",
    )
    undecided = [name for name, value in (("pixel", pixel), ("image", image)) if value is None]
    note = f"; {' and '.join(undecided)} threshold not chosen: one class only" if undecided else ""
    return {
        "pixel": 0.5 if pixel is None else float(pixel),
        "image": 0.5 if image is None else float(image),
        "pooling": collector.pooling,
        "source": f"{source} (n={len(evaluation.rows)}){note}",
    }
