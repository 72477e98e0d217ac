"""`forensegm evaluate`: score a checkpoint on a data set, pixels and images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonargparse import Namespace

from forensegm.cli.errors import UsageError
from forensegm.cli.options import Command, Group, add_trusted_name
from forensegm.cli.output import say_skipped, say_wrote, show
from forensegm.cli.progress import Bars
from forensegm.config import Config

if TYPE_CHECKING:
    from forensegm.datasets import Dataset
    from forensegm.inference import Predictor

SHORT = {
    "data.source": "--data",
    "data.options": "--data_options",
    "predict.device": "--device",
    "predict.tile": "--tile",
    "predict.overlap": "--overlap",
}
REQUIRED = {"data.source": "the data set to evaluate on, for example --data native:runs/data"}


def add_checkpoint(group: Group, *, out: str) -> None:
    """Add the arguments that `evaluate` and `robustness` share."""
    group.add_argument("checkpoint", nargs="?", metavar="CHECKPOINT", help="folder of a checkpoint")
    group.add_argument("--out", type=str, default=out, metavar="DIR", help="folder that the results are written to")
    add_trusted_name(group)


def open_both(config: Config, args: Namespace) -> tuple[Predictor, Dataset]:
    """Open the checkpoint and the data set that the user named, the cheaper one first."""
    if not args.checkpoint:
        raise UsageError("Expected CHECKPOINT, the folder of a checkpoint, for example runs/train/checkpoint.")
    from forensegm.datasets import open_dataset
    from forensegm.inference import Predictor

    dataset = open_dataset(config.data.source, split=config.evaluate.split, **config.data.options)
    predictor = Predictor.from_checkpoint(
        args.checkpoint,
        device=config.predict.device,
        precision=config.evaluate.precision,
        tile=config.predict.tile,
        overlap=config.predict.overlap,
        trusted_name=args.trusted_name or None,
    )
    return predictor, dataset


def run(config: Config, args: Namespace) -> int:
    """Evaluate, print the scores beside the trivial baselines, and write the results."""
    predictor, dataset = open_both(config, args)
    from forensegm.evaluation import evaluate, write_evaluation
    from forensegm.reports.tables import baseline_table, score_table

    with Bars() as progress:
        evaluation = evaluate(predictor, dataset, config.evaluate, progress=progress)
    metrics = evaluation.metrics
    title = f"{args.checkpoint} on {config.data.source}"
    paths = write_evaluation(args.out, evaluation, labels=list(predictor.labels.names), title=title)
    show(score_table(metrics), baseline_table(metrics))
    say_skipped(evaluation.skipped)
    say_wrote(*paths)
    return 0


COMMAND = Command(
    name="evaluate",
    summary="Score a checkpoint on a data set: pixels, images, editor identity",
    run=run,
    usage="CHECKPOINT",
    own="evaluate",
    short=SHORT,
    required=REQUIRED,
    add_arguments=lambda group: add_checkpoint(group, out="runs/evaluate"),
    examples=("evaluate runs/train/checkpoint --data native:runs/data --split test --out runs/evaluate",),
)
