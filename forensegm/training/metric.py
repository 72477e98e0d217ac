"""The validation figure that chooses the kept checkpoint."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from forensegm.lookup import unknown_name
from forensegm.sample import LabelSpace

# Every figure of `forensegm.evaluation.evaluate` that ranks models, and whether more of it is better.
METRICS: dict[str, bool] = {
    "pixel.binary.iou_edited": True,
    "pixel.binary.iou_authentic": True,
    "pixel.binary.miou": True,
    "pixel.binary.f1": True,
    "pixel.binary.accuracy": True,
    "pixel.binary.mcc": True,
    "pixel.binary.auc": True,
    "pixel.binary.ap": True,
    "pixel.binary.per_image.f1_mean": True,
    "pixel.binary.per_image.iou_mean": True,
    "pixel.editors.miou": True,
    "image.auc": True,
    "image.ap": True,
    "image.accuracy": True,
    "image.balanced_accuracy": True,
    "image.f1": True,
    "editor_identity.top1": True,
    "editor_identity.macro_f1": True,
    "authentic.flagged_area_mean": False,
}
PER_CLASS = "pixel.editors.per_class."


def check_metric(name: str, labels: LabelSpace) -> None:
    """Raise ValueError unless `name` is one of `METRICS` or the IoU of one editor (pixel.editors.per_class.NAME)."""
    known = [*METRICS, *(PER_CLASS + editor for editor in labels.editors)]
    if name not in known:
        raise unknown_name(name, known, what="validation figure (train.metric)")


def metric_value(metrics: Mapping[str, Any], name: str) -> float | None:
    """Look up a dotted name in the nested dict of an evaluation; None where the figure is undefined."""
    value: Any = metrics
    for key in (
        name.split(".") if not name.startswith(PER_CLASS) else [*PER_CLASS[:-1].split("."), name[len(PER_CLASS) :]]
    ):
        value = value[key]
    return None if value is None or not math.isfinite(value) else float(value)


def is_better(name: str, value: float | None, best: float | None) -> bool:
    """Whether `value` beats `best`. Undefined never beats a number; while both are undefined the newer one is kept."""
    if value is None or best is None:
        return best is None
    return value > best if METRICS.get(name, True) else value < best


def tracked_figures(metrics: Mapping[str, Any], labels: LabelSpace) -> dict[str, float | None]:
    """Return every figure of `METRICS` and the IoU of every editor by its dotted name."""
    names = [*METRICS, *(PER_CLASS + editor for editor in labels.editors)]
    return {name: metric_value(metrics, name) for name in names}
