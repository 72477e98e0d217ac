"""The score histogram against scikit-learn, on confident, tied and tiny maps; exact edges; merging to the bit."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.metrics import average_precision_score, f1_score, jaccard_score, roc_auc_score

from forensegm.metrics import histogram as module
from forensegm.metrics.confusion import Counts
from forensegm.metrics.histogram import NUM_BINS, ScoreHistogram, bin_index

COUNT = 200_000


def filled(scores: np.ndarray, labels: np.ndarray, thresholds: tuple[float, ...] = ()) -> ScoreHistogram:
    histogram = ScoreHistogram(thresholds)
    histogram.update(scores, labels)
    return histogram


def sigmoid(logits: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return (1 / (1 + np.exp(-logits))).astype(np.float32)


def draw(spread: float, distance: float, share: float, offset: float = -1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = rng.random(COUNT) < share
    logits = spread * (rng.normal(size=COUNT) + np.where(labels, distance, -distance)) + offset
    return sigmoid(logits), labels


@pytest.mark.parametrize("spread", [0.2, 1.0, 4.0, 16.0])
@pytest.mark.parametrize("distance", [0.1, 1.0, 2.0])
@pytest.mark.parametrize("share", [0.005, 0.1, 0.5, 0.95])
def test_areas_agree_with_scikit_learn_from_weak_to_confident_maps(
    spread: float, distance: float, share: float
) -> None:
    scores, labels = draw(spread, distance, share)
    histogram = filled(scores, labels)
    assert histogram.auc() == pytest.approx(roc_auc_score(labels, scores), abs=1e-5)
    assert histogram.average_precision() == pytest.approx(average_precision_score(labels, scores), abs=1e-4)


@pytest.mark.parametrize("power", [1, 8, 40])
def test_maps_with_nearly_every_value_at_0_or_1(power: int) -> None:
    rng = np.random.default_rng(power)
    labels = rng.random(COUNT) < 0.2
    near_zero = rng.random(COUNT) ** power / 2
    wrong = rng.random(COUNT) < 0.2
    scores = np.where(labels != wrong, 1 - near_zero, near_zero).astype(np.float32)
    histogram = filled(scores, labels)
    assert histogram.auc() == pytest.approx(roc_auc_score(labels, scores), abs=1e-5)
    assert histogram.average_precision() == pytest.approx(average_precision_score(labels, scores), abs=1e-4)


def test_float32_softmax_of_a_confident_network() -> None:
    rng = np.random.default_rng(1)
    labels = rng.random(COUNT) < 0.3
    logits = torch.from_numpy(rng.normal(0, 8, (COUNT, 3)).astype(np.float32))
    logits[:, 0] += torch.from_numpy(np.where(labels, -6, 6).astype(np.float32))
    scores = (1 - logits.softmax(dim=1)[:, 0]).numpy()
    histogram = filled(scores, labels)
    assert histogram.auc() == pytest.approx(roc_auc_score(labels, scores), abs=1e-6)
    assert histogram.average_precision() == pytest.approx(average_precision_score(labels, scores), abs=1e-5)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_tied_scores_are_exact(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 60))
    scores = data.draw(arrays.arrays(np.uint8, size)).astype(np.float32) / 255
    labels = data.draw(arrays.arrays(bool, size))
    histogram = filled(scores, labels)
    if labels.all() or not labels.any():
        assert histogram.auc() is None
        assert histogram.average_precision() is None
    else:
        assert histogram.auc() == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
        assert histogram.average_precision() == pytest.approx(average_precision_score(labels, scores), abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_auc_error_is_bounded_by_what_shares_a_bin(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 40))
    scores = data.draw(arrays.arrays(np.float32, size, elements=st.floats(0, 1, width=32)))
    labels = data.draw(arrays.arrays(bool, size))
    if labels.all() or not labels.any():
        return
    histogram = filled(scores, labels)
    mixed = (histogram.negatives / (~labels).sum() * histogram.positives / labels.sum()).sum()
    # scikit-learn's own ranking of float32 scores is exact; ours may tie what shares a bin
    assert abs(histogram.auc() - roc_auc_score(labels, scores)) <= mixed / 2 + 1e-12


@pytest.mark.parametrize("value", [0.0, 1e-30, 0.1, 0.5, 0.9, 1.0])
def test_constant_maps_have_an_auc_of_one_half(value: float) -> None:
    labels = np.arange(12) < 3
    histogram = filled(np.full(12, value, dtype=np.float32), labels)
    assert histogram.auc() == 0.5
    assert histogram.average_precision() == 0.25


@pytest.mark.parametrize("size", [2, 3, 1000, 99_991])
def test_perfect_maps_score_exactly_one(size: int) -> None:
    labels = np.arange(size) % 3 == 1
    histogram = filled(labels.astype(np.float32), labels)
    assert histogram.auc() == 1.0
    assert histogram.average_precision() == 1.0
    best, threshold = histogram.best_f1()
    assert best == 1.0
    assert 0 < threshold <= 1


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 1, width=32), min_size=2, max_size=50), st.lists(st.floats(0, 1), max_size=3))
def test_bins_never_fall_with_the_score(values: list[float], thresholds: list[float]) -> None:
    scores = np.sort(np.array(values, dtype=np.float32)) + np.float32(0)
    index = bin_index(scores, thresholds)
    assert (np.diff(index) >= 0).all()
    assert index[0] >= 0
    assert index[-1] < NUM_BINS + len(thresholds)


def test_bins_take_the_whole_range() -> None:
    ends = np.array([0, 2**-149, 2**-148, 2**-126, 2**-24, 0.5, 1 - 2**-24, 1], dtype=np.float32)
    index = bin_index(ends, ())
    assert index[0] == 0
    assert index[-1] == NUM_BINS - 1
    assert (np.diff(index) > 0).all()


@settings(max_examples=60, deadline=None)
@given(threshold=st.floats(0, 1), seed=st.integers(0, 1000))
def test_counts_at_a_fixed_threshold_are_exact(threshold: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    edge = np.float32(threshold)
    near = np.array([np.nextafter(edge, -1), edge, np.nextafter(edge, 2)], dtype=np.float32).clip(0, 1)
    scores = np.concatenate([np.repeat(near, 7), rng.random(50, dtype=np.float32)])
    labels = rng.random(scores.size) < 0.4
    flagged = scores >= edge
    expected = Counts(*(int((labels == a)[flagged == b].sum()) for a, b in ((0, 0), (0, 1), (1, 0), (1, 1))))
    assert filled(scores, labels, (threshold, 0.5)).counts_at(threshold) == expected


def test_counts_away_from_an_edge_are_refused() -> None:
    with pytest.raises(ValueError, match="bin edge"):
        filled(np.array([0.1]), np.array([True])).counts_at(0.3)


@pytest.mark.parametrize("objective", ["iou", "f1", "balanced_accuracy"])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_best_threshold_is_best_and_reproduces_its_counts(objective: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = (rng.integers(0, 12, 60) / 11).astype(np.float32)
    labels = rng.random(60) < 0.4
    if labels.all() or not labels.any():
        return
    score = {"iou": jaccard_score, "f1": f1_score}.get(
        objective, lambda truth, flagged: (flagged[truth].mean() + 1 - flagged[~truth].mean()) / 2
    )
    histogram = filled(scores, labels)
    threshold = histogram.best_threshold(objective=objective)
    best = max(score(labels, scores >= value) for value in np.unique(scores))
    assert score(labels, scores >= threshold) == pytest.approx(best, abs=1e-12)
    counts = histogram.counts_at(threshold)
    assert counts.tp == int((scores[labels] >= threshold).sum())
    assert counts.fp == int((scores[~labels] >= threshold).sum())


def test_best_threshold_by_hand() -> None:
    histogram = filled(np.array([0.1, 0.2, 0.8, 0.9]), np.array([0, 0, 1, 1]))
    assert 0.2 < histogram.best_threshold(objective="iou") < 0.8
    tied = filled(np.array([0.1, 0.2, 0.3, 0.4]), np.array([1, 0, 1, 0]))
    assert 0.2 < tied.best_threshold(objective="balanced_accuracy") < 0.4
    everything = filled(np.array([0.25, 0.5]), np.array([1, 0]))
    assert everything.best_threshold(objective="f1") <= 0.25


@pytest.mark.parametrize("labels", [[0, 0], [1, 1], [255, 255]])
def test_one_class_has_no_area_and_no_threshold(labels: list[int]) -> None:
    histogram = filled(np.array([0.2, 0.7]), np.array(labels))
    assert histogram.auc() is None
    assert histogram.average_precision() is None
    assert histogram.best_threshold() is None
    assert histogram.best_f1() is None


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), cut=st.integers(0, 300))
def test_split_merge_and_permutation_are_equal_to_the_bit(seed: int, cut: int) -> None:
    rng = np.random.default_rng(seed)
    scores, labels = rng.random(300, dtype=np.float32) ** 3, rng.choice([0, 1, 4, 255], 300).astype(np.uint8)
    whole = filled(scores, labels, (0.3,))
    parts = filled(scores[:cut], labels[:cut], (0.3,))
    parts.merge(filled(scores[cut:], labels[cut:], (0.3,)))
    order = rng.permutation(300)
    shuffled = filled(scores[order], labels[order], (0.3,))
    for other in (parts, shuffled):
        assert np.array_equal(other.counts, whole.counts)
        assert other.auc() == whole.auc()
        assert other.average_precision() == whole.average_precision()
    assert whole.counts.dtype == np.int64
    assert whole.counts.sum() == (labels != 255).sum()


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, labels = draw(2.0, 1.0, 0.3)
    whole = filled(scores, labels, (0.5,))
    monkeypatch.setattr(module, "CHUNK", 777)
    assert np.array_equal(filled(scores, labels, (0.5,)).counts, whole.counts)


def test_anything_that_numpy_reads_is_taken() -> None:
    scores, labels = np.array([[0.25, 0.5], [0.75, 1.0]]), np.array([[0, 1], [0, 1]])
    expected = filled(scores, labels).counts
    for one in (scores.tolist(), scores.astype(np.float16), torch.from_numpy(scores), scores.T.copy().T):
        assert np.array_equal(filled(one, labels).counts, expected)
    assert np.array_equal(filled(scores, torch.from_numpy(labels).bool()).counts, expected)


def test_rounding_beyond_the_ends_and_negative_zero() -> None:
    histogram = filled(np.array([-1e-7, -0.0, 1 + 1e-7], dtype=np.float32), np.array([0, 0, 1]))
    assert histogram.negatives[0] == 2
    assert histogram.positives[-1] == 1


@pytest.mark.parametrize("wrong", [-0.01, 1.01, np.nan, np.inf, -np.inf])
def test_scores_outside_0_and_1_are_refused_unless_ignored(wrong: float) -> None:
    histogram = ScoreHistogram()
    with pytest.raises(ValueError, match=r"edited-probabilities of 0\.\.1, got"):
        histogram.update([0.5, wrong, 0.7], [0, 1, 1])
    assert histogram.counts.sum() == 0
    histogram.update([0.5, wrong, 0.7], [0, 255, 1])
    assert histogram.counts.sum() == 2


def test_other_errors() -> None:
    with pytest.raises(ValueError, match="one shape"):
        ScoreHistogram().update([0.5], [0, 1])
    with pytest.raises(ValueError, match="bools or mask values"):
        ScoreHistogram().update([0.5], [0.0])
    with pytest.raises(ValueError, match="bools or mask values"):
        ScoreHistogram().update([0.5], [-1])
    with pytest.raises(ValueError, match="thresholds of"):
        ScoreHistogram([1.5])
    with pytest.raises(ValueError, match="same thresholds"):
        ScoreHistogram([0.5]).merge(ScoreHistogram())
    with pytest.raises(ValueError, match="Did you mean iou"):
        ScoreHistogram().best_threshold(objective="iuo")
