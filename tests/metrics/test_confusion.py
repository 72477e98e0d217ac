"""Joint counts against a plain loop; ignored pixels, strips and wrong ids."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix
from torchmetrics.functional.classification import multiclass_confusion_matrix

from forensegm.metrics import confusion
from forensegm.metrics.confusion import (
    STRIP,
    Counts,
    as_class_map,
    binary_counts,
    check_same_shape,
    class_counts,
    confusion_counts,
)


def draw(seed: int, classes: int, hw: tuple[int, int] = (17, 23)) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    pred, target = rng.integers(0, classes, (2, *hw), dtype=np.uint8)
    target[rng.random(hw) < 0.1] = 255
    return pred, target


def test_by_hand() -> None:
    pred = np.array([[0, 1, 2, 2], [1, 1, 0, 2]], dtype=np.uint8)
    target = np.array([[0, 1, 1, 255], [0, 1, 2, 2]], dtype=np.uint8)
    assert confusion_counts(pred, target, 3).tolist() == [[1, 1, 0], [0, 2, 1], [1, 0, 1]]


@pytest.mark.parametrize("classes", [2, 3, 9, 16, 64, 255])
def test_against_scikit_learn_and_torchmetrics(classes: int) -> None:
    pred, target = draw(classes, classes)
    counts = confusion_counts(pred, target, classes)
    valid = target != 255
    assert counts.dtype == np.int64
    expected = confusion_matrix(target[valid], pred[valid], labels=range(classes))
    assert np.array_equal(counts, expected)
    other = multiclass_confusion_matrix(
        torch.from_numpy(pred).long(), torch.from_numpy(target).long(), classes, ignore_index=255
    )
    assert np.array_equal(counts, other.numpy())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 40), st.integers(1, 40))
def test_every_valid_pixel_is_counted_once(seed: int, classes: int, height: int, width: int) -> None:
    pred, target = draw(seed, classes, (height, width))
    counts = confusion_counts(pred, target, classes)
    valid = target != 255
    assert counts.sum() == valid.sum()
    assert np.array_equal(counts.sum(axis=1), np.bincount(target[valid], minlength=classes))
    assert np.array_equal(counts.sum(axis=0), np.bincount(pred[valid], minlength=classes))


def test_strips_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pred, target = draw(0, 5)
    whole = confusion_counts(pred, target, 5)
    monkeypatch.setattr(confusion, "STRIP", 7)
    assert np.array_equal(confusion_counts(pred, target, 5), whole)


def test_more_pixels_than_float32_can_count() -> None:
    target = np.zeros((4097, 4097), dtype=np.uint8)
    assert target.size > STRIP
    assert confusion_counts(target, target, 2)[0, 0] == target.size


def test_views_lists_and_other_integers_are_taken() -> None:
    pred, target = draw(1, 4)
    expected = confusion_counts(pred, target, 4)
    turned = confusion_counts(pred[::-1, ::-1], target[::-1, ::-1].astype(np.int64), 4)
    assert np.array_equal(turned, expected)
    assert np.array_equal(confusion_counts(pred.T, target.T, 4), expected)
    assert np.array_equal(confusion_counts(torch.from_numpy(pred), target.tolist(), 4), expected)


def test_prediction_under_ignored_pixels_does_not_matter() -> None:
    pred, target = np.array([[200, 1]], dtype=np.uint8), np.array([[255, 1]], dtype=np.uint8)
    assert confusion_counts(pred, target, 2).tolist() == [[0, 0], [0, 1]]
    assert confusion_counts(pred[:, :1], target[:, :1], 2).sum() == 0


@pytest.mark.parametrize(
    ("pred", "target", "message"),
    [
        ([[3]], [[0]], r"class map to hold ids of 0\.\.2, got 3"),
        ([[0]], [[7]], r"target to hold ids of 0\.\.2, got 7"),
        ([[0, 0]], [[0]], r"shape \[1, 1\], got \[1, 2\]"),
        ([[0.0]], [[0]], "class ids, got float64"),
        ([[300]], [[0]], "got 300"),
        ([[-1]], [[0]], "got -1"),
        ([0], [0], "to be HxW"),
    ],
)
def test_errors(pred: list, target: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        confusion_counts(pred, target, 3)


def test_binary_counts_are_the_folded_confusion() -> None:
    pred, target = draw(2, 5)
    counts = confusion_counts(pred, target, 5)
    expected = Counts(int(counts[0, 0]), int(counts[0, 1:].sum()), int(counts[1:, 0].sum()), int(counts[1:, 1:].sum()))
    assert binary_counts(pred > 0, target) == expected
    assert all(type(value) is int for value in binary_counts(pred > 0, target))


def test_class_counts_of_every_class_sum_to_all() -> None:
    counts = confusion_counts(*draw(3, 4), 4)
    for class_id in range(4):
        one = class_counts(counts, class_id)
        assert sum(one) == counts.sum()
        assert one.tp == counts[class_id, class_id]
        assert one.tp + one.fn == counts[class_id].sum()
        assert one.tp + one.fp == counts[:, class_id].sum()


def test_maps_are_contiguous_uint8() -> None:
    assert as_class_map(np.ones((2, 3), dtype=bool).T, name="x").flags.c_contiguous
    check_same_shape(np.zeros((2, 3)), np.zeros((2, 3), dtype=np.uint8), name="x")
