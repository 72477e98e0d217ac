"""From command line arguments to the configuration; every mistake names the option as the user knows it."""

from __future__ import annotations

import difflib
import json
import re
from argparse import ArgumentError
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_origin

from jsonargparse import ArgumentParser, Namespace

from forensegm.cli.config_file import read_config
from forensegm.cli.errors import UsageError
from forensegm.cli.helptext import hint_words
from forensegm.cli.options import Command, Option, build_parser, command_options, section_options, section_types
from forensegm.config import Config


def parse_command(command: Command, argv: Sequence[str]) -> tuple[Config, Namespace]:
    """Parse a command's arguments.

    Args:
        command: the command.
        argv: its arguments, without the command's name.

    Returns:
        The configuration (defaults, then the files given with --config in their order, then the command line) and
        the arguments that are no part of it.

    Raises:
        UsageError: an unknown or mistyped option, argument or key of a file.
    """
    parser, options = build_parser(command), command_options(command)
    argv = _normalize(argv, options)
    args = _parse(parser, argv, options)
    values: dict[str, dict[str, Any]] = {}
    for path in args.get("config") or []:
        for section, entries in read_config(Path(path)).items():
            values.setdefault(section, {}).update(entries)
    if values:
        from_files = {f"{section}.{key}": value for section in values for key, value in values[section].items()}
        parser.set_defaults({option.dest: from_files[option.key] for option in options if option.key in from_files})
        args = _parse(parser, argv, options)
    for option in options:
        section, _, key = option.key.partition(".")
        values.setdefault(section, {})[key] = args[option.dest]
    return Config.from_dict(values), args


def check_required(command: Command, config: Config) -> None:
    """Raise UsageError for an option that the command cannot do without."""
    for key, what in command.required.items():
        section, _, name = key.partition(".")
        if not getattr(getattr(config, section), name):
            raise UsageError(f"Expected {command.short.get(key, '--' + key)}, {what}.")


def _parse(parser: ArgumentParser, argv: Sequence[str], options: Sequence[Option]) -> Namespace:
    try:
        return parser.parse_args(argv)
    except ArgumentError as error:
        raise UsageError(_reword(str(error), parser, options)) from error


def _reword(message: str, parser: ArgumentParser, options: Sequence[Option]) -> str:
    """Turn jsonargparse's message into one that names the option as the user knows it."""
    if match := re.match(r'Parser key "([^"]+)":\s*(.*)\s+Got value: (.*)', message, re.DOTALL):
        key, problem, value = match.groups()
        for option in options:
            if option.dest == key and (nested := re.match(r"NestedArg\(key='([^']+)'", value)):
                return _unknown_argument(f"{option.name}.{nested[1]}", parser, options)
            if option.dest == key:
                typed = re.sub(r"[\[\]']", "", value) if get_origin(option.hint) in (list, tuple) else value
                return f"Expected {option.name} to be {hint_words(option.hint)}, got '{typed}'."
        words = {f"<class '{kind.__name__}'>": hint_words(kind) for kind in (int, float, bool, str)}
        wanted = next((text for name, text in words.items() if name in problem), problem)
        return f"Expected --{key} to be {wanted}, got '{value}'."
    if match := re.match(r"argument (\S+): expected (?:one|at least one) argument", message):
        return f"Expected a value after {match[1].partition('/')[0]}."
    if match := re.match(r"unrecognized arguments: (\S+)", message):
        return _unknown_argument(match[1].partition("=")[0], parser, options)
    return message


def _unknown_argument(name: str, parser: ArgumentParser, options: Sequence[Option]) -> str:
    help_hint = f"See {parser.prog} --help."
    if not name.startswith("-"):
        return f"Expected no further argument, got '{name}'. {help_hint}"
    if name in {option.name for section in section_types() for option in section_options(section)}:
        return f"Expected an option of {parser.prog}, got {name}, which it does not use. {help_hint}"
    known = {text: text for action in parser._actions for text in action.option_strings if not text.endswith("+")}
    known |= {f"--{option.key}": option.name for option in options}
    close = difflib.get_close_matches(name, known, n=1)
    return f"Expected a known option, got '{name}'. {f'Did you mean {known[close[0]]}?' if close else help_hint}"


def _normalize(argv: Sequence[str], options: Sequence[Option]) -> list[str]:
    """Give every option its short name and its value the form that jsonargparse reads."""
    known = {name: option for option in options for name in (f"--{option.key}", option.name)}
    result: list[str] = []
    pending: Option | None = None
    for token in argv:
        name, sign, value = token.partition("=")
        if pending is not None and not token.startswith("--"):
            result.append(_value(token, pending))
            pending = None
            continue
        pending = None
        if name not in known:
            result.append(token)
        elif sign:
            result.append(f"{known[name].name}={_value(value, known[name])}")
        else:
            pending = known[name]
            result.append(pending.name)
    return result


def _value(text: str, option: Option) -> str:
    """Let lists be written as a,b and mappings as a=1,b=2; commas in parentheses do not count."""
    kind, text = get_origin(option.hint), text.strip()
    if kind in (list, tuple):
        return json.dumps(_split(text.removeprefix("[").removesuffix("]")))
    if kind is dict and "=" in text:
        return "{" + ", ".join(item.replace("=", ": ", 1) for item in _split(text)) + "}"
    return text


def _split(text: str) -> list[str]:
    items = (item.strip().strip("\"'") for item in re.split(r",(?![^()]*\))", text))
    return [item for item in items if item]
