import numpy as np

from forensegm.config import EvaluateConfig
from forensegm.evaluation import choose_thresholds, evaluate

QUICK = EvaluateConfig(bootstrap=0)


def test_the_chosen_thresholds_part_the_classes_that_can_be_parted(dataset, make_predictor):
    chosen = choose_thresholds(evaluate(make_predictor(), dataset, QUICK), source="validation")
    assert chosen["source"] == "validation (n=12)"
    assert chosen["pooling"] == "topk_mean"
    metrics = evaluate(make_predictor(thresholds=chosen), dataset, QUICK).metrics
    assert metrics["pixel"]["binary"]["iou_edited"] == metrics["image"]["balanced_accuracy"] == 1


def test_the_pixel_threshold_is_the_best_of_all(dataset, make_predictor):
    for sample in dataset.samples:
        sample.image[...] = np.clip(sample.image + np.random.default_rng(0).normal(0, 30, sample.image.shape), 0, 255)

    def iou(threshold):
        thresholds = {"pixel": threshold}
        return evaluate(make_predictor(thresholds=thresholds), dataset, QUICK).metrics["pixel"]["binary"]["iou_edited"]

    chosen = choose_thresholds(evaluate(make_predictor(), dataset, QUICK), source="validation")
    assert 0 < iou(0.5) < 1
    assert all(iou(chosen["pixel"]) >= iou(other) for other in np.linspace(0.02, 0.98, 17))


def test_with_one_class_nothing_is_chosen_and_it_says_so(dataset, make_predictor):
    dataset.samples = [sample for sample in dataset.samples if not sample.label.fake]
    chosen = choose_thresholds(evaluate(make_predictor(), dataset, QUICK), source="validation")
    assert (chosen["pixel"], chosen["image"]) == (0.5, 0.5)
    assert "one class only" in chosen["source"]
