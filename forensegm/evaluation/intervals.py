"""95 % bootstrap intervals of the headline scores, resampled by photograph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from forensegm.config import EvaluateConfig
from forensegm.metrics import bootstrap_interval
from forensegm.metrics import statistics as stats

Rows = Sequence[dict[str, Any]]
Statistic = Callable[[Rows], float | None]

HEADLINES: dict[str, Statistic] = {
    "pixel.binary.iou_edited": stats.iou_edited,
    "pixel.binary.f1": stats.f1,
    "pixel.editors.miou": stats.editors_miou,
    "image.auc": stats.image_auc,
    "image.accuracy": stats.image_accuracy,
    "editor_identity.top1": stats.identity_top1,
    "authentic.flagged_area_mean": stats.flagged_area_mean,
}


def intervals(rows: Rows, config: EvaluateConfig) -> dict[str, dict[str, Any]]:
    """Return the interval of each headline score by its key path in metrics.json.

    Groups (photographs) are resampled where there are at least five, single images otherwise; `unit` says which.
    """
    return {
        key: asdict(bootstrap_interval(rows, statistic, resamples=config.bootstrap, seed=config.seed))
        for key, statistic in HEADLINES.items()
    }
