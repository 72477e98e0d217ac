import pytest
import torch

from forensegm.datasets.torch_dataset import EpochSampler
from forensegm.training.batches import RankSampler, to_device, windows


@pytest.mark.parametrize(("length", "world", "batch"), [(12, 1, 4), (13, 1, 4), (13, 2, 3), (5, 2, 3), (24, 3, 2)])
def test_ranks_share_an_epoch_without_doubles(length, world, batch):
    shares = []
    for rank in range(world):
        sampler = RankSampler(EpochSampler(length, seed=1), batch_size=batch, rank=rank, world=world)
        sampler.set_epoch(3)
        shares.append(list(sampler))
        assert len(sampler) == len(shares[-1]) == length // (batch * world) * batch
    indices = [index for share in shares for index in share]
    assert len(indices) == len(set(indices))
    order = EpochSampler(length, seed=1)
    order.set_epoch(3)
    assert set(indices) == set(list(order)[: len(indices)])


def test_windows():
    assert list(windows([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]
    assert list(windows([], 2)) == []


def test_to_device_scales_to_one_and_keeps_masks():
    batch = {"images": torch.tensor([[[[0, 255]]] * 3], dtype=torch.uint8), "masks": torch.zeros(1, 1, 2).byte()}
    images, masks = to_device(batch, torch.device("cpu"))
    assert images.dtype == torch.float32
    assert images[0, 0, 0].tolist() == [0.0, 1.0]
    assert masks.dtype == torch.uint8
