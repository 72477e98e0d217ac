"""Image-level scores against scikit-learn and brute force; undefined parts; identity as a forced choice."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference

from forensegm.metrics import DetectionMetrics, average_precision, best_threshold, roc_auc
from forensegm.metrics.curves import OBJECTIVES
from forensegm.sample import LabelSpace

LABELS = LabelSpace(("telea", "copy_move", "splice"))

scored_labels = st.lists(
    st.tuples(st.one_of(st.floats(-5, 5), st.integers(0, 4).map(float)), st.booleans()), min_size=2, max_size=40
).filter(lambda pairs: len({label for _, label in pairs}) == 2)


@settings(max_examples=80, deadline=None)
@given(scored_labels)
def test_areas_are_scikit_learns(pairs: list[tuple[float, bool]]) -> None:
    scores, labels = map(np.array, zip(*pairs, strict=True))
    assert roc_auc(scores, labels) == pytest.approx(reference.roc_auc_score(labels, scores), abs=1e-12)
    assert average_precision(scores, labels) == pytest.approx(
        reference.average_precision_score(labels, scores), abs=1e-12
    )


def test_case_23_one_class_is_undefined_and_ties_are_one_half(shared: Path) -> None:
    folder = shared / "cases" / "23_auc_single_class"
    inputs, expected = (json.loads((folder / name).read_text()) for name in ("scores.json", "expected.json"))
    assert {name: roc_auc(one["s"], one["y"]) for name, one in inputs.items()} == expected


def judged(values: np.ndarray, labels: np.ndarray, threshold: float, objective: str) -> float:
    flagged = values >= threshold
    if objective == "f1":
        return float(reference.f1_score(labels, flagged, zero_division=0))
    if objective == "iou":
        return float(reference.jaccard_score(labels, flagged, zero_division=0))
    return float(reference.balanced_accuracy_score(labels, flagged))


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=20, deadline=None)
@given(pairs=scored_labels)
def test_best_threshold_is_the_best_of_all(objective: str, pairs: list[tuple[float, bool]]) -> None:
    values, labels = map(np.array, zip(*pairs, strict=True))
    threshold = best_threshold(values, labels, objective=objective)
    best = max(judged(values, labels, value, objective) for value in values)
    assert judged(values, labels, threshold, objective) == pytest.approx(best, abs=1e-12)
    assert best_threshold(values[::-1], labels[::-1], objective=objective) == threshold


def test_best_threshold_by_hand() -> None:
    assert best_threshold([0.1, 0.4, 0.6, 0.8], [0, 0, 1, 1]) == 0.5
    assert best_threshold([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1]) == pytest.approx(0.7)  # as good as 0.3, and flags fewer
    assert best_threshold([0.3, 0.9], [1, 0], objective="f1") == 0.3  # flag everything
    neighbours = [0.5, np.nextafter(0.5, 1)]
    assert best_threshold(neighbours, [0, 1]) == neighbours[1]
    assert best_threshold([0.5, 0.6], [1, 1]) is None
    assert best_threshold([], []) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: roc_auc([0.1, 0.2], [0]), "one label per score"),
        (lambda: roc_auc([0.1, np.nan], [0, 1]), "finite scores, got nan"),
        (lambda: average_precision([0.1, 0.2], [0, 2]), "labels to be bools or 0 and 1, got 2"),
        (lambda: best_threshold([0.1, 0.2], [0, 1], objective="f2"), "Did you mean f1"),
    ],
)
def test_errors_of_functions(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def filled(count: int = 60, *, seed: int = 0, threshold: float = 0.4) -> DetectionMetrics:
    rng = np.random.default_rng(seed)
    metrics = DetectionMetrics(LABELS, threshold=threshold)
    for number in range(count):
        fake = bool(rng.random() < 0.5)
        metrics.update(
            float(rng.integers(0, 20) / 20 * (1.0 if fake else 0.8)),
            fake,
            editor=[None, 1, "copy_move", 3][rng.integers(4)],
            target_editor=int(rng.integers(1, 4)) if fake else None,
            id=str(number),
            group=str(number // 3),
        )
    return metrics


def test_scores_agree_with_scikit_learn() -> None:
    metrics = filled()
    scores = metrics.compute()
    truth = [row["fake"] for row in metrics.rows]
    values = [row["score"] for row in metrics.rows]
    verdicts = [value >= 0.4 for value in values]
    expected = {
        "auc": reference.roc_auc_score(truth, values),
        "ap": reference.average_precision_score(truth, values),
        "accuracy": reference.accuracy_score(truth, verdicts),
        "balanced_accuracy": reference.balanced_accuracy_score(truth, verdicts),
        "f1": reference.f1_score(truth, verdicts),
        "precision": reference.precision_score(truth, verdicts),
        "recall": reference.recall_score(truth, verdicts),
    }
    assert {name: scores["image"][name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert scores["image"]["n"] == 60
    assert scores["image"]["n_fake"] == sum(truth)
    fakes = [row for row in metrics.rows if row["fake"]]
    named = [row["identity"] or "nothing" for row in fakes]
    true = [row["target_editor"] for row in fakes]
    assert scores["editor_identity"]["top1"] == reference.accuracy_score(true, named)
    assert scores["editor_identity"]["macro_f1"] == pytest.approx(
        reference.f1_score(true, named, labels=sorted(set(true)), average="macro", zero_division=0)
    )
    assert scores["editor_identity"]["n"] == len(fakes)
    assert scores["undefined"] == {}


@pytest.mark.parametrize("cut", [0, 1, 20, 60])
def test_split_merge_and_permutation_are_equal_to_the_bit(cut: int) -> None:
    whole = filled()
    first, second = DetectionMetrics(LABELS, threshold=0.4), DetectionMetrics(LABELS, threshold=0.4)
    first.rows, second.rows = whole.rows[:cut], whole.rows[cut:]
    second.merge(first)
    assert second.compute() == whole.compute()


def test_perfect_is_exactly_one() -> None:
    metrics = DetectionMetrics(LABELS, threshold=0.5)
    for number in range(7):
        fake = number % 3 > 0
        editor = number % 3 if fake else None
        metrics.update(float(fake), fake, editor=editor, target_editor=editor, id=str(number), group="g")
    scores = metrics.compute()
    names = ("auc", "ap", "accuracy", "balanced_accuracy", "f1", "precision", "recall")
    assert [scores["image"][name] for name in names] == [1.0] * len(names)
    assert scores["editor_identity"] == {"top1": 1.0, "macro_f1": 1.0, "n": 4}


@pytest.mark.parametrize("fakes", [[], [True, True], [False, False], [None]])
def test_every_undefined_score_has_its_reason(fakes: list[bool | None]) -> None:
    metrics = DetectionMetrics(LABELS)
    for number, fake in enumerate(fakes):
        metrics.update(0.1 * number, fake, id=str(number), group="g")
    scores = metrics.compute()
    undefined = {
        f"{part}.{name}" for part in ("image", "editor_identity") for name, v in scores[part].items() if v is None
    }
    assert undefined == set(scores["undefined"])
    assert all(scores["undefined"].values())
    assert {"image.auc", "image.ap", "editor_identity.top1"} <= undefined
    assert scores["image"]["n_unknown"] == fakes.count(None)


def test_identity_is_a_forced_choice_on_fake_images() -> None:
    metrics = DetectionMetrics(LABELS)
    scores = {"splice": 0.4, "copy_move": 0.4, "telea": 0.2}
    metrics.update(0.0, True, editor=None, target_editor=2, editor_scores=scores, id="missed", group="a")
    metrics.update(0.9, True, editor=3, target_editor="splice", editor_scores=scores, id="found", group="b")
    metrics.update(0.1, True, editor=None, target_editor=1, editor_scores={}, id="no scores", group="c")
    metrics.update(0.9, False, editor=1, target_editor=None, id="authentic", group="d")
    assert [row["editor"] for row in metrics.rows] == [None, "splice", None, "telea"]
    assert [row["identity"] for row in metrics.rows] == ["copy_move", "splice", None, "telea"]
    assert metrics.compute()["editor_identity"] == {
        "top1": pytest.approx(2 / 3),
        "macro_f1": pytest.approx(2 / 3),
        "n": 3,
    }


def test_rows_are_plain_and_the_threshold_is_inclusive() -> None:
    metrics = DetectionMetrics(LABELS, threshold=0.1)
    metrics.update(np.float64(0.1), np.bool_(True), editor=np.int64(1), target_editor=1, id="a", group="g")
    metrics.update(np.float32(0.05), False, id="b", group="g")
    assert json.loads(json.dumps(metrics.rows)) == metrics.rows
    assert [row["predicted_fake"] for row in metrics.rows] == [True, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": float("nan")}, "Image 'x': Expected a finite image score"),
        ({"editor": "gimp"}, "Image 'x': Expected one of"),
        ({"editor": 4}, "class id"),
        ({"target_editor": 0}, "authentic class"),
        ({"editor_scores": {"gimp": 1.0}}, "got 'gimp'"),
    ],
)
def test_errors_name_the_image(options: dict[str, Any], message: str) -> None:
    metrics = DetectionMetrics(LABELS)
    arguments = {"score": 0.5, "editor": None, "target_editor": None, "editor_scores": None} | options
    with pytest.raises(ValueError, match=message):
        metrics.update(arguments.pop("score"), True, id="x", group="g", **arguments)
    assert metrics.rows == []


def test_other_errors() -> None:
    with pytest.raises(ValueError, match="got nan"):
        DetectionMetrics(LABELS, threshold=float("nan"))
    with pytest.raises(ValueError, match="same labels and threshold"):
        DetectionMetrics(LABELS).merge(DetectionMetrics(LABELS, threshold=0.3))
