"""`forensegm compare`: is one evaluation better than another, by a paired bootstrap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonargparse import Namespace

from forensegm.cli.errors import UsageError
from forensegm.cli.options import Command, Group
from forensegm.cli.output import say_wrote, show
from forensegm.config import Config

if TYPE_CHECKING:
    from forensegm.reports.tables import Cell


def run(config: Config, args: Namespace) -> int:
    """Compare, print one row per score, and write the result where --out says."""
    if len(args.folders) != 2:
        raise UsageError(f"Expected two evaluation folders, A and B, got {len(args.folders)}.")
    from forensegm.evaluation import compare
    from forensegm.imageio import write_json
    from forensegm.reports.scores import resampled
    from forensegm.reports.tables import Section, Table

    options = config.evaluate
    result = compare(args.folders[0], args.folders[1], resamples=options.bootstrap, seed=options.seed)
    title = f"A = {args.folders[0]}, B = {args.folders[1]} ({result['images']} images)"
    columns = ["score", "A", "B", "A - B", "95 % interval", "better"]
    units = dict.fromkeys(resampled(score["difference"]) for score in result["scores"].values())
    notes = [f"Intervals: 95 % paired bootstrap over {' or '.join(units)}."]
    show(Table(title, columns, [Section("", [_row(name, score) for name, score in result["scores"].items()])], notes))
    if args.out:
        write_json(args.out, result)
        say_wrote(args.out)
    return 0


def _row(name: str, score: dict[str, Any]) -> list[Cell]:
    from forensegm.reports import format_value
    from forensegm.reports.scores import BY_KEY, SHORT
    from forensegm.reports.tables import Cell

    difference = score["difference"]
    low, high = difference["low"], difference["high"]
    interval = "n/a" if low is None or high is None else f"{format_value(low)} to {format_value(high)}"
    better = score["better"].upper() if score["better"] in ("a", "b") else score["better"]
    label = SHORT.get(name) or BY_KEY[name].label
    values = (score["a"], score["b"], difference["value"])
    texts = [label, *map(format_value, values), interval, better]
    return [Cell(text) for text in texts]


def add_arguments(group: Group) -> None:
    """Add the two folders and the file."""
    group.add_argument("folders", nargs="*", metavar="A B", help="two folders that `forensegm evaluate` wrote")
    group.add_argument("--out", type=str, default="", metavar="FILE", help="JSON file for the result; empty = none")


COMMAND = Command(
    name="compare",
    summary="Compare two evaluations of the same images with paired intervals",
    run=run,
    usage="A B",
    short={"evaluate.bootstrap": "--bootstrap", "evaluate.seed": "--seed"},
    add_arguments=add_arguments,
    examples=("compare runs/first/evaluate runs/second/evaluate",),
)
