"""What an edit changed, by hand."""

import numpy as np
import pytest

from forensegm.edits.audit import Outcome, measure_change, summarize


def test_measure_by_hand():
    before = np.zeros((2, 2, 3), np.uint8)
    after = before.copy()
    after[0, 0] = (3, 0, 0)
    after[0, 1] = (255, 255, 255)
    after[1, 1] = (0, 6, 0)
    change = measure_change(before, after, np.array([[1, 1], [0, 0]], bool))
    assert change.changed.tolist() == [[True, True], [False, True]]
    assert (change.share_inside, change.share_outside) == (1.0, 0.5)
    assert (change.mean_inside, change.mean_outside) == (128.0, 1.0)
    assert change.did_something


def test_direction_does_not_matter_and_bytes_do_not_wrap():
    before, after = np.full((1, 1, 3), 200, np.uint8), np.full((1, 1, 3), 10, np.uint8)
    region = np.ones((1, 1), bool)
    assert measure_change(before, after, region).mean_inside == measure_change(after, before, region).mean_inside == 190


def test_full_region_has_no_outside():
    image = np.zeros((2, 2, 3), np.uint8)
    change = measure_change(image, image, np.ones((2, 2), bool))
    assert (change.share_outside, change.mean_outside) == (0.0, 0.0)
    assert not change.did_something


@pytest.mark.parametrize(
    ("pixels", "step", "counts"), [(100, 1, True), (100, 0, False), (4, 100, False), (49, 1, False)]
)
def test_what_counts_as_an_edit(pixels, step, counts):
    before = np.zeros((10, 10, 3), np.uint8)
    after = before.copy()
    after.reshape(-1, 3)[:pixels] = step
    assert measure_change(before, after, np.ones((10, 10), bool)).did_something == counts


def test_summary_by_hand():
    outcomes = [
        Outcome("a", True, 1, 2.0),
        Outcome("a", True, 3, 4.0),
        Outcome("a", False, 4, 0.1),
        Outcome("b", False, 4, 0),
    ]
    assert summarize(outcomes) == {
        "a": {"accepted": 2, "retries": 5, "dropped": 1, "mean_change_inside": 3.0},
        "b": {"accepted": 0, "retries": 3, "dropped": 1, "mean_change_inside": 0.0},
    }
    assert summarize(reversed(outcomes)) == summarize(outcomes)
    assert summarize([]) == {}
