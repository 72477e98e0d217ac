from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensegm.datasets.split import assign_groups, split_counts

SHARES = (0.55, 0.15, 0.3)


def test_counts_by_hand():
    assert split_counts(3, SHARES) == [1, 1, 1]
    assert split_counts(9, SHARES) == [5, 1, 3]
    assert split_counts(20, SHARES) == [11, 3, 6]
    assert split_counts(4, (0.98, 0.01, 0.01)) == [2, 1, 1]
    assert split_counts(2, (0.5, 0.0, 0.5)) == [1, 0, 1]


@given(
    st.sets(st.text(max_size=5), min_size=3, max_size=60),
    st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20)),
    st.integers(0, 5),
)
def test_every_group_once_no_split_empty_any_order(names, parts, seed):
    shares = tuple(part / sum(parts) for part in parts)
    names = sorted(names)
    result = assign_groups(names, shares, seed=seed)
    assert set(result) == set(names)
    counts = Counter(result.values())
    assert set(counts) == {"train", "val", "test"}
    for split, share in zip(("train", "val", "test"), shares, strict=True):
        assert abs(counts[split] - share * len(names)) <= 2
    assert result == assign_groups([*names[::-1], names[0]], shares, seed=seed)


def test_the_seed_decides():
    names = [f"photo{number}" for number in range(12)]
    results = [assign_groups(names, SHARES, seed=seed) for seed in (0, 0, 1)]
    assert results[0] == results[1] != results[2]


@pytest.mark.parametrize("shares", [(0.5, 0.5, 0.5), (1.2, -0.1, -0.1), (0.5, 0.5)])
def test_impossible_shares(shares):
    with pytest.raises(ValueError, match="sum of 1"):
        assign_groups(["a", "b", "c"], shares, seed=0)


def test_too_few_groups():
    with pytest.raises(ValueError, match="at least 3 groups, one for each split to fill, got 2"):
        assign_groups(["a", "b", "a"], SHARES, seed=0)
