"""`forensegm data inspect`: what a data set holds, as tables and as a page."""

from __future__ import annotations

from pathlib import Path

from jsonargparse import Namespace

from forensegm.cli.data_source import SHORT, add_source, add_workers, open_source, worker_count
from forensegm.cli.errors import UsageError
from forensegm.cli.options import Command, Group
from forensegm.cli.output import say_skipped, say_wrote, show
from forensegm.cli.progress import Bars
from forensegm.config import Config


def run(config: Config, args: Namespace) -> int:
    """Scan the data set, print its tables and write the page."""
    if args.images < 0:
        raise UsageError(f"Expected --images to be 0 or more, got {args.images}.")
    workers = worker_count(args)
    dataset = open_source(config, args)
    from forensegm.datasets.samples import draw_samples
    from forensegm.datasets.scan import scan
    from forensegm.datasets.summary import heat_map, summarize
    from forensegm.imageio import write_json
    from forensegm.reports.data_page import write_data_page
    from forensegm.reports.data_tables import data_tables

    with Bars() as progress:
        facts = scan(dataset, workers=workers, progress=progress)
    summary = summarize(facts, dataset.labels)
    show(*data_tables(summary))
    say_skipped([(error["id"], error["error"]) for error in summary["errors"]])
    out = Path(args.out).expanduser()
    out.mkdir(parents=True, exist_ok=True)
    page = write_data_page(
        out / "data.html",
        summary,
        title=f"{dataset.name}{f', split {args.split}' if args.split else ''}",
        labels=dataset.labels,
        heat=heat_map(facts),
        examples=draw_samples(dataset, facts, count=args.images, seed=args.seed),
    )
    write_json(out / "data.json", summary)
    say_wrote(out / "data.json", page)
    return 0


def add_arguments(group: Group) -> None:
    """Add the source, what is shown and where it goes."""
    add_source(group)
    add_workers(group)
    group.add_argument(
        "--out", type=str, default="runs/inspect", metavar="DIR", help="folder for data.html and data.json"
    )
    group.add_argument("--images", type=int, default=12, metavar="INT", help="random images to show on the page")
    group.add_argument("--seed", type=int, default=0, metavar="INT", help="chooses the images that are shown")


COMMAND = Command(
    name="data inspect",
    summary="Count what a data set holds: classes, areas, sizes, editors, codecs; with pictures",
    run=run,
    usage="SOURCE",
    short=SHORT,
    add_arguments=add_arguments,
    examples=(
        "data inspect native:runs/data",
        "data inspect diffseg30k:train.zip --split train --out runs/diffseg30k",
        'data inspect folder:my/data --data_options "mask_kind=ids,labels=8"',
    ),
)
