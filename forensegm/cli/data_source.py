"""The data set that a `forensegm data` command works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonargparse import Namespace

from forensegm.cli.errors import UsageError
from forensegm.cli.options import Group
from forensegm.config import Config

if TYPE_CHECKING:
    from forensegm.datasets import Dataset

SHORT = {"data.options": "--data_options"}  # of every command that opens a data set


def add_source(group: Group, *, split: bool = True) -> None:
    """Add the source, and where a command may work on a part of it, the split."""
    group.add_argument("source", nargs="?", metavar="SOURCE", help="data set, for example native:runs/data")
    if split:
        group.add_argument("--split", type=str, default="", metavar="TEXT", help="split to read; empty = all of them")


def add_workers(group: Group) -> None:
    """Add the number of processes that decode."""
    group.add_argument("--workers", type=int, default=0, metavar="INT", help="processes that decode; 0 = one per core")


def open_source(config: Config, args: Namespace) -> Dataset:
    """Open the data set that the arguments name; raises UsageError where they name none or an empty one."""
    if not args.source:
        raise UsageError("Expected SOURCE, a data set such as native:runs/data, got none.")
    from forensegm.datasets import open_dataset

    dataset = open_dataset(args.source, split=args.get("split") or None, **config.data.options)
    if not hasattr(dataset, "ids"):
        raise UsageError(f"Expected an indexed data set, got '{args.source}' streaming. Leave streaming out.")
    if len(dataset) == 0:
        raise UsageError(f"Expected images in '{args.source}', got none.")
    return dataset


def worker_count(args: Namespace) -> int:
    """The number of processes asked for."""
    import os

    if args.workers < 0:
        raise UsageError(f"Expected --workers to be 0 or more, got {args.workers}.")
    return int(args.workers) or os.cpu_count() or 1
