"""`forensegm edit`: make a data set of multi-turn edits from photographs."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from jsonargparse import Namespace

from forensegm.cli.helptext import WIDTH
from forensegm.cli.options import Command
from forensegm.cli.output import say, say_skipped, say_wrote
from forensegm.cli.progress import Bars
from forensegm.config import Config

if TYPE_CHECKING:
    from forensegm.edits import Estimate

TFLOPS = 50  # what a large GPU sustains in half precision on these models, as a round figure to scale by


def run(config: Config, args: Namespace) -> int:
    """Build the data set and print its counts; or only say what it would take."""
    if args.dry_run:
        return _say_estimate(config)
    from forensegm.edits import build_edits

    with Bars() as progress:
        summary = build_edits(config.edit, progress=progress)
    say_skipped(summary.skipped, what="photograph")
    counts = summary.counts
    if not summary.finished:
        say(f"shard {config.edit.shard}: {counts['images']} of {config.edit.images} images are built so far")
        say("The data set is finished by the shard that builds the last of them.")
        return 0
    say(
        f"{counts['images']} images of {counts['photographs']} photographs: "
        f"{counts['edited']} edited, {counts['authentic']} authentic"
    )
    for key in ("splits", "editors"):
        _say_counts(key, counts[key])
    if counts["dropped_turns"]:
        say(f"turns: {counts['turns']} made, {counts['dropped_turns']} dropped; audit.json says why")
    if summary.images_per_hour is not None:
        say(f"speed: {summary.images_per_hour:,.0f} images/hour")
    else:
        say("It was built already.")
    say_wrote(summary.root)
    return 0


def _say_counts(title: str, counts: dict[str, int]) -> None:
    line = f"{title}: " + ", ".join(f"{name} {count}" for name, count in counts.items())
    say(textwrap.fill(line, WIDTH, subsequent_indent=" " * 9))


def _say_estimate(config: Config) -> int:
    from forensegm.edits import estimate

    found = estimate(config.edit)
    say_skipped(found.skipped, what="photograph")
    say(f"plan: {sum(found.images.values())} images, nothing is written")
    _say_counts("splits", found.images)
    _say_counts("bases", found.bases)
    _say_counts("turns", found.turns)
    for model in found.models:
        where = "a folder here" if model.here else "from the hub or its cache"
        size = f", about {model.gigabytes:.0f} GB" if model.gigabytes else ""
        say(f"model: {model.part} loads {model.model} ({where}{size})")
    say(
        f"disk: about {math.ceil(found.megabytes):,} MB"
        + (f", beside {_gigabytes(found)} of models" if found.models else "")
    )
    rate = f"{found.images_per_hour:,.0f} images/hour with {found.workers} worker{'s' if found.workers > 1 else ''}"
    say(f"time: {rate}" + (", without the models" if found.models else "") + ", measured on a dozen images")
    if found.tflop:
        hours = found.tflop / (TFLOPS * 3600)
        amount = f"{found.tflop / 1e6:,.1f} EFLOP" if found.tflop >= 1e5 else f"{found.tflop / 1e3:,.1f} PFLOP"
        say(f"compute: {amount} at native sizes; {hours:,.2f} h at {TFLOPS} TFLOP/s sustained")
    if found.uncounted:
        say(f"not counted: {', '.join(found.uncounted)}")
    return 0


def _gigabytes(found: Estimate) -> str:
    known = sum(model.gigabytes for model in found.models)
    open_ended = " or more" if any(not model.gigabytes for model in found.models) else ""
    return f"{known:.0f} GB{open_ended}"


def _add_arguments(group: Any) -> None:
    group.add_argument(
        "--dry-run", "--dry_run", action="store_true", help="only say what would be made: plan, models, disk and time"
    )


COMMAND = Command(
    name="edit",
    summary="Make a data set of multi-turn edits, with masks, from photographs",
    run=run,
    own="edit",
    examples=(
        "edit --out runs/data --images 100",
        "edit --photos ~/photos --out runs/data --editors telea,copy_move --codec jpeg:90",
        "edit --config experiments/diffseg30k.yaml --dry-run",
    ),
    add_arguments=_add_arguments,
)
