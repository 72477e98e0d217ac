"""`forensegm edit`: make a data set of multi-turn edits from photographs."""

from __future__ import annotations

import textwrap

from jsonargparse import Namespace

from forensegm.cli.helptext import WIDTH
from forensegm.cli.options import Command
from forensegm.cli.output import say, say_skipped, say_wrote
from forensegm.cli.progress import Bars
from forensegm.config import Config


def run(config: Config, args: Namespace) -> int:  # noqa: ARG001
    """Build the data set and print its counts."""
    from forensegm.edits import build_edits

    with Bars() as progress:
        summary = build_edits(config.edit, progress=progress)
    say_skipped(summary.skipped, what="photograph")
    counts = summary.counts
    say(
        f"{counts['images']} images of {counts['photographs']} photographs: "
        f"{counts['edited']} edited, {counts['authentic']} authentic"
    )
    for key in ("splits", "editors"):
        line = f"{key}: " + ", ".join(f"{name} {count}" for name, count in counts[key].items())
        say(textwrap.fill(line, WIDTH, subsequent_indent=" " * 9))
    say_wrote(summary.root)
    return 0


COMMAND = Command(
    name="edit",
    summary="Make a data set of multi-turn edits, with masks, from photographs",
    run=run,
    own="edit",
    examples=(
        "edit --out runs/data --images 100",
        "edit --photos ~/photos --out runs/data --editors telea,copy_move --codec jpeg:90",
    ),
)
