"""What the commands print on stdout: what was written, what was skipped, and scores as small tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from forensegm.cli.helptext import WIDTH

if TYPE_CHECKING:
    from forensegm.reports.tables import Table

MOST_SKIPPED = 20


def say(line: str) -> None:
    """Print one line on stdout."""
    print(line, flush=True)


def printable(name: object) -> str:
    """A file's name on one line: line breaks, other control characters and bytes that are no text as escapes.

    >>> printable("caf\u00e9\\n.png")
    'café\\\\n.png'
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in str(name))


def say_wrote(*paths: str | Path) -> None:
    """Name what a command wrote."""
    for path in paths:
        say(f"wrote {short_path(path)}")


def short_path(path: str | Path) -> str:
    """A path relative to the current folder where it lies in it, else as it is."""
    path = Path(path)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def say_skipped(skipped: Sequence[tuple[str | Path, str]], *, what: str = "image") -> None:
    """Count and name what could not be used, with the reason of each."""
    if not skipped:
        return
    say(f"skipped {len(skipped)} {what}{'s' if len(skipped) > 1 else ''}:")
    for path, reason in skipped[:MOST_SKIPPED]:
        reason = " ".join(str(reason).split())
        say(f"  {reason}" if str(path) in reason else f"  {path}: {reason}")
    if len(skipped) > MOST_SKIPPED:
        say(f"  ... and {len(skipped) - MOST_SKIPPED} more")


def show(*tables: Table | None) -> None:
    """Print tables of `forensegm.reports.tables`; None, a table with nothing to show, is passed over."""
    from forensegm.reports.tables import to_rich

    # No wider than the help where stdout is no terminal, where rich would take 80 columns.
    console = Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False)
    for table in tables:
        if table is not None:
            shown = to_rich(table)
            shown.columns[0].no_wrap = True  # names stay whole, headings break
            console.print(shown)
