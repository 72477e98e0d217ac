"""A score, its interval, its best trivial baseline."""

import dataclasses

import pytest

from forensegm.reports.scores import (
    BY_KEY,
    CARDS,
    COMPARED,
    CURVES,
    SCORES,
    best_baseline,
    finding,
    findings,
    resampled,
)


def test_every_shown_key_is_a_known_score():
    assert len(BY_KEY) == len(SCORES)
    assert {*CARDS, *COMPARED, *CURVES} <= set(BY_KEY)


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.key)
def test_every_score_says_what_it_is(score):
    assert score.about.endswith(".")
    assert score.label
    assert score.higher_is_better or "lower is better" in score.about


def test_finding_gathers_value_interval_and_baseline(metrics):
    one = finding(metrics, BY_KEY["pixel.binary.iou_edited"])

    assert one.value_text == "0.457"
    assert one.interval_text == "0.310 to 0.550"
    assert one.unit == "12 photographs"
    assert one.baseline_text == "0.060 (all edited)"
    assert one.beats_baselines is True


def test_lower_is_better_for_alarms(metrics):
    one = finding(metrics, BY_KEY["authentic.flagged_area_mean"])

    assert one.value_text == "2.1 %"
    assert one.interval_text == "1.0 % to 4.0 %"
    assert one.baseline_text == "0.0 % (none edited)"
    assert one.beats_baselines is False


def test_undefined_has_its_reason_and_no_interval(metrics):
    one = finding(metrics, BY_KEY["editor_identity.top1"])

    assert (one.value_text, one.reason, one.interval_text, one.beats_baselines) == ("n/a", "no edited image", "", None)
    assert finding(metrics, BY_KEY["pixel.binary.auc"]).reason == "one class only"
    assert finding({}, BY_KEY["image.auc"]).reason == "not measured in this run"


def test_a_value_that_is_not_finite_is_undefined(metrics):
    metrics["image"]["auc"] = float("nan")

    assert finding(metrics, BY_KEY["image.auc"]).value is None


def test_interval_that_reaches_the_baseline_does_not_beat_it(metrics):
    one = finding(metrics, BY_KEY["pixel.binary.iou_edited"])

    assert dataclasses.replace(one, low=0.06).beats_baselines is False


def test_without_baselines(metrics):
    metrics["baselines"] = {"none": {}}

    assert best_baseline(metrics, BY_KEY["image.auc"]) == ("", None)
    assert finding(metrics, BY_KEY["image.auc"]).baseline_text == ""


def test_findings_hold_what_metrics_hold_in_order(metrics):
    keys = [one.score.key for one in findings(metrics)]

    assert keys[:2] == ["pixel.binary.iou_edited", "pixel.binary.f1"]
    assert "pixel.binary.auc" in keys
    assert "pixel.binary.mcc" not in keys
    assert findings({}) == []


@pytest.mark.parametrize(
    ("interval", "text"),
    [({"unit": "item", "units": 1200}, "1,200 images"), ({"unit": "scene", "units": 3}, "3 scene"), ({}, "")],
)
def test_resampled(interval, text):
    assert resampled(interval) == text
