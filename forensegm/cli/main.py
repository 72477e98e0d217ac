"""`forensegm COMMAND`: finds the command, parses its arguments, runs it, and turns mistakes into one line."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from jsonargparse import Namespace

from forensegm.cli import compare, demo, edit, evaluate, export, list_parts, predict, robustness, train, view
from forensegm.cli.config_file import config_text
from forensegm.cli.errors import UsageError, guard
from forensegm.cli.options import Command, build_parser
from forensegm.cli.parsing import check_required, parse_command
from forensegm.config import Config
from forensegm.lookup import unknown_name
from forensegm.version import __version__

COMMANDS: dict[str, Command] = {
    module.COMMAND.name: module.COMMAND
    for module in (demo, edit, train, evaluate, robustness, compare, predict, view, export, list_parts)
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
    name = arguments[0] if arguments and arguments[0] in COMMANDS else ""
    if os.getcwd() not in sys.path:
        # Last, so that a file of the user's can be named as "pkg.mod:fn" but never hides an installed package.
        sys.path.append(os.getcwd())
    return guard(f"forensegm {name}".strip(), lambda: _dispatch(arguments))


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(help_text())
        return 0
    if arguments[0] == "--version":
        print(f"forensegm {__version__}")
        return 0
    if arguments[0] not in COMMANDS:
        if arguments[0].startswith("-"):
            raise UsageError(f"Expected a command first, got '{arguments[0]}'. See forensegm --help.")
        raise UsageError(str(unknown_name(arguments[0], COMMANDS, what="command")))
    command = COMMANDS[arguments[0]]
    if any(token in ("-h", "--help") for token in arguments[1:]):
        print(build_parser(command).format_help(), end="")
        return 0
    config, args = parse_command(command, arguments[1:])
    if args.get("print_config"):
        print(config_text(config, command), end="")
        return 0
    check_required(command, config)
    return command.run(config, args)


def configure(name: str, argv: Sequence[str]) -> tuple[Config, Namespace]:
    """Parse and check the arguments of a command, for scripts that take the same options (see tools/)."""
    config, args = parse_command(COMMANDS[name], argv)
    check_required(COMMANDS[name], config)
    return config, args


def help_text() -> str:
    """What `forensegm --help` prints: the commands, one line each, and where to begin."""
    width = max(map(len, COMMANDS)) + 2
    return "\n".join(
        [
            "Usage: forensegm COMMAND [--OPTION VALUE ...]",
            "",
            "Localize AI edits, name the editor of each pixel, and measure how both survive the real world.",
            "",
            "Commands:",
            *(f"  {name:<{width}}{command.summary}" for name, command in COMMANDS.items()),
            "",
            "Begin with:",
            "  forensegm demo --out runs/demo",
            "",
            "forensegm COMMAND --help explains every option of a command; --version prints the version.",
        ]
    )
