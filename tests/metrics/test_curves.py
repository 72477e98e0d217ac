"""Areas and thresholds from counts by score."""

import numpy as np
import pytest

from forensegm.metrics.curves import OBJECTIVES, ap_of_counts, auc_of_counts, best_entry, flagged_at_least


def counts(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_by_hand() -> None:
    negatives, positives = counts(2, 1, 1), counts(0, 1, 3)
    # of 16 pairs, 8 + 3 are right below, and 1 + 3 are tied
    assert auc_of_counts(negatives, positives) == ((2 + 0.5) + 3 * (3 + 0.5)) / 16
    assert ap_of_counts(negatives, positives) == pytest.approx(0.75 * 3 / 4 + 0.25 * 4 / 6)
    assert flagged_at_least(positives).tolist() == [4, 4, 3]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_entries_without_items_are_no_candidates(objective: str) -> None:
    assert best_entry(counts(5, 0, 0, 0), counts(0, 0, 0, 5), objective) == 3
    assert best_entry(counts(0, 5, 0, 0, 0), counts(0, 0, 5, 0, 0), objective) == 2


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_one_class_or_nothing(objective: str) -> None:
    assert best_entry(counts(1, 2), counts(0, 0), objective) is None
    assert best_entry(counts(0, 0), counts(1, 2), objective) is None
    assert best_entry(counts(), counts(), objective) is None
    assert auc_of_counts(counts(), counts()) is None
    assert ap_of_counts(counts(1), counts(0)) is None


def test_ties_go_to_the_highest_score() -> None:
    # flagging from entry 1 and from entry 3 on have the same balanced accuracy
    assert best_entry(counts(1, 0, 1, 0), counts(0, 1, 0, 1), "balanced_accuracy") == 3


def test_counts_beyond_64_bits_of_their_product() -> None:
    many = 10**12
    assert best_entry(counts(many, 1, 0), counts(0, 1, many), "balanced_accuracy") == 2
    assert auc_of_counts(counts(many, 0), counts(0, many)) == 1.0
