"""A small metrics.json and examples, as an evaluation makes them."""

import copy
from typing import Any

import numpy as np
import pytest

EDITORS = ("telea", "copy_move", "b<i>")


def scores(iou: float | None, *, flagged: float) -> dict[str, Any]:
    return {
        "pixel": {
            "binary": {
                "iou_edited": iou,
                "f1": 0.5,
                "auc": None,
                "per_image": {"f1_mean": 0.4, "iou_mean": 0.3, "n": 7},
            },
            "editors": {"miou": 0.2, "per_class": {"telea": 0.3, "copy_move": 0.1, "b<i>": None}},
        },
        "image": {"auc": 0.9, "ap": 0.8, "accuracy": 0.7, "threshold": 0.6, "pooling": "topk_mean"},
        "editor_identity": {"top1": None, "macro_f1": None},
        "authentic": {"flagged_area_mean": flagged, "n": 3},
        "undefined": {"binary.auc": "one class only", "editor_identity.top1": "no edited image"},
    }


METRICS: dict[str, Any] = {
    **scores(0.4567, flagged=0.0213),
    "data": {"images": 10, "edited": 7, "authentic": 3, "groups": 4, "editors": {"telea": 5, "copy_move": 2}},
    "thresholds": {"pixel": 0.43, "image": 0.6, "pooling": "topk_mean", "source": "validation (n=20)"},
    "chain": "identity",
    "baselines": {"all_edited": scores(0.06, flagged=1.0), "none": scores(0.0, flagged=0.0)},
    "intervals": {
        "pixel.binary.iou_edited": {"low": 0.31, "high": 0.55, "value": 0.4567, "unit": "group", "units": 12},
        "image.auc": {"low": 0.8, "high": 0.97, "value": 0.9, "unit": "item", "units": 10},
        "authentic.flagged_area_mean": {"low": 0.01, "high": 0.04, "value": 0.0213, "unit": "group", "units": 12},
        "editor_identity.top1": {"low": None, "high": None, "value": None, "unit": "group", "units": 12},
    },
    "distortions": [
        {"name": "jpeg", "level": level, "chain": f"jpeg({level})", **scores(level / 250, flagged=0.03)}
        for level in (90, 70)
    ],
}


@pytest.fixture
def metrics() -> dict[str, Any]:
    """Scores with an undefined value of every kind."""
    return copy.deepcopy(METRICS)


@pytest.fixture
def example() -> dict[str, Any]:
    """One image whose left half is edited, half of it by the editor that is named."""
    truth = np.zeros((24, 32), dtype=np.uint8)
    truth[:, :16] = 1
    truth[0] = 255
    class_map = np.where(truth == 1, 2, 0).astype(np.uint8)
    class_map[:12, :16] = 1
    return {
        "id": "crop_1",
        "image": np.full((24, 32, 3), 90, dtype=np.uint8),
        "truth": truth,
        "class_map": class_map,
        "edited_prob": (class_map > 0).astype(np.float32),
        "image_score": 0.75,
        "kind": "edited",
        "caption": {"score": 0.75, "verdict": "fake", "predicted editor": "telea"},
    }
