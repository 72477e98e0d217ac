"""Check values read from a file against the dataclass they are to become, with errors that name the place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, NoReturn, get_args

from forensegm.sample import LabelSpace

NONE = type(None)
TYPES: dict[str, tuple[tuple[type, ...], str]] = {  # a field's annotation: what it may hold, and that in words
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "str": ((str,), "text"),
    "str | None": ((str, NONE), "text or null"),
    "dict[str, Any]": ((dict,), "keys with values"),
    "dict[str, Any] | None": ((dict, NONE), "keys with values, or null"),
    "list[int]": ((list,), "a list of whole numbers"),
    "list[Edit]": ((list,), "a list of edits"),
    "LabelSpace": ((LabelSpace,), "a list of editor names"),
    "EditKind": ((str,), "text"),
    "Composite": ((str,), "text"),
    "Base": ((str,), "text"),
}


def checked(cls: type, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `values` if they are the fields of the dataclass `cls`, each of its type.

    Raises:
        ValueError: an unknown or missing key, or a value of another type; it names `where`.
    """
    if not isinstance(values, Mapping):
        fail(where, f"the keys of {cls.__name__}", type(values).__name__)
    known = {item.name: item for item in fields(cls)}
    required = [item.name for item in known.values() if item.default is MISSING and item.default_factory is MISSING]
    wrong = [f"unknown '{key}'" for key in values if key not in known]
    wrong += [f"no '{name}'" for name in required if name not in values]
    if wrong:
        fail(where, f"the keys {', '.join(known)}", ", ".join(wrong))
    for name, value in values.items():
        allowed, words = TYPES[str(known[name].type)]
        if not isinstance(value, allowed) or isinstance(value, bool):
            fail(where, f"'{name}' to be {words}", f"{type(value).__name__} {value!r:.60}")
    return dict(values)


def check_choice(name: str, value: str, choices: Any, where: str) -> None:
    """Raise ValueError, naming `where`, unless `value` is one of the words of the Literal `choices`."""
    if value not in get_args(choices):
        fail(where, f"'{name}' to be {' or '.join(get_args(choices))}", f"'{value}'")


def fail(where: str, expected: str, got: str) -> NoReturn:
    """Raise the one ValueError of a file that does not say what it should."""
    raise ValueError(f"Expected {expected} in {where}, got {got}.")
