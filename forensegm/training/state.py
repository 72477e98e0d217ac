"""Everything a stopped run needs to go on as if it had never stopped, without a pickle.

`<out>/last/state.json` holds counters, history and settings; it names the safetensors file with the weights, their
average and the optimizer's moments. The tensors are written first and the JSON replaces its predecessor in one step,
so a kill at any moment leaves one whole state. The learning rate is a function of the step and every epoch starts
from a seed of its own (see `epoch_seed`), so neither a scheduler nor random states have to be kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from forensegm.imageio import write_json
from forensegm.training.ema import WeightAverage

FORMAT = 1
STATE = "state.json"


@dataclass
class RunState:
    """The plain part of a training state.

    Attributes:
        epoch: finished epochs.
        step: finished optimizer steps, skipped ones included.
        bad_steps: steps skipped so far because their loss or gradient was not finite.
        empty_batches: batches so far without a single valid pixel.
        skipped: reason by id of every unreadable item met so far.
        best: the kept checkpoint's epoch, step, metric, value, thresholds and metrics; None before the first.
        history: one row per finished epoch.
        run_id: the wandb run.
        config: the configuration the run was started with.
        labels: editor names.
        items: digest of the training items' ids.
    """

    epoch: int = 0
    step: int = 0
    bad_steps: int = 0
    empty_batches: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    best: dict[str, Any] | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    run_id: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    items: str = ""


def epoch_seed(seed: int, epoch: int, rank: int = 0) -> int:
    """Seed of torch's generators (dropout, drop path) for one epoch of one process: 32 bits from all three numbers."""
    return int(np.random.SeedSequence((seed, epoch, rank)).generate_state(1)[0])


def read_state(folder: Path) -> RunState | None:
    """Read the plain part; None where there is none. Raises ValueError for one that cannot be used."""
    path = folder / STATE
    if not path.is_file():
        return None
    values = read_json(path)
    return RunState(**{key: value for key, value in values["run"].items() if key in RunState.__dataclass_fields__})


def read_json(path: Path) -> dict[str, Any]:
    """Read state.json and check that it is one of ours."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        known = values["format"] == FORMAT and isinstance(values["run"], dict)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"Expected a training state, got a broken {path} ({error}). Start a new run.") from error
    if not known:
        raise ValueError(f"Expected a training state of format {FORMAT}, got {values['format']} in {path}.")
    return values  # type: ignore[no-any-return]


def save_state(
    folder: Path,
    state: RunState,
    *,
    model: nn.Module,
    average: WeightAverage,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler | None,
) -> None:
    """Write the whole state to `folder`, replacing the one before it only when it is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    moments = optimizer.state_dict()
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"average.{name}": value for name, value in average.model.state_dict().items()}
    tensors |= {
        f"optimizer.{index}.{key}": value for index, slots in moments["state"].items() for key, value in slots.items()
    }
    file = f"tensors-{state.step:08d}.safetensors"
    save_file({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, folder / file)
    values = {
        "format": FORMAT,
        "tensors": file,
        "average_updates": average.updates,
        "param_groups": moments["param_groups"],
        "scaler": scaler.state_dict() if scaler else None,
        "run": asdict(state),
    }
    write_json(folder / STATE, values)
    for old in folder.glob("tensors-*.safetensors"):
        if old.name != file:
            old.unlink()


def restore_state(
    folder: Path,
    *,
    model: nn.Module,
    average: WeightAverage,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler | None,
) -> None:
    """Put the saved tensors back into freshly built parts of the same configuration.

    Raises:
        ValueError: a tensor file that is missing, truncated, or of another model.
    """
    values = read_json(folder / STATE)
    path = folder / str(values["tensors"])
    try:
        tensors = load_file(path)
        model.load_state_dict(part(tensors, "model."))
        average.model.load_state_dict(part(tensors, "average."))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ValueError(f"Expected the training state of this model, got {path}: {error}. Start a new run.") from error
    average.updates = int(values["average_updates"])
    restore_moments(optimizer, part(tensors, "optimizer."), values["param_groups"])
    if scaler and values["scaler"]:
        scaler.load_state_dict(values["scaler"])


def part(tensors: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    """Entries whose name starts with `prefix`, without it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def restore_moments(
    optimizer: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor], groups: list[dict[str, Any]]
) -> None:
    """Load the optimizer's tensors, laid out in memory as its parameters are.

    safetensors keeps values, not strides; a fused step over mixed strides would take another path than before.
    """
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    slots: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        index, key = name.split(".", maxsplit=1)
        like = parameters[int(index)]
        if value.shape == like.shape:
            value = torch.empty_like(like, requires_grad=False).copy_(value)
        slots.setdefault(int(index), {})[key] = value
    for group in groups:
        group["betas"] = tuple(group["betas"])
    optimizer.load_state_dict({"state": slots, "param_groups": groups})
