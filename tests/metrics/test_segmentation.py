"""Pixel scores of whole passes: hand-made images, references, merging, undefined parts, and cases of other tools."""

import json
import math
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torchmetrics.functional.classification import (
    binary_accuracy,
    binary_f1_score,
    binary_jaccard_index,
    binary_matthews_corrcoef,
    binary_precision,
    binary_recall,
    multiclass_jaccard_index,
)

from forensegm.metrics import SegmentationMetrics
from forensegm.sample import LabelSpace, image_label

LABELS = LabelSpace(("telea", "copy_move", "splice"))
Item = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw(seed: int, *, kind: str = "partial", hw: tuple[int, int] = (24, 31)) -> Item:
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 4, hw, dtype=np.uint8)
    target = {"empty": np.zeros_like(target), "full": np.maximum(target, 1), "partial": target}[kind]
    target[rng.random(hw) < 0.05] = 255
    prob = np.clip((target % 255 > 0) * 0.3 + 0.7 * rng.random(hw), 0, 1).astype(np.float32)
    class_map = np.where(rng.random(hw) < 0.7, target % 255, rng.integers(0, 4, hw)).astype(np.uint8)
    return prob, class_map, target


def scored(items: list[Item], **options: Any) -> SegmentationMetrics:
    metrics = SegmentationMetrics(LABELS, **options)
    for number, item in enumerate(items):
        metrics.update(*item, id=f"i{number}", group=f"g{number // 2}")
    return metrics


def binary(masks: np.ndarray, preds: np.ndarray, **options: Any) -> SegmentationMetrics:
    return scored([(pred.astype(np.float32), pred, mask) for mask, pred in zip(masks, preds, strict=True)], **options)


ITEMS = [draw(0), draw(1, kind="empty"), draw(2, kind="full"), draw(3, hw=(40, 8)), draw(4)]


def test_binary_scores_agree_with_torchmetrics() -> None:
    scores = scored(ITEMS, threshold=0.45).compute()["binary"]
    valid = [target != 255 for *_, target in ITEMS]
    prob = np.concatenate([item[0][keep] for item, keep in zip(ITEMS, valid, strict=True)])
    truth = np.concatenate([item[2][keep] > 0 for item, keep in zip(ITEMS, valid, strict=True)])
    flagged, edited = torch.from_numpy(prob >= np.float32(0.45)).int(), torch.from_numpy(truth).int()
    expected = {
        "iou_edited": binary_jaccard_index(flagged, edited),
        "iou_authentic": binary_jaccard_index(1 - flagged, 1 - edited),
        "f1": binary_f1_score(flagged, edited),
        "precision": binary_precision(flagged, edited),
        "recall": binary_recall(flagged, edited),
        "accuracy": binary_accuracy(flagged, edited),
        "mcc": binary_matthews_corrcoef(flagged, edited),
        "auc": roc_auc_score(truth, prob),
    }
    for name, value in expected.items():
        assert scores[name] == pytest.approx(float(value), abs=1e-5), name
    assert scores["ap"] == pytest.approx(average_precision_score(truth, prob), abs=1e-4)
    assert scores["miou"] == (scores["iou_edited"] + scores["iou_authentic"]) / 2
    assert scores["threshold"] == 0.45
    assert sum(scores["counts"].values()) == truth.size


def test_editor_scores_agree_with_torchmetrics() -> None:
    scores = scored(ITEMS).compute()["editors"]
    pred = torch.from_numpy(np.concatenate([item[1].ravel() for item in ITEMS])).long()
    target = torch.from_numpy(np.concatenate([item[2].ravel() for item in ITEMS])).long()
    ious = multiclass_jaccard_index(pred, target, 4, ignore_index=255, average="none").double()
    assert scores["per_class"] == {
        name: pytest.approx(float(value), abs=1e-6) for name, value in zip(LABELS.editors, ious[1:], strict=True)
    }
    assert scores["miou"] == pytest.approx(float(ious[1:].mean()), abs=1e-6)
    assert scores["miou_with_authentic"] == pytest.approx(float(ious.mean()), abs=1e-6)
    assert scores["n"] == 3


def test_binary_scores_do_not_look_at_the_class_map_nor_editor_scores_at_the_probability() -> None:
    prob, class_map, target = draw(0)
    first = scored([(prob, class_map, target)]).compute()
    second = scored([(prob, np.zeros_like(class_map), target)]).compute()
    third = scored([(np.zeros_like(prob), class_map, target)]).compute()
    assert second["binary"] == first["binary"]
    assert third["editors"] == first["editors"]


def test_counts_of_histogram_and_threshold_agree() -> None:
    metrics = scored(ITEMS, threshold=0.3)
    assert metrics.histogram.counts_at(0.3)._asdict() == metrics.compute()["binary"]["counts"]


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 1.0])
def test_the_threshold_itself_counts_as_edited(threshold: float) -> None:
    edge = np.float32(threshold)
    prob = np.array([[np.nextafter(edge, np.float32(0)), edge]])
    metrics = scored([(prob, np.zeros((1, 2), dtype=np.uint8), np.ones((1, 2), dtype=np.uint8))], threshold=threshold)
    assert metrics.rows[0]["binary"] == [0, 0, 1, 1]
    assert metrics.histogram.counts_at(threshold).tp == 1


def test_rows_are_plain_and_hold_what_the_mask_says() -> None:
    metrics = scored(ITEMS)
    assert json.loads(json.dumps(metrics.rows, allow_nan=False)) == metrics.rows
    for row, (prob, _, target) in zip(metrics.rows, ITEMS, strict=True):
        label = image_label(target)
        assert row["coverage"] == label.coverage
        assert row["editors_present"] == list(label.editors)
        assert row["edited_share"] == label.edited_share
        assert row["flagged_share"] == pytest.approx((prob >= 0.5)[target != 255].mean())
        assert sum(row["binary"]) == (target != 255).sum()
    assert np.array_equal(sum(np.array(row["confusion"]) for row in metrics.rows), metrics.confusion)
    assert [row["id"] for row in metrics.rows] == [f"i{number}" for number in range(5)]
    assert metrics.rows[1]["f1"] is None
    assert metrics.rows[1]["iou"] is None


@pytest.mark.parametrize("cut", [0, 1, 3, 5])
def test_split_merge_and_permutation_are_equal_to_the_bit(cut: int) -> None:
    whole = scored(ITEMS).compute()
    first, second = scored(ITEMS[:cut]), scored(ITEMS[cut:])
    second.merge(first)
    assert second.compute() == whole
    assert scored(ITEMS[::-1]).compute() == whole


def test_flips_change_nothing() -> None:
    turned = [tuple(part[::-1, ::-1] for part in item) for item in ITEMS]
    assert scored(turned).compute() == scored(ITEMS).compute()


def test_permuting_the_editors_permutes_their_scores() -> None:
    order = np.zeros(256, dtype=np.uint8)
    order[[0, 1, 2, 3, 255]] = 0, 3, 1, 2, 255
    moved = scored([(prob, order[class_map], order[target]) for prob, class_map, target in ITEMS]).compute()
    before = scored(ITEMS).compute()
    assert moved["binary"] == before["binary"]
    assert moved["editors"]["miou"] == before["editors"]["miou"]
    expected = {"splice": "telea", "telea": "copy_move", "copy_move": "splice"}
    assert moved["editors"]["per_class"] == {
        name: before["editors"]["per_class"][was] for name, was in expected.items()
    }


def test_perfect_predictions_score_exactly_one() -> None:
    items = [((target % 255 > 0).astype(np.float32), target % 255, target) for *_, target in ITEMS]
    scores = scored(items).compute()
    names = ("iou_edited", "iou_authentic", "miou", "f1", "precision", "recall", "accuracy", "mcc", "auc", "ap")
    assert {name: scores["binary"][name] for name in names} == dict.fromkeys(names, 1.0)
    assert scores["binary"]["per_image"] == {"f1_mean": 1.0, "iou_mean": 1.0, "n": 4}
    assert set(scores["editors"]["per_class"].values()) == {1.0}
    assert scores["authentic"] == {"flagged_area_mean": 0.0, "flagged_over_5_percent": 0.0, "n": 1}
    assert scores["undefined"] == {}


def leaves(value: dict[str, Any], path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, part in value.items():
        inner = f"{path}.{key}" if path else key
        found |= leaves(part, inner) if isinstance(part, dict) else {inner: part}
    return found


@pytest.mark.parametrize("kinds", [[], ["ignored"], ["empty"], ["full"], ["partial"], ["empty", "full"]])
def test_every_undefined_score_has_its_reason(kinds: list[str]) -> None:
    items = []
    for kind in kinds:
        prob, class_map, target = draw(7, kind="partial" if kind == "ignored" else kind)
        items.append((prob, class_map, np.full_like(target, 255) if kind == "ignored" else target))
    scores = scored(items).compute()
    undefined = scores.pop("undefined")
    values = leaves(scores)
    assert {path for path, value in values.items() if value is None} == set(undefined)
    assert all(undefined.values())
    assert all(math.isfinite(value) for value in values.values() if value is not None)
    if "full" not in kinds and "partial" not in kinds:
        assert {"binary.f1", "binary.iou_edited", "binary.auc", "binary.per_image.f1_mean"} <= set(undefined)
        assert scores["binary"]["per_image"]["n"] == 0


def test_authentic_images_have_figures_of_their_own() -> None:
    empty = np.zeros((10, 10), dtype=np.uint8)
    few, many = np.zeros((2, 10, 10), dtype=np.uint8)
    few[0, :5], many[0, :6] = 1, 1
    authentic = binary(np.stack([empty] * 4), np.stack([empty, few, many, many])).compute()["authentic"]
    assert authentic == {"flagged_area_mean": pytest.approx((5 + 6 + 6) / 400), "flagged_over_5_percent": 0.5, "n": 4}


def test_case_22_authentic_images_do_not_enter_the_mean_f1(shared: Path) -> None:
    folder = shared / "cases" / "22_all_authentic_f1"
    arrays, expected = np.load(folder / "arrays.npz"), json.loads((folder / "expected.json").read_text())
    masks = (arrays["gt"] > 0).astype(np.uint8)
    for name, want in expected.items():
        scores = binary(masks, (arrays[name] > 0).astype(np.uint8)).compute()
        assert scores["binary"]["per_image"]["f1_mean"] == want["mean_f1_edited"]
        assert scores["binary"]["per_image"]["n"] == 2
        assert scores["authentic"]["flagged_area_mean"] == want["fp_area_authentic"]
        assert scores["binary"]["f1"] == want.get("micro_f1", 1.0)


def test_case_22_zero_division_scores_authentic_images_too(shared: Path) -> None:
    arrays = np.load(shared / "cases" / "22_all_authentic_f1" / "arrays.npz")
    masks = (arrays["gt"] > 0).astype(np.uint8)
    perfect = binary(masks, (arrays["pred_perfect"] > 0).astype(np.uint8), zero_division=1.0).compute()["binary"]
    wrong = binary(masks, (arrays["pred_fp"] > 0).astype(np.uint8), zero_division=1.0).compute()["binary"]
    assert perfect["per_image"] == {"f1_mean": 1.0, "iou_mean": 1.0, "n": 4}
    assert wrong["per_image"] == {"f1_mean": 0.75, "iou_mean": 0.75, "n": 4}


def test_case_23_one_class_of_pixels_has_no_auc() -> None:
    metrics = scored([draw(1, kind="empty")]).compute()
    assert metrics["binary"]["auc"] is None
    assert metrics["undefined"]["binary.auc"] == "only one class of pixels in the truth"


def test_case_28_no_image_is_counted_twice(shared: Path) -> None:
    folder = shared / "cases" / "28_ddp_uneven_eval"
    read = [
        [cv2.imread(str(folder / f"{number}_{part}.png"), cv2.IMREAD_GRAYSCALE) > 0 for part in ("mask", "pred")]
        for number in range(7)
    ]
    expected = json.loads((folder / "expected.json").read_text())["mean_f1"]
    for ranks in (1, 2, 3, 9):
        total = binary(np.empty((0, 1, 1)), np.empty((0, 1, 1)))
        for rank in range(ranks):
            share = read[rank::ranks]
            total.merge(binary([mask.astype(np.uint8) for mask, _ in share], [p.astype(np.uint8) for _, p in share]))
        per_image = total.compute()["binary"]["per_image"]
        assert per_image["f1_mean"] == pytest.approx(expected, abs=1e-9)
        assert per_image["n"] == 7


def test_case_31_both_reductions_are_named(shared: Path) -> None:
    folder = shared / "cases" / "31_micro_vs_imagewise"
    arrays, expected = np.load(folder / "arrays.npz"), json.loads((folder / "expected.json").read_text())
    scores = binary(arrays["gt"], arrays["pred"]).compute()
    assert scores["binary"]["f1"] == pytest.approx(expected["micro_f1"])
    assert scores["binary"]["iou_edited"] == pytest.approx(expected["micro_iou"])
    assert scores["binary"]["per_image"]["f1_mean"] == expected["imagewise_f1"]
    assert scores["binary"]["per_image"]["iou_mean"] == expected["imagewise_iou"]


def test_anything_that_numpy_reads_is_taken() -> None:
    prob, class_map, target = draw(0)
    first, second = scored([(prob, class_map, target)]), SegmentationMetrics(LABELS)
    second.update(torch.from_numpy(prob), class_map.tolist(), torch.from_numpy(target).long(), id="i0", group="g0")
    assert second.compute() == first.compute()


def test_padding_that_is_ignored_may_hold_anything() -> None:
    prob, class_map, target = draw(0)
    padded = [
        np.pad(part, ((0, 3), (0, 5)), constant_values=fill)
        for part, fill in ((prob, np.nan), (class_map, 200), (target, 255))
    ]
    assert scored([tuple(padded)]).compute() == scored([(prob, class_map, target)]).compute()


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        (0, np.full((24, 31), np.nan, dtype=np.float32), "Image 'x': Expected edited-probabilities"),
        (0, np.full((24, 31), 255, dtype=np.uint8), r"0\.\.1, got 255"),
        (0, np.zeros((31, 24), dtype=np.float32), "edited_prob to have the target's shape"),
        (1, np.zeros((1, 31), dtype=np.uint8), "class map to have the target's shape"),
        (1, np.full((24, 31), 4, dtype=np.uint8), "class map to hold ids"),
        (2, np.full((24, 31), 9, dtype=np.uint8), "target to hold ids"),
    ],
)
def test_a_wrong_image_is_named_and_not_counted(part: int, value: np.ndarray, message: str) -> None:
    metrics, item = scored(ITEMS), list(draw(0))
    before = metrics.compute()
    item[part] = value
    with pytest.raises(ValueError, match=message):
        metrics.update(*item, id="x", group="x")
    assert metrics.compute() == before


def test_other_errors() -> None:
    with pytest.raises(ValueError, match=r"thresholds of 0\.\.1"):
        SegmentationMetrics(LABELS, threshold=1.5)
    with pytest.raises(ValueError, match="same labels and threshold"):
        SegmentationMetrics(LABELS).merge(SegmentationMetrics(LABELS, threshold=0.25))
    with pytest.raises(ValueError, match="same labels and threshold"):
        SegmentationMetrics(LABELS).merge(SegmentationMetrics(LabelSpace(("one",))))
