"""Each statistic of rows equals the score of the same name, on rows as they are and as JSON gives them back."""

import json
from typing import Any

import numpy as np
import pytest

from forensegm.metrics import DetectionMetrics, SegmentationMetrics, bootstrap_interval
from forensegm.metrics import statistics as stats
from forensegm.metrics.groups import RowTable
from forensegm.sample import LabelSpace, image_label

LABELS = LabelSpace(("telea", "copy_move", "splice"))
PATHS = {
    stats.iou_edited: "binary.iou_edited",
    stats.iou_authentic: "binary.iou_authentic",
    stats.f1: "binary.f1",
    stats.precision: "binary.precision",
    stats.recall: "binary.recall",
    stats.accuracy: "binary.accuracy",
    stats.mcc: "binary.mcc",
    stats.f1_mean: "binary.per_image.f1_mean",
    stats.iou_mean: "binary.per_image.iou_mean",
    stats.editors_miou: "editors.miou",
    stats.flagged_area_mean: "authentic.flagged_area_mean",
    stats.flagged_over_5_percent: "authentic.flagged_over_5_percent",
    stats.image_auc: "image.auc",
    stats.image_ap: "image.ap",
    stats.image_accuracy: "image.accuracy",
    stats.image_balanced_accuracy: "image.balanced_accuracy",
    stats.image_f1: "image.f1",
    stats.identity_top1: "editor_identity.top1",
    stats.identity_macro_f1: "editor_identity.macro_f1",
}


def run(masks: list[np.ndarray]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Scores and joined rows of random predictions of these masks."""
    rng = np.random.default_rng(0)
    pixels, images = SegmentationMetrics(LABELS, threshold=0.6), DetectionMetrics(LABELS, threshold=0.4)
    for number, mask in enumerate(masks):
        names = {"id": str(number), "group": str(number // 2)}
        prob, class_map = rng.random(mask.shape, dtype=np.float32), rng.integers(0, 4, mask.shape, dtype=np.uint8)
        label = image_label(mask)
        pixels.update(prob, class_map, mask, **names)
        images.update(rng.random(), label.fake, editor=1, target_editor=label.dominant, **names)
    rows = [{**pixel, **image} for pixel, image in zip(pixels.rows, images.rows, strict=True)]
    return {**pixels.compute(), **images.compute()}, rows


def pick(scores: dict[str, Any], path: str) -> float | None:
    value: Any = scores
    for key in path.split("."):
        value = value[key]
    return value


def masks_of(kinds: str) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    made = {
        "p": lambda: rng.integers(0, 4, (6, 7), dtype=np.uint8),
        "f": lambda: rng.integers(1, 3, (6, 7), dtype=np.uint8),
        "e": lambda: np.zeros((6, 7), dtype=np.uint8),
        "i": lambda: np.full((6, 7), 255, dtype=np.uint8),
    }
    return [made[kind]() for kind in kinds]


@pytest.mark.parametrize("statistic", PATHS, ids=PATHS.values())
@pytest.mark.parametrize("kinds", ["pefipeppfe", "eee", "fff", "i", "p"])
def test_a_statistic_is_the_score_of_its_name(statistic: Any, kinds: str) -> None:
    scores, rows = run(masks_of(kinds))
    expected = pick(scores, PATHS[statistic])
    for given in (rows, RowTable(rows), json.loads(json.dumps(rows))):
        assert statistic(given) == (None if expected is None else pytest.approx(expected, abs=1e-12))
    assert statistic.__doc__


@pytest.mark.parametrize("statistic", PATHS, ids=PATHS.values())
def test_a_statistic_has_an_interval(statistic: Any) -> None:
    interval = bootstrap_interval(run(masks_of("pefipeppfe" * 3))[1], statistic, resamples=40)
    assert interval.low <= interval.high
    assert interval.unit == "group"
