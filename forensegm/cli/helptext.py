"""Help texts: types in words, and a formatter that shows each option under the name that users type."""

from __future__ import annotations

import re
import shutil
import textwrap
from argparse import SUPPRESS, Action
from typing import Any, Literal, get_args, get_origin

from jsonargparse import DefaultHelpFormatter

WIDTH = 100


def hint_metavar(hint: Any) -> str:
    """What stands for a value of a type in help: INT, NUMBER, {a,b}, A,B,..."""
    simple = {int: "INT", float: "NUMBER", bool: "{true,false}", str: "TEXT"}
    if hint in simple:
        return simple[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return "{" + ",".join(map(str, inner)) + "}"
    letter = "A" if inner[0] is str else "N"
    if origin is tuple:
        return ",".join([letter] * len(inner))
    if origin is list:
        return f"{letter},..."
    return "A=N,..."


def hint_words(hint: Any) -> str:
    """A type in words, for "Expected --images to be ..."."""
    simple = {int: "an integer", float: "a number", bool: "true or false", str: "text"}
    if hint in simple:
        return simple[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(str, inner))
    items = {int: "integers", float: "numbers"}.get(inner[0], "names")
    if origin is tuple:
        return f"{len(inner)} {items} separated by commas"
    if origin is list:
        return f"{items} separated by commas"
    return "names with numbers, as in a=1.0,b=0.5"


def show_default(value: Any) -> str:
    """A default as a user would type it."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(show_default, value)) or "empty"
    if isinstance(value, dict):
        return ",".join(f"{key}={item}" for key, item in value.items()) or "empty"
    if isinstance(value, bool):
        return str(value).lower()
    return "empty" if value == "" else str(value)


class HelpFormatter(DefaultHelpFormatter):
    """Shows one name per option, its default at the end, in at most 100 columns, and keeps a description's lines."""

    def __init__(self, prog: str) -> None:
        """Fit the terminal."""
        columns = shutil.get_terminal_size(fallback=(WIDTH, 24)).columns
        super().__init__(prog, max_help_position=30, width=min(WIDTH, columns))  # type: ignore[no-untyped-call]

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        """Write "Usage" as the list of commands does."""
        super().add_usage(usage, actions, groups, prefix or "Usage: ")

    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002
        return "\n".join(indent + line for line in text.splitlines())

    def _split_lines(self, text: str, width: int) -> list[str]:
        # A vertical tab is white space to textwrap, so that long lists break after a comma, and is dropped afterwards.
        marked = re.sub(r",(?=\S)", ",\v", text)
        lines = textwrap.wrap(marked, width, replace_whitespace=False, break_on_hyphens=False)
        return [line.replace("\v", "") for line in lines]

    def _format_action_invocation(self, action: Action) -> str:
        if not action.option_strings:
            return str(action.metavar or action.dest)
        names = ", ".join(action.option_strings) if action.nargs == 0 else action.option_strings[0]
        return names if action.nargs == 0 else f"{names} {action.metavar}"

    def _get_help_string(self, action: Action) -> str:
        # "%" would be taken for a placeholder by argparse.
        text = action.help or ""
        if not action.option_strings or action.nargs == 0 or action.default in (None, SUPPRESS):
            return text
        if text.endswith("(required)"):
            return text
        return f"{text} (default: {show_default(action.default)})"
