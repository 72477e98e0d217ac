"""The moving parts of a run, and how they are put together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import yaml
from accelerate import Accelerator
from accelerate.state import AcceleratorState, PartialState
from torch.utils.data import DataLoader

from forensegm.config import Config
from forensegm.imageio import write_text_atomic
from forensegm.models.precision import resolve_device, resolve_precision
from forensegm.training.batches import RankSampler, make_batches
from forensegm.training.ema import WeightAverage
from forensegm.training.parts import LAST, Parts, items_digest
from forensegm.training.schedule import BufferSnapshot, make_optimizer
from forensegm.training.state import RunState, restore_state, save_state
from forensegm.training.tracking import Background, JsonlTracker, MultiTracker, Tracker
from forensegm.training.wandb_tracker import WandbTracker, new_run_id, wandb_mode

logger = logging.getLogger(__name__)

LOG = "log.jsonl"
CONFIG = "config.yaml"

# Other processes wait while the first one validates; the default of ten minutes is too short for that.
PROCESS_TIMEOUT = timedelta(hours=3)
ACCELERATE_PRECISION = {"fp32": "no", "bf16": "bf16", "fp16": "fp16"}

Progress = Callable[[str, int, int, str], None]


@dataclass
class Run:
    """What the functions of the loop share.

    Attributes:
        config: the whole configuration.
        parts: data, loss, and the bare model (the one whose weights are trained).
        accelerator: device, precision and distribution.
        model: the model to call in training, as Accelerate wraps it.
        optimizer: the optimizer, as Accelerate wraps it.
        average: the weights that are validated and saved.
        snapshot: buffers to go back to after a bad step.
        loader: batches of this process.
        sampler: their order.
        state: counters and history.
        tracker: where figures go; nowhere in any process but the first.
        progress: where the user sees them.
        bad_ids: item ids of the latest steps in a row without a finite loss.
    """

    config: Config
    parts: Parts
    accelerator: Accelerator
    model: torch.nn.Module
    optimizer: torch.optim.Optimizer
    average: WeightAverage
    snapshot: BufferSnapshot
    loader: DataLoader[Any]
    sampler: RankSampler
    state: RunState
    tracker: MultiTracker
    progress: Progress
    bad_ids: list[list[str]] = field(default_factory=list)

    @property
    def total_steps(self) -> int:
        """Optimizer steps of the whole run."""
        batches = len(self.sampler) // self.config.data.batch_size
        return -(-batches // self.config.optim.accumulate) * self.config.train.epochs

    @property
    def warmup_steps(self) -> int:
        """Steps over which the learning rate rises."""
        return round(self.config.optim.warmup * self.total_steps)

    @property
    def saved_parts(self) -> dict[str, Any]:
        """What `save_state` and `restore_state` take beside the counters."""
        return {
            "model": self.parts.model,
            "average": self.average,
            "optimizer": self.optimizer,
            "scaler": self.accelerator.scaler,
        }


def start(config: Config, parts: Parts, *, progress: Progress) -> Run:
    """Put model and optimizer on their device, restore an earlier state, and open the log."""
    accelerator = make_accelerator(config)
    model = parts.model.to(accelerator.device).to(memory_format=torch.channels_last)
    average = WeightAverage(model, decay=config.optim.ema)
    optimizer = make_optimizer(model, config.optim, device=accelerator.device)
    prepared, prepared_optimizer = accelerator.prepare(model, optimizer)
    loader, sampler = make_batches(config, parts, rank=accelerator.process_index, world=accelerator.num_processes)
    run = Run(
        config=config,
        parts=parts,
        accelerator=accelerator,
        model=prepared,
        optimizer=prepared_optimizer,
        average=average,
        snapshot=BufferSnapshot(model),
        loader=loader,
        sampler=sampler,
        state=parts.resumed or new_state(config, parts),
        tracker=MultiTracker({}),
        progress=progress if accelerator.is_main_process else silent,
    )
    if parts.resumed:
        restore_state(Path(config.train.out) / LAST, **run.saved_parts)
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        open_folder(run)
    return run


def open_folder(run: Run) -> None:
    """Write the configuration and the first state, and start tracking."""
    out, config, state = Path(run.config.train.out), run.config, run.state
    out.mkdir(parents=True, exist_ok=True)
    write_text_atomic(out / CONFIG, yaml.safe_dump(config.to_dict(), sort_keys=False, allow_unicode=True))
    if not run.parts.resumed:
        # There is something to resume from the first moment: a run killed in its first epoch is no special case.
        save_state(out / LAST, state, **run.saved_parts)
    trackers: dict[str, Tracker] = {"log.jsonl": JsonlTracker(out / LOG, resume_step=state.step)}
    mode = wandb_mode(config.track.wandb)
    if mode != "off":
        trackers["wandb"] = Background(
            lambda: WandbTracker(config.track, out=out, run_id=state.run_id, settings=config.to_dict()), name="wandb"
        )
    run.tracker = MultiTracker(trackers)


def new_state(config: Config, parts: Parts) -> RunState:
    """Return the state of a run that has not begun."""
    return RunState(
        run_id=new_run_id(),
        config=config.to_dict(),
        labels=list(parts.labels.editors),
        items=items_digest(parts.train),
    )


def make_accelerator(config: Config) -> Accelerator:
    """Accelerate for the device at hand and the precision asked for.

    Accelerate keeps its precision for the whole process and refuses another one; a process that trains twice (the
    tests, a notebook) must be free to choose, so that memory is cleared, as transformers does it too. The process
    group stays.
    """
    on_cpu = resolve_device("auto").type == "cpu"  # Accelerate joins processes on CPUs only when told so
    device = PartialState(cpu=on_cpu, timeout=PROCESS_TIMEOUT).device
    AcceleratorState._reset_state()
    precision = ACCELERATE_PRECISION[resolve_precision(config.train.precision, device)]
    return Accelerator(mixed_precision=precision, cpu=on_cpu)


@contextmanager
def cpu_threads(count: int) -> Iterator[None]:
    """Let torch use `count` CPU threads for a while; 0 = leave it."""
    before = torch.get_num_threads()
    try:
        if count:
            torch.set_num_threads(count)
        yield
    finally:
        torch.set_num_threads(before)


def silent(stage: str, done: int, total: int, info: str) -> None:
    """Report progress to nobody."""
