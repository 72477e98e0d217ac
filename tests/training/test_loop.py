import json
import logging
import math
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file

from forensegm.checkpoint import load_checkpoint
from forensegm.config import Config
from forensegm.training import read_log, train
from forensegm.training.loop import train_step
from forensegm.training.parts import build_parts
from forensegm.training.run import silent, start

TIMES = ("train/images_per_second", "train/data_wait")


class Killed(BaseException):
    """Stands for a kill: nothing in the library catches it."""


def kill_at(step):
    """A progress callable that kills the run when it reports a training step."""

    def progress(stage, done, _total, _info):
        if stage == "train" and done == step:
            raise Killed

    return progress


def figures(rows):
    """Rows without what a clock decides."""
    return [{key: value for key, value in row.items() if key not in TIMES} for row in rows]


def tensors(config):
    """Every tensor of the last training state."""
    (path,) = (config_out(config) / "last").glob("*.safetensors")
    return load_file(path)


def config_out(config):
    return Path(config.train.out)


def assert_same_run(one, other):
    """Losses, rates, figures, best, item order (through the losses) and every tensor are the same bits."""
    assert figures(read_log(config_out(one) / "log.jsonl")) == figures(read_log(config_out(other) / "log.jsonl"))
    mine, theirs = tensors(one), tensors(other)
    assert mine.keys() == theirs.keys()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """One thread: bit equality is promised for a fixed number of them, and small crops are faster so."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_validation_where_it_is_due_and_always_at_the_end(make_config):
    config = make_config(**{"train.epochs": 3, "train.validate_every": 2})
    history = train(config).history
    assert ["val/pixel.binary.ap" in row for row in history] == [False, True, True]
    assert all("train/epoch_loss" in row for row in history)


def test_it_leaves_a_checkpoint_a_log_a_card_and_its_configuration(make_config):
    seen = []
    config = make_config()
    result = train(config, progress=lambda *event: seen.append(event))
    assert [row["epoch"] for row in result.history] == [1, 2]
    assert result.checkpoint == result.out / "checkpoint"
    assert result.best["metric"] == config.train.metric
    assert result.best["value"] == max(row["val/pixel.binary.ap"] for row in result.history)
    rows = read_log(result.out / "log.jsonl")
    steps = [row for row in rows if "train/loss" in row]
    assert [row["step"] for row in steps] == [1, 2, 3, 4]
    assert all(
        {"epoch", "train/lr", "train/grad_norm", "train/cross_entropy", "train/dice"} <= set(row) for row in steps
    )
    assert Config.from_dict(yaml.safe_load((result.out / "config.yaml").read_text())) == config
    checkpoint = load_checkpoint(result.checkpoint)
    assert checkpoint.labels.editors == ("telea", "copy_move")
    assert checkpoint.thresholds == result.best["thresholds"]
    card = (result.checkpoint / "MODEL_CARD.md").read_text()
    for text in ("| 2 | copy_move |", "| train | 8 | 8 |", "## Limits", "smp:linknet/lcnet_035"):
        assert text in card
    stages = {stage for stage, *_ in seen}
    assert stages == {"train", "validate"}
    assert [done for stage, done, total, _ in seen if stage == "train" and total == 4] == [1, 2, 3, 4]
    assert "images/s, data wait" in seen[0][3]


def test_it_learns(make_config):
    config = make_config(**{"train.epochs": 12, "optim.lr": 3e-3, "augment.distort": 0.0})
    losses = [row["train/epoch_loss"] for row in train(config).history]
    assert losses[-1] < 0.8 * losses[0]


def test_equal_seeds_give_equal_runs_for_any_number_of_workers(make_config, tmp_path):
    one, two = (make_config(**{"train.out": str(tmp_path / name)}) for name in ("one", "two"))
    two.data.workers = 2
    train(one)
    train(two)
    assert_same_run(one, two)
    other = make_config(**{"train.out": str(tmp_path / "other"), "train.seed": 1})
    train(other)
    mine, theirs = tensors(one), tensors(other)
    assert not all(torch.equal(mine[name], theirs[name]) for name in mine)


@pytest.mark.parametrize("killed_at", [3, 5])
def test_case_36_a_killed_and_resumed_run_equals_the_uninterrupted_one(make_config, tmp_path, killed_at):
    whole = make_config(**{"train.out": str(tmp_path / "whole"), "train.epochs": 4})
    train(whole)
    broken = make_config(**{"train.out": str(tmp_path / "broken"), "train.epochs": 4})
    with pytest.raises(Killed):
        train(broken, progress=kill_at(killed_at))
    broken.train.resume = True
    result = train(broken)
    assert_same_run(whole, broken)
    assert len(result.history) == 4
    again = train(broken)
    assert again.history == result.history
    assert again.best == result.best


def test_a_finished_run_is_not_overwritten(make_config):
    config = make_config(**{"train.epochs": 1})
    train(config)
    before = (config_out(config) / "log.jsonl").read_text()
    with pytest.raises(ValueError, match=r"holds a run \(finished epochs: 1\)\. Continue it with train\.resume=true"):
        train(config)
    assert (config_out(config) / "log.jsonl").read_text() == before


def test_accumulation_without_average_or_clipping(make_config):
    config = make_config(**{"data.batch_size": 2, "optim.accumulate": 3, "optim.ema": 0.0, "optim.clip": 0.0})
    result = train(config)
    assert [row["step"] for row in result.history] == [2, 4]


def test_bf16_after_fp32_in_one_process(make_config):
    result = train(make_config(**{"train.epochs": 1, "train.precision": "bf16"}))
    assert math.isfinite(result.history[0]["train/epoch_loss"])


def test_unreadable_items_are_skipped_counted_and_named(make_config, broken_data, caplog):
    root = broken_data(1)
    with caplog.at_level(logging.WARNING):
        result = train(make_config(**{"data.source": f"native:{root}"}))
    assert [item for item, _ in result.skipped] == ["00"]
    assert "00.png" in result.skipped[0][1]
    assert sum("Skipped 00" in record.getMessage() for record in caplog.records) == 1
    assert json.loads((result.out / "last" / "state.json").read_text())["run"]["skipped"] == dict(result.skipped)


def test_nothing_readable_is_an_error_that_names_files(make_config, broken_data):
    root = broken_data(8)
    with pytest.raises(RuntimeError, match=r"Expected readable training images, got 8 unreadable.*0\d\.png"):
        train(make_config(**{"data.source": f"native:{root}"}))


@pytest.fixture
def run(make_config):
    config = make_config(**{"train.max_bad_steps": 2})
    run = start(config, build_parts(config), progress=silent)
    yield run
    run.tracker.finish()


def test_case_34_a_bad_step_leaves_no_trace(run):
    first, second = list(run.loader)
    train_step(run, [first])
    poisoned = next(iter(run.parts.model.encoder_parameters()))
    healthy = poisoned.detach().clone()
    poisoned.data.fill_(math.inf)
    before = {name: value.clone() for name, value in run.parts.model.state_dict().items()}
    average = {name: value.clone() for name, value in run.average.model.state_dict().items()}
    values = train_step(run, [second])
    assert not math.isfinite(values["train/loss"])
    assert all(torch.equal(value, before[name]) for name, value in run.parts.model.state_dict().items())
    assert all(torch.equal(value, average[name]) for name, value in run.average.model.state_dict().items())
    poisoned.data.copy_(healthy)
    assert math.isfinite(train_step(run, [second])["train/loss"])
    assert (run.state.bad_steps, run.bad_ids) == (1, [])


def test_too_many_in_a_row_stop_the_run_and_name_the_items(run):
    first, second = list(run.loader)
    next(iter(run.parts.model.encoder_parameters())).data.fill_(math.nan)
    train_step(run, [first])
    with pytest.raises(RuntimeError, match=r"got 2 steps in a row.*00, 01, 02, 03, 04, 05, 06, 07"):
        train_step(run, [second])


def test_a_batch_without_a_valid_pixel_is_counted_and_moves_no_statistics_to_nan(run):
    batch = next(iter(run.loader))
    batch["masks"].fill_(255)
    assert train_step(run, [batch])["train/loss"] == 0.0
    assert (run.state.empty_batches, run.state.bad_steps) == (1, 0)
