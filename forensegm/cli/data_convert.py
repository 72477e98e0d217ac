"""`forensegm data convert`: write a data set in another form."""

from __future__ import annotations

from jsonargparse import Namespace

from forensegm.cli.data_source import SHORT, add_source, open_source
from forensegm.cli.errors import UsageError
from forensegm.cli.options import Command, Group
from forensegm.cli.output import say, say_skipped, say_wrote
from forensegm.cli.progress import Bars
from forensegm.config import Config


def run(config: Config, args: Namespace) -> int:
    """Convert, and say what could not be."""
    if not args.to or not args.out:
        raise UsageError("Expected --to KIND and --out DIR, for example --to parquet --out runs/parquet.")
    from forensegm.datasets.convert import WRITERS, convert
    from forensegm.lookup import unknown_name

    if args.to not in WRITERS and ":" not in args.to:
        raise UsageError(str(unknown_name(args.to, WRITERS, what="form of data sets")))
    dataset = open_source(config, args)
    with Bars() as progress:
        result = convert(
            dataset, args.out, to=args.to, binary=args.binary, on_error=config.data.on_error, progress=progress
        )
    say_skipped(result.skipped)
    if result.reencoded:
        say(f"{result.reencoded} images had no file of their own, or one that few read, and were saved as PNG")
    say(f"{result.images} images")
    say_wrote(result.out)
    return 0


def add_arguments(group: Group) -> None:
    """Add the source, the form and where it goes."""
    add_source(group)
    kinds = "native, shards, parquet, coco, imdlbenco or mmseg"
    group.add_argument(
        "--to",
        type=str,
        default="",
        metavar="KIND",
        help=f"{kinds} (required)",
    )
    group.add_argument("--out", type=str, default="", metavar="DIR", help="new folder to write (required)")
    group.add_argument("--binary", action="store_true", help="fold all editors into one where the form knows no more")


COMMAND = Command(
    name="data convert",
    summary="Write a data set as native, shards, Parquet, COCO, IMDLBenCo or mmsegmentation",
    run=run,
    usage="SOURCE",
    short={**SHORT, "data.on_error": "--on_error"},
    add_arguments=add_arguments,
    examples=(
        "data convert native:runs/data --to parquet --out runs/parquet",
        "data convert diffseg30k:train.zip --to shards --out runs/shards",
    ),
)
