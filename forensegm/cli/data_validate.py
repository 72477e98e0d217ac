"""`forensegm data validate`: everything that is wrong with a data set, before it costs a training run."""

from __future__ import annotations

from pathlib import Path

from jsonargparse import Namespace

from forensegm.cli.data_source import SHORT, add_source, add_workers, open_source, worker_count
from forensegm.cli.options import Command, Group
from forensegm.cli.output import printable, say, say_wrote
from forensegm.cli.progress import Bars
from forensegm.config import Config

MOST_SHOWN = 50


def run(config: Config, args: Namespace) -> int:
    """Decode everything and list what is wrong; exit code 1 with --strict if anything is."""
    workers = worker_count(args)
    dataset = open_source(config, args)
    from forensegm.datasets.validate import validate
    from forensegm.imageio import write_json

    with Bars() as progress:
        problems = validate(dataset, workers=workers, max_distance=args.max_distance, progress=progress)
    for problem in problems[:MOST_SHOWN]:
        say(f"{problem.severity}: {problem.kind}: {printable(problem.where)}")
        say(f"    {printable(problem.what)}")
        say(f"    {problem.mend}")
    if len(problems) > MOST_SHOWN:
        say(f"... and {len(problems) - MOST_SHOWN} more{'' if args.out else ' (all of them with --out FILE)'}")
    errors = sum(problem.severity == "error" for problem in problems)
    say(f"{len(dataset)} images: {errors} errors, {len(problems) - errors} warnings")
    if args.out:
        path = Path(args.out).expanduser()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, {"images": len(dataset), "problems": [problem.to_dict() for problem in problems]})
        say_wrote(path)
    return 1 if args.strict and problems else 0


def add_arguments(group: Group) -> None:
    """Add the source, how strict to be and where the list goes."""
    add_source(group)
    add_workers(group)
    group.add_argument("--strict", action="store_true", help="exit with 1 if there is any problem")
    group.add_argument("--out", type=str, default="", metavar="FILE", help="JSON file for the whole list; empty = none")
    group.add_argument(
        "--max_distance",
        type=int,
        default=8,
        metavar="INT",
        help="bits of 64 in which the perceptual hashes of near-duplicates differ at most",
    )


COMMAND = Command(
    name="data validate",
    summary="List what is wrong with a data set: broken files, leaks between splits, giveaways",
    run=run,
    usage="SOURCE",
    short=SHORT,
    add_arguments=add_arguments,
    examples=("data validate native:runs/data", "data validate folder:my/data --strict --out problems.json"),
)
