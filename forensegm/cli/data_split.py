"""`forensegm data split`: split a data set by photograph, with editors and areas alike in every part."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from jsonargparse import Namespace

from forensegm.cli.data_source import SHORT, add_source, add_workers, open_source, worker_count
from forensegm.cli.errors import UsageError
from forensegm.cli.options import Command, Group
from forensegm.cli.output import say, say_skipped, say_wrote, show
from forensegm.cli.progress import Bars
from forensegm.config import Config

if TYPE_CHECKING:
    from forensegm.datasets.resplit import Assignment
    from forensegm.datasets.scan import ItemFacts
    from forensegm.reports.tables import Table
    from forensegm.sample import LabelSpace


def run(config: Config, args: Namespace) -> int:
    """Split, show the parts, write the list, and with --apply the records."""
    from forensegm.datasets import NativeDataset
    from forensegm.datasets.resplit import apply_to_native, resplit, write_splits
    from forensegm.datasets.scan import scan

    shares, left_out = _numbers(args.shares), [name for name in args.leave_out.split(",") if name]
    workers = worker_count(args)
    dataset = open_source(config, args)
    if args.apply and not isinstance(dataset, NativeDataset):
        raise UsageError("Expected a native data set for --apply, got another kind. Convert it first: data convert.")
    with Bars() as progress:
        facts = scan(dataset, workers=workers, progress=progress)
    options = {"seed": args.seed, "stratify": not args.no_stratify, "max_distance": args.max_distance}
    assignment = resplit(facts, dataset.labels, shares=shares, leave_out=left_out, **options)
    say_skipped(assignment.skipped)
    if assignment.grouped_by != "group":
        say(
            "The data set names no base photographs: clusters of near-duplicate images were kept together "
            f"({len(set(assignment.groups.values()))} of {len(assignment.groups)} images). Crops of one photograph "
            "that do not look alike may still be on two sides."
        )
    show(parts_table(assignment, facts, dataset.labels))
    write_splits(args.out, assignment)
    say_wrote(args.out)
    if args.apply and isinstance(dataset, NativeDataset):
        apply_to_native(dataset.root, assignment)
        say_wrote(Path(dataset.root) / "records.jsonl")
    return 0


def parts_table(assignment: Assignment, facts: list[ItemFacts], labels: LabelSpace) -> Table:
    """Images, groups and editors of every part."""
    from forensegm.reports.tables import Cell, Section, Table

    parts = [name for name in ("train", "val", "test", "held_out") if name in assignment.splits.values()]
    split_of, group_of = assignment.splits, assignment.groups
    readable = [item for item in facts if not item.error]
    images = Counter(split_of[item.id] for item in readable)
    groups = {part: len({group_of[item.id] for item in readable if split_of[item.id] == part}) for part in parts}
    fake = Counter(split_of[item.id] for item in readable if item.label is not None and item.label.fake)
    rows = [
        [Cell("images"), *(Cell(f"{images[part]:,}") for part in parts)],
        [Cell("groups"), *(Cell(f"{groups[part]:,}") for part in parts)],
        [Cell("edited"), *(Cell(f"{fake[part]:,}") for part in parts)],
    ]
    editors = [
        [
            Cell(name),
            *(
                Cell(f"{sum(number in item.areas for item in readable if split_of[item.id] == part):,}")
                for part in parts
            ),
        ]
        for number, name in enumerate(labels.editors, start=1)
    ]
    return Table("Parts", ["", *parts], [Section("", rows), Section("images that hold the editor", editors)])


def _numbers(text: str) -> tuple[float, float, float]:
    try:
        first, second, third = (float(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"Expected --shares to be three numbers such as 0.7,0.1,0.2, got '{text}'.") from error
    return first, second, third


def add_arguments(group: Group) -> None:
    """Add the source and how it is split."""
    add_source(group, split=False)
    add_workers(group)
    group.add_argument("--shares", type=str, default="0.7,0.1,0.2", metavar="N,N,N", help="of train, val and test")
    group.add_argument("--seed", type=int, default=0, metavar="INT", help="another one gives another split")
    group.add_argument("--no_stratify", action="store_true", help="do not look at editors and edited areas")
    group.add_argument(
        "--leave_out", type=str, default="", metavar="A,B,...", help="editors to keep out of train and val"
    )
    group.add_argument(
        "--max_distance",
        type=int,
        default=8,
        metavar="INT",
        help="bits in which hashes of near-duplicates differ at most",
    )
    group.add_argument("--out", type=str, default="splits.csv", metavar="FILE", help="CSV of id, group and split")
    group.add_argument("--apply", action="store_true", help="write the split into the records of a native data set")


COMMAND = Command(
    name="data split",
    summary="Split a data set by photograph, alike in editors and areas, or without an editor",
    run=run,
    usage="SOURCE",
    short=SHORT,
    add_arguments=add_arguments,
    examples=(
        "data split native:runs/data --shares 0.7,0.1,0.2 --apply",
        "data split native:runs/data --leave_out copy_move --out without_copy_move.csv",
    ),
)
