"""Scores of counts against scikit-learn, and what is undefined."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference

from forensegm.metrics import scores
from forensegm.metrics.confusion import Counts

SCORES = {
    "precision": (scores.precision, reference.precision_score),
    "recall": (scores.recall, reference.recall_score),
    "f1": (scores.f1, reference.f1_score),
    "iou": (scores.iou, reference.jaccard_score),
    "accuracy": (scores.accuracy, reference.accuracy_score),
    "balanced_accuracy": (scores.balanced_accuracy, reference.balanced_accuracy_score),
    "mcc": (scores.mcc, reference.matthews_corrcoef),
}
positive = st.integers(1, 30)


def labels(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    truth = np.repeat([0, 0, 1, 1], counts)
    return truth, np.repeat([0, 1, 0, 1], counts)


@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=25, deadline=None)
@given(counts=st.builds(Counts, positive, positive, positive, positive))
def test_against_scikit_learn(name: str, counts: Counts) -> None:
    score, expected = SCORES[name]
    assert score(counts) == pytest.approx(expected(*labels(counts)), abs=1e-12)


def test_by_hand() -> None:
    counts = Counts(tn=5, fp=1, fn=2, tp=2)
    assert scores.precision(counts) == 2 / 3
    assert scores.recall(counts) == 0.5
    assert scores.specificity(counts) == 5 / 6
    assert scores.f1(counts) == 4 / 7
    assert scores.iou(counts) == 2 / 5
    assert scores.accuracy(counts) == 0.7


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("size", [1, 3, 7, 10**6 + 3, 10**12 + 7])
def test_perfect_is_exactly_one(name: str, size: int) -> None:
    assert SCORES[name][0](Counts(3 * size, 0, 0, size)) == 1.0


@pytest.mark.parametrize(
    ("counts", "defined"),
    [
        (Counts(0, 0, 0, 0), set()),
        (Counts(9, 0, 0, 0), {"accuracy"}),
        (Counts(8, 1, 0, 0), {"accuracy", "precision"}),
        (Counts(0, 0, 9, 0), {"accuracy", "recall", "f1", "iou"}),
        (Counts(0, 0, 0, 9), {"accuracy", "precision", "recall", "f1", "iou"}),
        (Counts(5, 0, 4, 0), {"accuracy", "recall", "f1", "iou", "balanced_accuracy"}),
    ],
)
def test_undefined_is_none_and_never_nan(counts: Counts, defined: set[str]) -> None:
    values = {name: score(counts) for name, (score, _) in SCORES.items()}
    assert {name for name, value in values.items() if value is not None} == defined
    assert all(math.isfinite(value) for value in values.values() if value is not None)


@pytest.mark.parametrize("score", [scores.f1, scores.iou])
def test_zero_division_is_scikit_learns(score: object) -> None:
    assert score(Counts(9, 0, 0, 0)) is None
    assert score(Counts(8, 1, 0, 0)) is None
    assert score(Counts(9, 0, 0, 0), zero_division=1.0) == 1.0
    assert score(Counts(8, 1, 0, 0), zero_division=1.0) == 0.0
    assert score(Counts(8, 1, 0, 1), zero_division=1.0) == score(Counts(8, 1, 0, 1))


def test_huge_counts_do_not_overflow() -> None:
    counts = Counts(10**14, 10**13, 10**12, 10**14)
    assert scores.mcc(counts) == pytest.approx(scores.mcc(Counts(100, 10, 1, 100)), abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.randoms())
def test_means_do_not_depend_on_the_order(values: list[float], random: object) -> None:
    shuffled = [*values, None]
    random.shuffle(shuffled)
    assert scores.mean_of_defined(shuffled) == scores.mean_of_defined(values)


def test_means() -> None:
    assert scores.mean_of_defined([None, 0.25, 0.75]) == 0.5
    assert scores.mean_of_defined([None]) is None
    assert scores.mean_of_all([0.25, 0.75]) == 0.5
    assert scores.mean_of_all([None, 1.0]) is None
    assert scores.mean_of_all([]) is None
