"""`forensegm COMMAND`: finds the command, parses its arguments, runs it, and turns mistakes into one line."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence

from jsonargparse import Namespace

from forensegm.cli import (
    compare,
    data_convert,
    data_inspect,
    data_split,
    data_validate,
    demo,
    edit,
    evaluate,
    export,
    list_parts,
    predict,
    robustness,
    train,
    view,
)
from forensegm.cli.config_file import config_text
from forensegm.cli.errors import UsageError, guard
from forensegm.cli.options import Command, build_parser
from forensegm.cli.parsing import check_required, parse_command
from forensegm.config import Config
from forensegm.lookup import unknown_name
from forensegm.version import __version__

COMMANDS: dict[str, Command] = {
    module.COMMAND.name: module.COMMAND
    for module in (
        demo,
        edit,
        data_inspect,
        data_validate,
        data_convert,
        data_split,
        train,
        evaluate,
        robustness,
        compare,
        predict,
        view,
        export,
        list_parts,
    )
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the arguments without the program's name; None = those of this process.

    Returns:
        The exit code: 0, 2 for a user's mistake, 130 when interrupted, 1 for a bug, whose traceback is printed.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # file names may hold bytes that are no text
    command, _ = split_command(arguments)
    if os.getcwd() not in sys.path:
        # Last, so that a file of the user's can be named as "pkg.mod:fn" but never hides an installed package.
        sys.path.append(os.getcwd())
    return guard(f"forensegm {command}".strip(), lambda: _dispatch(arguments))


def split_command(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The name of the command that the arguments begin with, of one word or two, and the rest; "" where none does."""
    for words in (2, 1):
        name = " ".join(arguments[:words])
        if len(arguments) >= words and name in COMMANDS:
            return name, list(arguments[words:])
    return "", list(arguments)


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(help_text())
        return 0
    if arguments[0] == "--version":
        print(f"forensegm {__version__}")
        return 0
    name, rest = split_command(arguments)
    if not name:
        return _no_command(arguments)
    command = COMMANDS[name]
    if any(token in ("-h", "--help") for token in rest):
        print(build_parser(command).format_help(), end="")
        return 0
    config, args = parse_command(command, rest)
    if args.get("print_config"):
        print(config_text(config, command), end="")
        return 0
    check_required(command, config)
    return command.run(config, args)


def _no_command(arguments: Sequence[str]) -> int:
    """Help for a family of commands (`forensegm data`), or the mistake in what stands for a command."""
    first, second = arguments[0], arguments[1] if len(arguments) > 1 else ""
    family = {name.partition(" ")[2]: name for name in COMMANDS if name.startswith(f"{first} ")}
    if first.startswith("-"):
        raise UsageError(f"Expected a command first, got '{first}'. See forensegm --help.")
    if not family:
        raise UsageError(str(unknown_name(first, COMMANDS, what="command")))
    if second and not second.startswith("-"):
        raise UsageError(str(unknown_name(second, family, what=f"command of forensegm {first}")))
    print(help_text(family.values()))
    return 0


def configure(name: str, argv: Sequence[str]) -> tuple[Config, Namespace]:
    """Parse and check the arguments of a command, for scripts that take the same options (see tools/)."""
    config, args = parse_command(COMMANDS[name], argv)
    check_required(COMMANDS[name], config)
    return config, args


def help_text(names: Iterable[str] | None = None) -> str:
    """What `forensegm --help` prints: the commands (or some of them), one line each, and where to begin."""
    listed = list(names or COMMANDS)
    width = max(map(len, listed)) + 2
    return "\n".join(
        [
            "Usage: forensegm COMMAND [--OPTION VALUE ...]",
            "",
            "Localize AI edits, name the editor of each pixel, and measure how both survive the real world.",
            "",
            "Commands:",
            *(f"  {name:<{width}}{COMMANDS[name].summary}" for name in listed),
            "",
            "Begin with:",
            "  forensegm demo --out runs/demo",
            "",
            "forensegm COMMAND --help explains every option of a command; --version prints the version.",
        ]
    )
