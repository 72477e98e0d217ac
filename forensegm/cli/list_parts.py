"""`forensegm list`: the parts that options can name."""

from __future__ import annotations

import fnmatch
import inspect
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from jsonargparse import Namespace

from forensegm.cli.errors import UsageError
from forensegm.cli.options import Command, Group
from forensegm.cli.output import say
from forensegm.config import Config
from forensegm.lookup import unknown_name


def run(config: Config, args: Namespace) -> int:  # noqa: ARG001
    """Print the names of one kind, with what each is."""
    if not args.kind:
        for kind, (text, _) in KINDS.items():
            say(f"{kind:<14}{text}")
        return 0
    if args.kind not in KINDS:
        raise UsageError(str(unknown_name(args.kind, KINDS, what="kind of part")))
    parts = KINDS[args.kind][1](args.pattern)
    names = [name for name in parts if fnmatch.fnmatchcase(name, args.pattern)]
    if not names:
        raise UsageError(f"Expected {args.kind} that match '{args.pattern}', got none of {len(parts)}.")
    width = max(map(len, names)) + 2
    for name in names:
        say(_entry(name, parts[name], width))
    return 0


def _entry(name: str, text: str, width: int) -> str:
    line = f"{name:<{width}}{text}".rstrip()
    if not sys.stdout.isatty():
        return line  # one line each, for grep
    columns = shutil.get_terminal_size().columns
    return textwrap.fill(line, max(columns, width + 20), subsequent_indent=" " * width, break_on_hyphens=False)


def described(table: Mapping[str, Any]) -> dict[str, str]:
    """The names of a table with the first line of each part's docstring."""
    return {name: first_line(part) for name, part in table.items()}


def first_line(part: Any) -> str:
    """First sentence of a part's docstring; empty where it has none of its own."""
    text = inspect.getdoc(part) if callable(part) else None
    return text.splitlines()[0].rstrip(".") if text else ""


def _models(pattern: str) -> dict[str, str]:
    from forensegm.models import list_models

    return dict.fromkeys(list_models(pattern), "")


def _editors(pattern: str) -> dict[str, str]:  # noqa: ARG001
    from forensegm.edits import EDITORS
    from forensegm.edits.editors.diffusion import ABSENT

    known = {name: editor.about or first_line(editor.run) for name, editor in EDITORS.items()}
    return {**known, **{name: f"Not available: {reason}" for name, reason in ABSENT.items()}}


def _regions(pattern: str) -> dict[str, str]:  # noqa: ARG001
    from forensegm.edits.regions import ABOUT

    return ABOUT


def _planners(pattern: str) -> dict[str, str]:  # noqa: ARG001
    from forensegm.edits.planners import ABOUT

    return ABOUT


def _distortions(pattern: str) -> dict[str, str]:  # noqa: ARG001
    from forensegm.distortions import OPS

    return described({op.usage: op for op in OPS.values()})


def _poolings(pattern: str) -> dict[str, str]:  # noqa: ARG001
    from forensegm.pooling import POOLINGS

    return described(POOLINGS)


def _losses(pattern: str) -> dict[str, str]:  # noqa: ARG001
    from forensegm.losses import LOSSES

    return described(LOSSES)


def _frontends(pattern: str) -> dict[str, str]:  # noqa: ARG001
    from forensegm.frontends import FRONTENDS

    return {**described(FRONTENDS), "none": "RGB alone"}


def _readers(pattern: str) -> dict[str, str]:  # noqa: ARG001
    from forensegm.datasets import READERS

    return described(READERS)


KINDS: dict[str, tuple[str, Callable[[str], dict[str, str]]]] = {
    "models": ("networks, for --model.name", _models),
    "editors": ("who edits, for --edit.editors", _editors),
    "regions": ("what proposes regions to edit, for --edit.regions", _regions),
    "planners": ("who plans an edit, for --edit.planner", _planners),
    "distortions": ("operations of a chain, for --distort.chains", _distortions),
    "poolings": ("from a map to the image's score, for --evaluate.pooling", _poolings),
    "losses": ("loss terms, for --loss.terms", _losses),
    "frontends": ("forensic channels beside RGB, for --model.frontend", _frontends),
    "readers": ("kinds of data sets, for --data KIND:LOCATION", _readers),
}


def add_arguments(group: Group) -> None:
    """Add the kind and the pattern."""
    group.add_argument("kind", nargs="?", metavar="KIND", help=f"{', '.join(KINDS)}; none = list these kinds")
    group.add_argument(
        "pattern", nargs="?", default="*", metavar="PATTERN", help="only names that match, * as wildcard"
    )


COMMAND = Command(
    name="list",
    summary="List models, editors, distortions, poolings, losses, front ends or readers",
    run=run,
    usage="KIND [PATTERN]",
    add_arguments=add_arguments,
    examples=("list models 'smp:unet/*'", "list distortions"),
)
