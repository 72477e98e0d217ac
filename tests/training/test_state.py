import json

import pytest
import torch

from forensegm.config import OptimConfig
from forensegm.models import create_model
from forensegm.training.ema import WeightAverage
from forensegm.training.schedule import make_optimizer
from forensegm.training.state import RunState, epoch_seed, read_state, restore_state, save_state


def make_parts(seed):
    torch.manual_seed(seed)
    model = create_model("smp:linknet/lcnet_035", classes=3, weights="none").to(memory_format=torch.channels_last)
    optimizer = make_optimizer(model, OptimConfig(), device=torch.device("cpu"))
    return {"model": model, "average": WeightAverage(model, decay=0.9), "optimizer": optimizer, "scaler": None}


def step(parts, seed):
    images = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(seed))
    parts["model"](images).square().mean().backward()
    parts["optimizer"].step()
    parts["optimizer"].zero_grad()
    parts["average"].update(parts["model"])


def tensors(parts):
    moments = parts["optimizer"].state_dict()["state"]
    slots = {f"{index}.{key}": value for index, slot in moments.items() for key, value in slot.items()}
    return {**parts["model"].state_dict(), **slots}, parts["average"].model.state_dict()


def assert_equal(first, second):
    for mine, other in zip(tensors(first), tensors(second), strict=True):
        assert mine.keys() == other.keys()
        assert all(torch.equal(mine[name], other[name]) for name in mine)


def test_restored_parts_go_on_bit_for_bit(tmp_path):
    first, second = make_parts(0), make_parts(1)
    step(first, 0)
    state = RunState(epoch=1, step=1, best={"value": 0.5}, skipped={"7": "truncated"}, labels=["telea"])
    save_state(tmp_path, state, **first)
    restore_state(tmp_path, **second)
    assert read_state(tmp_path) == state
    assert_equal(first, second)
    step(first, 5)
    step(second, 5)
    assert_equal(first, second)
    assert first["average"].updates == second["average"].updates == 2


def test_the_newer_state_replaces_the_older_one(tmp_path):
    parts = make_parts(0)
    for number in (1, 2):
        save_state(tmp_path, RunState(step=number), **parts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state.json", "tensors-00000002.safetensors"]


def test_a_kill_while_writing_leaves_the_older_state(tmp_path):
    parts = make_parts(0)
    save_state(tmp_path, RunState(epoch=1, step=1), **parts)
    (tmp_path / "tensors-00000002.safetensors").write_bytes(b"half a fi")
    assert read_state(tmp_path).epoch == 1
    restore_state(tmp_path, **parts)


def test_nothing_there_is_none(tmp_path):
    assert read_state(tmp_path / "absent") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 99, "run": {}}'])
def test_a_broken_json_is_one_clear_error(tmp_path, text):
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(ValueError, match=r"Expected a training state.*state\.json"):
        read_state(tmp_path)


@pytest.mark.parametrize("damage", ["truncated", "missing", "other model"])
def test_a_broken_tensor_file_is_one_clear_error(tmp_path, damage):
    parts = make_parts(0)
    save_state(tmp_path, RunState(step=3), **parts)
    path = tmp_path / "tensors-00000003.safetensors"
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:1000])
    elif damage == "missing":
        path.unlink()
    else:
        parts["model"] = create_model("smp:linknet/lcnet_035", classes=5, weights="none")
    with pytest.raises(ValueError, match=r"Expected the training state of this model, got .*00000003"):
        restore_state(tmp_path, **parts)


def test_state_is_plain(tmp_path):
    save_state(tmp_path, RunState(), **make_parts(0))
    groups = json.loads((tmp_path / "state.json").read_text())["param_groups"]
    assert len(groups) == 4


def test_epoch_seeds_differ():
    seeds = {epoch_seed(seed, epoch, rank) for seed in range(3) for epoch in range(5) for rank in range(2)}
    assert len(seeds) == 30
    assert epoch_seed(3, 1) == epoch_seed(3, 1)
