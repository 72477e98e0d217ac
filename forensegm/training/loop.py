"""The training loop, to be read from `train` down."""

from __future__ import annotations

import logging
import math
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import set_seed

from forensegm.config import Config
from forensegm.datasets.torch_dataset import Batch
from forensegm.sample import IGNORE
from forensegm.training.batches import to_device, windows
from forensegm.training.meter import Meter
from forensegm.training.parts import CHECKPOINT, LAST, build_parts
from forensegm.training.run import Progress, Run, cpu_threads, silent, start
from forensegm.training.schedule import lr_factor, set_lr
from forensegm.training.state import epoch_seed, read_state, save_state
from forensegm.training.validation import validate

logger = logging.getLogger(__name__)


@dataclass
class TrainResult:
    """What a run left behind.

    Attributes:
        out: the run's folder.
        checkpoint: folder of the kept checkpoint.
        best: the kept checkpoint's epoch, step, metric, value, thresholds and validation figures.
        history: one row per epoch, as in log.jsonl.
        skipped: (id, reason) of every unreadable training item.
        bad_steps: steps skipped because their loss or gradient was not finite.
    """

    out: Path
    checkpoint: Path
    best: dict[str, Any]
    history: list[dict[str, Any]]
    skipped: list[tuple[str, str]] = field(default_factory=list)
    bad_steps: int = 0


def train(config: Config, *, progress: Progress | None = None) -> TrainResult:
    """Train a network, keep its best checkpoint by validation, and leave a run that can be resumed.

    `config.train.out` receives `checkpoint/` (see `forensegm.checkpoint`), `last/` (the training state after the last
    finished epoch), `log.jsonl`, `config.yaml` and, unless switched off, `wandb/`. On a CPU two runs of one
    configuration give the same weights at the same thread count, and a stopped and resumed run gives those of an
    uninterrupted one. Started by `torchrun` or `accelerate launch` it trains in several processes.

    Args:
        config: the sections data, model, loss, optim, augment, train, track and evaluate are used.
        progress: called as progress(stage, done, total, info) with the stages "train" (optimizer steps of the whole
            run) and "validate" (images of the validation split, once per epoch).

    Raises:
        ValueError: anything wrong with configuration or data; everything in one message and before any work.
        RuntimeError: `train.max_bad_steps` steps in a row without a finite loss, or an epoch without a readable image.
    """
    with cpu_threads(config.train.threads):
        set_seed(config.train.seed)
        run = start(config, build_parts(config), progress=progress or silent)
        try:
            for epoch in range(run.state.epoch, config.train.epochs):
                row = train_epoch(run, epoch)
                finish_epoch(run, row)
        finally:
            run.tracker.finish()
    out = Path(config.train.out)
    # Only the first process has validated; the others learn the outcome from its file.
    state = run.state if run.accelerator.is_main_process else read_state(out / LAST) or run.state
    return TrainResult(
        out, out / CHECKPOINT, state.best or {}, state.history, list(state.skipped.items()), state.bad_steps
    )


def train_epoch(run: Run, epoch: int) -> dict[str, Any]:
    """Train for one epoch (counted from 0); return its row of the history, still without validation figures."""
    config, state = run.config, run.state
    run.sampler.set_epoch(epoch)
    set_seed(epoch_seed(config.train.seed, epoch, run.accelerator.process_index))
    run.model.train()
    meter, losses, bad_before = Meter(), [], state.bad_steps
    for window in meter.watch(windows(run.loader, config.optim.accumulate)):
        factor = lr_factor(state.step, total=run.total_steps, warmup=run.warmup_steps)
        set_lr(run.optimizer, factor)
        batches = readable(run, window)
        values = train_step(run, batches) if batches else {}
        state.step += 1
        meter.count(sum(len(batch["ids"]) for batch in batches) * run.accelerator.num_processes)
        if not values:
            continue
        if math.isfinite(values["train/loss"]):
            losses.append(values["train/loss"])
        values |= {"train/lr": config.optim.lr * factor, **meter.figures()}
        run.tracker.log(state.step, {"epoch": epoch + 1, **values})
        run.progress("train", state.step, run.total_steps, info(values, epoch=epoch, epochs=config.train.epochs))
    if not losses:
        raise no_loss(run)
    meter.warn_if_loading_is_slow(config.data.workers)
    figures = meter.figures()
    bad_steps = state.bad_steps - bad_before
    return {
        "epoch": epoch + 1,
        "train/epoch_loss": sum(losses) / len(losses),
        "train/bad_steps": bad_steps,
        "train/left_out": run.sampler.left_out,
        **figures,
    }


def train_step(run: Run, batches: list[Batch]) -> dict[str, float]:
    """Make one optimizer step over the batches of an accumulation window; return its figures.

    The loss is computed in float32 whatever the model computes in. A step whose loss or gradient norm is not finite
    is undone: weights, moments and batch-norm statistics stay as they were.
    """
    accelerator, state = run.accelerator, run.state
    run.snapshot.take()
    run.optimizer.zero_grad()
    sums: dict[str, torch.Tensor] = {}
    for number, batch in enumerate(batches, start=1):
        last = number == len(batches)
        with nullcontext() if last else accelerator.no_sync(run.model):
            images, masks = to_device(batch, accelerator.device)
            terms = run.parts.loss(run.model(images), masks)
            accelerator.backward(terms["total"] / len(batches))
        for name, value in terms.items():
            sums[name] = sums.get(name, 0.0) + value.detach() / len(batches)
        state.empty_batches += not bool((batch["masks"] != IGNORE).any())
    norm = accelerator.clip_grad_norm_(run.model.parameters(), run.config.optim.clip or math.inf)
    figures = torch.stack([*sums.values(), norm])
    if accelerator.num_processes > 1:
        figures = accelerator.reduce(figures, reduction="mean")
    numbers = dict(zip([*sums, "grad_norm"], figures.tolist(), strict=True))  # the step's only wait for the device
    # A gradient that overflows in fp16 is the scaler's daily work: it skips the step and scales less.
    if math.isfinite(numbers["total"]) and (accelerator.scaler or math.isfinite(numbers["grad_norm"])):
        run.optimizer.step()
        run.average.update(run.parts.model)
        run.bad_ids.clear()
    else:
        undo_step(run, batches)
    names = {name: f"train/{name}" for name in numbers} | {"total": "train/loss"}
    return {names[name]: value for name, value in numbers.items()}


def undo_step(run: Run, batches: list[Batch]) -> None:
    """Forget a bad step and count it; raise RuntimeError when there were too many in a row."""
    run.snapshot.restore()
    if run.accelerator.scaler:
        run.accelerator.scaler.update()
    run.state.bad_steps += 1
    run.bad_ids.append([item for batch in batches for item in batch["ids"]])
    logger.warning("Step %d skipped: its loss or gradient is not finite.", run.state.step + 1)
    if len(run.bad_ids) >= run.config.train.max_bad_steps:
        items = sorted({item for ids in run.bad_ids for item in ids})
        raise RuntimeError(
            f"Expected a finite loss, got {len(run.bad_ids)} steps in a row without one. Lower optim.lr, use "
            f"train.precision=fp32, or look at the items: {', '.join(items)}. The best checkpoint so far is kept."
        )


def readable(run: Run, window: list[Batch]) -> list[Batch]:
    """Note the unreadable items of a window and return the batches that hold at least one image in every process."""
    state = run.state
    for batch in window:
        for item, reason in batch["errors"]:
            if item not in state.skipped:
                state.skipped[item] = reason
                logger.warning("Skipped %s: %s", item, reason)
    if run.accelerator.num_processes == 1:
        return [batch for batch in window if batch["images"] is not None]
    # Backward passes are collective: a process with nothing to do must not leave the others waiting.
    present = torch.tensor([batch["images"] is not None for batch in window], device=run.accelerator.device)
    everywhere = run.accelerator.reduce(present.int(), reduction="sum") == run.accelerator.num_processes
    return [batch for batch, kept in zip(window, everywhere.tolist(), strict=True) if kept]


def finish_epoch(run: Run, row: dict[str, Any]) -> None:
    """Validate where it is due, log, keep the checkpoint if it is the best, and save the training state."""
    run.state.epoch = row["epoch"]
    settings = run.config.train
    due = row["epoch"] % settings.validate_every == 0 or row["epoch"] == settings.epochs
    if run.accelerator.is_main_process:
        row = {"step": run.state.step, **row, **(validate(run) if due else {})}
        run.tracker.log(run.state.step, {name: value for name, value in row.items() if name != "step"})
        run.state.history.append(row)
        save_state(Path(run.config.train.out) / LAST, run.state, **run.saved_parts)
    run.accelerator.wait_for_everyone()


def no_loss(run: Run) -> RuntimeError:
    """The error for an epoch that trained on nothing."""
    if not run.state.skipped:
        return RuntimeError("Expected at least one step with a finite loss in an epoch, got none. Lower optim.lr.")
    first = [f"{item}: {reason}" for item, reason in list(run.state.skipped.items())[:5]]
    return RuntimeError(
        f"Expected readable training images, got {len(run.state.skipped)} unreadable ones and no other: "
        f"{'; '.join(first)}."
    )


def info(values: dict[str, float], *, epoch: int, epochs: int) -> str:
    """One line on how the run goes."""
    return (
        f"epoch {epoch + 1}/{epochs}, loss {values['train/loss']:.3f}, lr {values['train/lr']:.1e}, "
        f"{values['train/images_per_second']:.1f} images/s, data wait {100 * values['train/data_wait']:.0f} %"
    )
