from collections import Counter

import pytest
from torch.utils.data import BatchSampler

from forensegm.datasets.sampler import EpochSampler


def order(sampler, epoch):
    sampler.set_epoch(epoch)
    assert {number for number, _ in sampler} == {epoch}
    return [item for _, item in sampler]


def test_each_item_once_and_each_epoch_another_order():
    sampler = EpochSampler(50, seed=3)
    first, second = order(sampler, 0), order(sampler, 1)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert order(EpochSampler(50, seed=3), 1) == second
    assert order(EpochSampler(50, seed=4), 1) != second
    assert len(sampler) == 50


def test_without_shuffling_items_come_in_order():
    assert list(EpochSampler(3, seed=0, shuffle=False)) == [(0, 0), (0, 1), (0, 2)]
    assert list(EpochSampler(0, seed=0)) == []


def test_weights():
    counts = Counter(order(EpochSampler(4000, seed=0, weights=[3.0, 1.0] * 2000), 0))
    even = sum(count for item, count in counts.items() if item % 2 == 0)
    assert even / 4000 == pytest.approx(0.75, abs=0.03)
    drawn = order(EpochSampler(4, seed=0, weights=[0, 0, 1, 0], shuffle=False), 5)
    assert drawn == [2, 2, 2, 2]


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.0, 0.0], [1.0, float("nan")]])
def test_wrong_weights(weights):
    with pytest.raises(ValueError, match="2 weights of 0 or more"):
        EpochSampler(2, seed=0, weights=weights)


def test_it_is_a_plain_sampler():
    batches = list(BatchSampler(EpochSampler(5, seed=0, shuffle=False), 2, drop_last=True))
    assert batches == [[(0, 0), (0, 1)], [(0, 2), (0, 3)]]
