import json
import math

import numpy as np
import pytest

from forensegm.config import EvaluateConfig
from forensegm.evaluation import evaluate
from forensegm.sample import LabelSpace

QUICK = EvaluateConfig(bootstrap=50, batch_size=3)


def test_an_oracle_scores_one_everywhere(dataset, make_predictor):
    metrics = evaluate(make_predictor(), dataset, QUICK).metrics
    assert metrics["pixel"]["binary"]["iou_edited"] == 1
    assert metrics["pixel"]["binary"]["per_image"] == {"f1_mean": 1, "iou_mean": 1, "n": 8}
    assert metrics["pixel"]["editors"]["per_class"] == {"telea": 1, "copy_move": 1}
    assert metrics["image"]["auc"] == metrics["image"]["accuracy"] == 1
    assert metrics["editor_identity"]["top1"] == 1
    assert metrics["authentic"]["flagged_area_mean"] == 0
    assert metrics["undefined"] == {}


def test_editor_errors_leave_binary_scores_alone(dataset, make_predictor):
    metrics = evaluate(make_predictor(confused=True), dataset, QUICK).metrics
    assert metrics["pixel"]["binary"]["iou_edited"] == 1
    areas = (
        [int((sample.mask == 1).sum()) for sample in dataset.samples],
        [int((sample.mask == 2).sum()) for sample in dataset.samples],
    )
    assert metrics["pixel"]["editors"]["per_class"]["telea"] == sum(areas[0]) / (sum(areas[0]) + sum(areas[1]))
    assert metrics["pixel"]["editors"]["per_class"]["copy_move"] == 0
    assert metrics["editor_identity"]["top1"] == 0.5


def test_counts_and_baselines_by_hand(dataset, make_predictor):
    metrics = evaluate(make_predictor(), dataset, QUICK).metrics
    assert metrics["data"]["images"] == 12
    assert (metrics["data"]["edited"], metrics["data"]["authentic"], metrics["data"]["full"]) == (8, 4, 0)
    assert metrics["data"]["editors"] == {"telea": 4, "copy_move": 4}
    assert metrics["data"]["groups"] == 6
    edited = sum(int(((sample.mask > 0) & (sample.mask < 255)).sum()) for sample in dataset.samples)
    valid = sum(int((sample.mask < 255).sum()) for sample in dataset.samples)
    baselines = metrics["baselines"]
    assert math.isclose(baselines["all_edited"]["pixel"]["binary"]["iou_edited"], edited / valid)
    assert baselines["none"]["pixel"]["binary"]["iou_edited"] == 0
    assert baselines["none"]["authentic"]["flagged_area_mean"] == 0
    assert baselines["all_edited"]["image"]["auc"] == 0.5
    assert math.isclose(baselines["all_edited"]["image"]["accuracy"], 8 / 12)
    assert baselines["majority_editor"]["editor"] == "copy_move"
    assert baselines["majority_editor"]["editor_identity"]["top1"] == 0.5


def test_metrics_and_rows_are_json_and_do_not_depend_on_the_batch_size(dataset, make_predictor):
    one, many = (evaluate(make_predictor(), dataset, EvaluateConfig(bootstrap=20, batch_size=size)) for size in (1, 12))
    assert json.dumps(one.metrics, allow_nan=False) == json.dumps(many.metrics, allow_nan=False)
    assert json.dumps(one.rows, allow_nan=False) == json.dumps(many.rows, allow_nan=False)


def test_intervals_resample_photographs_and_hold_the_value(dataset, make_predictor):
    interval = evaluate(make_predictor(confused=True), dataset, QUICK).metrics["intervals"]["editor_identity.top1"]
    assert (interval["unit"], interval["units"]) == ("group", 6)
    assert interval["low"] <= interval["value"] <= interval["high"]


def test_a_broken_item_is_skipped_counted_and_named(dataset, make_predictor):
    dataset.broken[3] = "Expected a whole file, got a truncated one: images/03.png."
    evaluation = evaluate(make_predictor(), dataset, QUICK)
    assert evaluation.skipped == [("03", dataset.broken[3])]
    assert evaluation.metrics["skipped"] == [{"id": "03", "reason": dataset.broken[3]}]
    assert evaluation.metrics["data"]["images"] == 11
    with pytest.raises(ValueError, match=r"03\.png"):
        evaluate(make_predictor(), dataset, EvaluateConfig(on_error="raise"))


def test_nothing_readable_is_an_error(dataset, make_predictor):
    dataset.broken = dict.fromkeys(range(12), "broken")
    with pytest.raises(ValueError, match="at least one readable image"):
        evaluate(make_predictor(), dataset, QUICK)


def test_another_label_space_is_refused(dataset, make_predictor):
    dataset.labels = LabelSpace(("copy_move", "telea"))
    with pytest.raises(ValueError, match="the checkpoint's editors telea, copy_move, got copy_move, telea"):
        evaluate(make_predictor(), dataset, QUICK)


def test_a_set_without_edits_has_reasons_instead_of_scores(dataset, make_predictor):
    dataset.samples = [sample for sample in dataset.samples if not sample.label.fake]
    metrics = evaluate(make_predictor(), dataset, QUICK).metrics
    assert metrics["pixel"]["binary"]["iou_edited"] is None
    assert metrics["image"]["auc"] is None
    assert metrics["editor_identity"]["top1"] is None
    for key in ("pixel.binary.iou_edited", "image.auc", "editor_identity.top1"):
        assert metrics["undefined"][key]


def test_another_pooling_than_the_checkpoints_changes_the_image_score_alone(dataset, make_predictor):
    thresholds = {"pixel": 0.5, "image": 0.7, "pooling": "topk_mean", "source": "by hand"}
    predictor = make_predictor(thresholds=thresholds)
    metrics = evaluate(predictor, dataset, EvaluateConfig(pooling="area", bootstrap=0)).metrics
    assert (metrics["image"]["pooling"], metrics["image"]["threshold"]) == ("area", 0.5)
    assert metrics["image"]["accuracy"] == 4 / 12, "no image is edited over half its area"
    assert metrics["image"]["auc"] == metrics["image"]["auc_by_pooling"]["area"] == 1


def test_an_unknown_pooling_is_named_before_any_work(dataset, make_predictor):
    dataset.broken = dict.fromkeys(range(12), "never read")
    with pytest.raises(ValueError, match=r"known pooling, got 'maxx'\. Did you mean max"):
        evaluate(make_predictor(), dataset, EvaluateConfig(pooling="maxx", on_error="raise"))


def test_examples_show_each_photograph_before_one_again(dataset, make_predictor):
    examples = evaluate(make_predictor(), dataset, EvaluateConfig(bootstrap=0, examples=7)).examples
    assert [one["id"] for one in examples] == ["00", "01", "02", "04", "06", "08", "10"]
    assert [one["kind"] for one in examples[:3]] == ["authentic", "edited", "edited"]
    assert np.array_equal(examples[0]["truth"], dataset.samples[0].mask)
    assert examples[1]["caption"]["predicted editor"] == examples[1]["caption"]["true editors"] == "telea"


def test_progress_counts_every_item(dataset, make_predictor):
    dataset.broken[0] = "broken"
    seen = []
    evaluate(make_predictor(), dataset, QUICK, progress=lambda *values: seen.append(values))
    assert seen[-1][:3] == ("evaluate", 12, 12)
