"""`forensegm train`: train a segmentation network on a data set."""

from __future__ import annotations

from jsonargparse import Namespace

from forensegm.cli.options import Command
from forensegm.cli.output import say, say_skipped, say_wrote
from forensegm.cli.progress import Bars
from forensegm.config import Config


def run(config: Config, args: Namespace) -> int:  # noqa: ARG001
    """Train, and print the best validation scores and where the checkpoint is."""
    from forensegm.reports import format_value
    from forensegm.training import train

    with Bars() as progress:
        result = train(config, progress=progress)
    say_skipped(result.skipped, what="training image")
    if result.bad_steps:
        say(f"skipped {result.bad_steps} steps without a finite loss")
    best = result.best
    value = f"{best['metric']} {format_value(best['value'])} on split '{config.data.val_split}'"
    say(f"best epoch {best['epoch']} of {config.train.epochs}: {value}")
    say_wrote(result.out, result.checkpoint)
    return 0


COMMAND = Command(
    name="train",
    summary="Train a segmentation network on a data set",
    run=run,
    own="train",
    sections=("data", "model", "loss", "optim", "augment", "evaluate", "track"),
    leave_out=tuple(f"evaluate.{name}" for name in ("split", "bootstrap", "seed", "precision", "examples")),
    required={"data.source": "the data set to train on, for example --data native:runs/data"},
    short={"data.source": "--data", "data.options": "--data_options", "model.name": "--model"},
    examples=(
        "train --data native:runs/data --out runs/train",
        "train --data native:runs/data --model smp:unet/resnet34 --epochs 30 --optim.lr 3e-4",
        "train --print_config > train.yaml",
        "train --config train.yaml --out runs/second",
    ),
)
