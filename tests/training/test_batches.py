import shutil
from dataclasses import replace

import pytest
import torch

from forensegm.datasets.records import Edit, read_records, write_records
from forensegm.datasets.torch_dataset import EpochSampler
from forensegm.training.batches import RankSampler, make_batches, to_device, windows
from forensegm.training.parts import build_parts


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


def test_the_outside_of_regenerated_edits_is_left_out_of_training_when_asked(tiny, tmp_path, make_config):
    root = tmp_path / "regenerated"
    shutil.copytree(tiny, root)
    code = {"size": [48, 48], "counts": "0`U1"}
    edit = Edit(1, "telea", "change", "Change it.", 1, {}, "regenerate", code, 1.0, 1.0)
    write_records(root, [replace(record, edits=[edit] if int(record.id) % 3 else []) for record in read_records(root)])
    options = {"data.source": f"native:{root}", "data.batch_size": 8, "data.keep_edits": 0.0, "data.crop": 0}
    values = {}
    for choice in ("keep", "ignore"):
        config = make_config(**options, **{"data.regenerated_outside": choice})
        loader, _ = make_batches(config, build_parts(config))
        (batch,) = loader
        edited = (batch["masks"] % 255 > 0).flatten(1).any(1)
        values[choice] = {int(one) for one in batch["masks"][edited].unique()}
        assert set(batch["masks"][~edited].unique().tolist()) == {0}  # authentic images stay as they are
    assert values == {"keep": {0, 1, 2}, "ignore": {1, 2, 255}}
