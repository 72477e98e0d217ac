"""Build every part of a run from its configuration, and say all that is wrong with it at once, before any work."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import torch

from forensegm.config import Config, Precision
from forensegm.datasets import Dataset, open_dataset
from forensegm.lookup import unknown_name
from forensegm.losses import Loss, make_loss
from forensegm.models import Segmenter, create_model
from forensegm.pooling import POOLINGS
from forensegm.sample import LabelSpace
from forensegm.training.metric import check_metric
from forensegm.training.state import RunState, read_state
from forensegm.transforms import TrainTransform

logger = logging.getLogger(__name__)

T = TypeVar("T")

LAST = "last"
CHECKPOINT = "checkpoint"

LIMITS: dict[str, tuple[Callable[[float], bool], str]] = {
    "data.batch_size": (lambda value: value >= 1, "1 or more"),
    "data.workers": (lambda value: value >= 0, "0 or more"),
    "optim.lr": (lambda value: value > 0, "above 0"),
    "optim.encoder_lr_factor": (lambda value: value >= 0, "0 or more"),
    "optim.weight_decay": (lambda value: value >= 0, "0 or more"),
    "optim.warmup": (lambda value: 0 <= value <= 1, "0..1"),
    "optim.clip": (lambda value: value >= 0, "0 (no clipping) or more"),
    "optim.accumulate": (lambda value: value >= 1, "1 or more"),
    "optim.ema": (lambda value: 0 <= value < 1, "at least 0 and below 1"),
    "train.epochs": (lambda value: value >= 1, "1 or more"),
    "train.threads": (lambda value: value >= 0, "0 (as torch chooses) or more"),
    "train.max_bad_steps": (lambda value: value >= 1, "1 or more"),
    "train.validate_every": (lambda value: value >= 1, "1 or more"),
    "track.overlays": (lambda value: value >= 0, "0 or more"),
    "evaluate.batch_size": (lambda value: value >= 1, "1 or more"),
}

# What a resumed run may change: nothing that the weights follow from. The data may have moved; that they are the same
# is seen from their ids.
FREE_TO_CHANGE = (
    "edit.",
    "data.source",
    "data.workers",
    "data.on_error",
    "train.out",
    "train.resume",
    "train.threads",
    "train.max_bad_steps",
    "train.validate_every",
    "track.",
    "evaluate.",
    "distort.",
    "predict.",
)


@dataclass
class Parts:
    """What a run is made of.

    Attributes:
        train: the training split.
        val: the validation split.
        labels: their common label space.
        model: the network with its initial weights.
        loss: see `forensegm.losses.make_loss`.
        transform: see `forensegm.transforms.TrainTransform`.
        resumed: the state to go on from; None for a new run.
    """

    train: Dataset
    val: Dataset
    labels: LabelSpace
    model: Segmenter
    loss: Loss
    transform: TrainTransform
    resumed: RunState | None


class Problems:
    """Collects what is wrong, so that the user hears of everything at once."""

    def __init__(self) -> None:
        """Start with none."""
        self.found: list[str] = []

    def attempt(self, build: Callable[[], T]) -> T | None:
        """Return what `build` makes, or None after noting why it could not."""
        try:
            return build()
        except (ValueError, OSError, RuntimeError) as error:
            self.found.append(str(error))
            return None

    def raise_if_any(self) -> None:
        """Raise one ValueError with every problem found."""
        if len(self.found) == 1:
            raise ValueError(self.found[0])
        if self.found:
            listed = "\n".join(f"({number}) {text}" for number, text in enumerate(self.found, start=1))
            raise ValueError(f"Expected a configuration that can run, got {len(self.found)} problems:\n{listed}")


def build_parts(config: Config) -> Parts:
    """Check the whole configuration and build what it names.

    Raises:
        ValueError: everything that is wrong, in one message.
    """
    problems = Problems()
    problems.found += option_problems(config)
    train = problems.attempt(lambda: open_split(config, config.data.train_split))
    val = problems.attempt(lambda: open_split(config, config.data.val_split)) if train else None
    problems.attempt(lambda: TrainTransform(config.augment, config.data.crop, config.data.keep_edits))
    classes = train.labels.num_classes if train else 2
    loss = problems.attempt(lambda: make_loss(config.loss, classes))
    if train and val:
        problems.found += data_problems(config, train, val)
    resumed = problems.attempt(lambda: earlier_state(config, train)) if train else None
    model = problems.attempt(
        lambda: create_model(
            config.model.name,
            classes=classes,
            weights=config.model.weights,
            frontend=config.model.frontend,
            options=config.model.options,
            trusted=True,
        )
    )
    problems.raise_if_any()
    transform = TrainTransform(config.augment, config.data.crop, config.data.keep_edits)
    dataset = cast("Dataset", train)
    return Parts(
        dataset, cast("Dataset", val), dataset.labels, cast("Segmenter", model), cast("Loss", loss), transform, resumed
    )


def option_problems(config: Config) -> list[str]:
    """What is wrong with single options, whatever the data are."""
    values = flat(config.to_dict())
    problems = [
        f"Expected {name} to be {text}, got {values[name]}."
        for name, (allowed, text) in LIMITS.items()
        if not allowed(values[name])
    ]
    for name, known in (
        ("train.precision", get_args(Precision)),
        ("data.on_error", ("skip", "raise")),
        ("track.wandb", ("auto", "online", "offline", "off")),
    ):
        if values[name] not in known:
            problems.append(f"Expected {name} to be one of {', '.join(known)}, got '{values[name]}'.")
    if config.evaluate.pooling not in POOLINGS:
        problems.append(str(unknown_name(config.evaluate.pooling, POOLINGS, what="pooling")))
    if config.train.precision == "fp16" and not torch.cuda.is_available():
        problems.append("Expected a CUDA device for train.precision=fp16, got none. Use auto, bf16 or fp32.")
    return problems


def open_split(config: Config, split: str) -> Dataset:
    """Open one split; raises ValueError where it is not named or has no images."""
    if not config.data.source:
        raise ValueError("Expected data.source, for example native:runs/data, got none.")
    dataset = open_dataset(config.data.source, split=split, **config.data.options)
    if len(dataset) == 0:
        raise ValueError(f"Expected images in split '{split}' of {config.data.source}, got none.")
    return dataset


def data_problems(config: Config, train: Dataset, val: Dataset) -> list[str]:
    """What does not fit between the configuration and the data."""
    problems = []
    if len(train) < config.data.batch_size:
        problems.append(
            f"Expected data.batch_size to be at most the {len(train)} images of split '{config.data.train_split}', "
            f"got {config.data.batch_size}."
        )
    if train.labels != val.labels:
        problems.append(
            f"Expected both splits to have one label space, got {', '.join(train.labels.editors)} in "
            f"'{config.data.train_split}' and {', '.join(val.labels.editors)} in '{config.data.val_split}'."
        )
    shared = set(train.groups) & set(val.groups)
    if shared:
        logger.warning(
            "%d photographs are in '%s' as well as in '%s', for example %s: the validation figures will flatter.",
            len(shared),
            config.data.train_split,
            config.data.val_split,
            min(shared),
        )
    try:
        check_metric(config.train.metric, train.labels)
    except ValueError as error:
        problems.append(str(error))
    return problems


def earlier_state(config: Config, train: Dataset) -> RunState | None:
    """Return the state to go on from, or None for a new run.

    Raises:
        ValueError: there is a run that must not be overwritten, or one that this configuration cannot continue.
    """
    out = Path(config.train.out)
    if out.exists() and not out.is_dir():
        raise ValueError(f"Expected train.out to be a folder, got the file {out}.")
    state = read_state(out / LAST)
    has_checkpoint = (out / CHECKPOINT).exists()
    if not config.train.resume:
        if has_checkpoint or (state and state.epoch):
            done = f"finished epochs: {state.epoch}" if state else "only its checkpoint is left"
            raise ValueError(
                f"Expected train.out to be free, got {out}, which holds a run ({done}). "
                "Continue it with train.resume=true, or name another folder."
            )
        return None
    if state is None:
        if has_checkpoint:
            raise ValueError(f"Expected a training state in {out / LAST} to resume from, got only a checkpoint.")
        logger.info("Nothing to resume in %s: starting from the beginning.", out)
        return None
    check_same_run(state, config, train)
    return state


def check_same_run(state: RunState, config: Config, train: Dataset) -> None:
    """Raise ValueError where the configuration or the data differ from those of the saved run."""
    now, then = flat(config.to_dict()), flat(state.config)
    changed = [
        f"{name} was {then[name]}, is {now[name]}"
        for name in now
        if name in then and now[name] != then[name] and not name.startswith(FREE_TO_CHANGE)
    ]
    if state.labels != list(train.labels.editors):
        changed.append(f"the editors were {', '.join(state.labels)}, are {', '.join(train.labels.editors)}")
    elif state.items != items_digest(train):
        changed.append("the training images are others")
    if changed:
        raise ValueError(
            f"Expected the configuration of the run in {config.train.out} to resume it, got changes: "
            f"{'; '.join(changed)}. Take them back, or start a new run in another folder."
        )


def items_digest(dataset: Dataset) -> str:
    """Short digest of the ids in order: two data sets with the same one give the same training order."""
    return hashlib.sha256("\n".join(dataset.ids).encode()).hexdigest()[:16]


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dict as one dict of dotted keys.

    >>> flat({"a": {"b": 1, "c": [2]}})
    {'a.b': 1, 'a.c': [2]}
    """
    result: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            result |= flat(value, f"{prefix}{key}.")
        else:
            result[f"{prefix}{key}"] = value
    return result
