"""Poolings by hand and as a contract over the whole table; editors pooled from class probabilities."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from scipy.special import logsumexp

from forensegm.pooling import POOLINGS, dominant_editor, editor_scores, pool_all, pool_mask
from forensegm.sample import LabelSpace

LABELS = LabelSpace(("telea", "copy_move", "splice"))


def draw(seed: int, hw: tuple[int, int] = (19, 27)) -> np.ndarray:
    return np.random.default_rng(seed).random(hw, dtype=np.float32) ** 3


@pytest.mark.parametrize("method", POOLINGS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), height=st.integers(1, 30), width=st.integers(1, 30))
def test_contract(method: str, seed: int, height: int, width: int) -> None:
    prob = draw(seed, (height, width))
    before = prob.copy()
    score = pool_mask(prob, method)
    assert type(score) is float
    assert 0 <= score <= 1
    assert np.array_equal(prob, before)
    assert pool_mask(prob[::-1, ::-1], method) == pytest.approx(score, abs=1e-6)
    assert pool_mask(np.sqrt(prob), method) >= score - 1e-6  # never falls where no pixel falls
    assert score == pool_all(prob)[method]
    assert POOLINGS[method].__doc__


@pytest.mark.parametrize("method", POOLINGS)
def test_contract_ends(method: str) -> None:
    assert pool_mask(np.zeros((9, 9)), method) == 0.0
    assert pool_mask(np.ones((9, 9)), method) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("method", POOLINGS)
@pytest.mark.parametrize("junk", [0.0, 1.0, np.nan, -7.0])
def test_contract_what_is_not_valid_does_not_count(method: str, junk: float) -> None:
    prob = draw(0)
    padded = np.pad(prob, ((0, 6), (0, 4)), constant_values=junk)
    valid = np.pad(np.ones_like(prob, dtype=bool), ((0, 6), (0, 4)))
    assert pool_mask(padded, method, valid=valid) == pytest.approx(pool_mask(prob, method), abs=1e-6)
    assert pool_all(padded, valid=valid)[method] == pool_mask(padded, method, valid=valid)


def test_case_30_by_hand(shared: Path) -> None:
    folder = shared / "cases" / "30_pooling_any_pixel"
    maps, expected = np.load(folder / "maps.npz"), json.loads((folder / "expected.json").read_text())
    for method, key in (("max", "max"), ("mean", "mean"), ("area", "area_ge_half")):
        scores = [pool_mask(maps[name], method) for name in expected["order"]]
        assert scores == pytest.approx(expected[key], abs=1e-6), method


@pytest.mark.parametrize("method", ["topk_mean", "area", "mean", "logsumexp", "largest_component"])
def test_case_30_one_hot_pixel_does_not_condemn(shared: Path, method: str) -> None:
    maps = np.load(shared / "cases" / "30_pooling_any_pixel" / "maps.npz")
    one, edited = pool_mask(maps["one_pixel"], method), pool_mask(maps["area5"], method)
    assert one < 0.5
    assert one < edited
    assert pool_mask(maps["one_pixel"], "any") == 1.0


def test_by_hand() -> None:
    prob = np.array([[0.0, 0.5, 0.5], [0.0, 0.0, 0.0], [0.8, 0.0, 0.0]])
    assert pool_mask(prob, "area") == 3 / 9
    assert pool_mask(prob, "area", threshold=0.6) == 1 / 9
    assert pool_mask(prob, "largest_component") == 2 / 9
    assert pool_mask(prob, "topk_mean", share=0.3, at_least=1) == pytest.approx(1.8 / 3)
    assert pool_mask(prob, "topk_mean") == pytest.approx(1.8 / 4)
    assert pool_mask(prob, "any", threshold=0.9) == 0.0
    assert pool_mask(np.eye(3), "largest_component") == 3 / 9  # touching corners are connected


@pytest.mark.parametrize("sharpness", [0.5, 10.0, 200.0])
def test_logsumexp_against_scipy(sharpness: float) -> None:
    prob = draw(1)
    expected = logsumexp(sharpness * prob.astype(np.float64), b=1 / prob.size) / sharpness
    assert pool_mask(prob, "logsumexp", sharpness=sharpness) == pytest.approx(expected, abs=1e-6)
    assert prob.mean() <= expected <= prob.max()


def test_largest_component_against_scipy() -> None:
    prob = draw(2, (60, 60))
    labels, count = ndimage.label(prob >= 0.3, structure=np.ones((3, 3)))
    largest = max(int((labels == number).sum()) for number in range(1, count + 1))
    assert pool_mask(prob, "largest_component", threshold=0.3) == largest / prob.size


def test_topk_mean_against_sorting() -> None:
    prob = draw(3, (50, 50))
    assert pool_mask(prob, "topk_mean") == pytest.approx(np.sort(prob.ravel())[-25:].mean())


def test_own_functions_lists_and_tensors_are_taken() -> None:
    def own(prob: np.ndarray, valid: np.ndarray | None, *, power: int) -> float:
        assert valid is None
        return float((prob**power).sum())

    assert pool_mask([[0.0, 0.5]], own, power=2) == 0.25
    prob = draw(4)
    assert pool_all(torch.from_numpy(prob)) == pool_all(prob.tolist())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pool_mask(draw(0), "top_mean"), "Did you mean topk_mean"),
        (lambda: pool_mask(draw(0) + 1), r"edited-probabilities of 0\.\.1"),
        (lambda: pool_mask(np.full((2, 2), np.nan)), "got nan"),
        (lambda: pool_mask(np.zeros(4)), "HxW"),
        (lambda: pool_mask(np.zeros((0, 4))), "at least one valid pixel"),
        (lambda: pool_mask(np.zeros((2, 2)), valid=np.zeros((2, 2))), "at least one valid pixel"),
        (lambda: pool_all(np.zeros((2, 2)), valid=np.ones((2, 3))), r"map's size \[2, 2\], got \[2, 3\]"),
        (lambda: pool_mask(draw(0), "topk_mean", share=0.0), "share of"),
        (lambda: pool_mask(draw(0), "logsumexp", sharpness=-1.0), "sharpness above 0"),
        (lambda: editor_scores(np.zeros((3, 2, 2)), LABELS), r"4xHxW, got \[3, 2, 2\]"),
        (lambda: editor_scores(np.zeros((4, 2, 2)), LABELS, flagged=np.ones((2, 3))), "map's size"),
        (lambda: editor_scores(np.full((4, 2, 2), np.nan), LABELS), "got a sum of nan"),
        (lambda: dominant_editor([[4]], LABELS), r"ids of 0\.\.3, got 4"),
        (lambda: dominant_editor([[-1]], LABELS), "got -1"),
        (lambda: dominant_editor([[0.5]], LABELS), "integer ids"),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_rounding_beyond_the_ends_is_cut() -> None:
    assert pool_mask(np.full((3, 3), 1 + 1e-7, dtype=np.float32), "max") == 1.0


def softmax(seed: int) -> np.ndarray:
    logits = np.random.default_rng(seed).normal(size=(4, 8, 9))
    return (np.exp(logits) / np.exp(logits).sum(axis=0)).astype(np.float32)


def test_editor_scores_by_hand() -> None:
    probs = np.array([[[0.2, 1.0]], [[0.6, 0.0]], [[0.2, 0.0]], [[0.0, 0.0]]])
    flagged = np.array([[True, False]])
    assert editor_scores(probs, LABELS, flagged=flagged) == pytest.approx(
        {"telea": 0.75, "copy_move": 0.25, "splice": 0.0}
    )
    nothing = editor_scores(probs, LABELS, flagged=np.array([[False, False]]))
    assert nothing == editor_scores(probs, LABELS)
    assert editor_scores(np.eye(4)[:1].repeat(4, axis=0).T[:, None], LABELS) == dict.fromkeys(LABELS.editors, 1 / 3)


@pytest.mark.parametrize("seed", range(5))
def test_editor_scores_sum_to_one_and_follow_the_classes(seed: int) -> None:
    probs, flagged = softmax(seed), draw(seed, (8, 9)) > 0.2
    scores = editor_scores(probs, LABELS, flagged=flagged)
    assert sum(scores.values()) == pytest.approx(1)
    assert editor_scores(torch.from_numpy(probs), LABELS, flagged=flagged.tolist()) == scores
    renamed = editor_scores(probs[[0, 3, 1, 2]], LabelSpace(("splice", "telea", "copy_move")), flagged=flagged)
    assert renamed == scores
    padded = np.pad(probs, ((0, 0), (0, 2), (0, 0)), constant_values=np.nan)
    valid = np.pad(np.ones((8, 9), dtype=bool), ((0, 2), (0, 0)))
    assert editor_scores(padded, LABELS, flagged=valid, valid=valid) == pytest.approx(editor_scores(probs, LABELS))


def test_dominant_editor_by_hand() -> None:
    assert dominant_editor([[0, 2, 2, 1]], LABELS) == "copy_move"
    assert dominant_editor([[3, 1, 255, 255]], LABELS) == "telea"  # a tie goes to the lower id
    assert dominant_editor(np.zeros((2, 2), dtype=np.uint8), LABELS) is None
    assert dominant_editor([[255]], LABELS) is None


def test_dominant_editor_is_forced_only_where_scores_are_given() -> None:
    scores = {"splice": 0.45, "telea": 0.1, "copy_move": 0.45}
    assert dominant_editor([[0, 0]], LABELS, scores=scores) == "copy_move"
    assert dominant_editor([[0, 1]], LABELS, scores=scores) == "telea"
    assert dominant_editor([[0, 0]], LABELS, scores={}) is None
