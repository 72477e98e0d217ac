"""Find a part by name: in a table, or, only on the user's own word, at "pkg.mod:fn"."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

T = TypeVar("T")


def unknown_name(name: str, known: Iterable[str], *, what: str) -> ValueError:
    """Build the one error for an unknown name: it names the closest known ones, or lists them all."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(names)}."
    return ValueError(f"Expected a known {what}, got '{name}'. {hint}")


def lookup(table: Mapping[str, T], name: str | T, *, what: str, trusted: bool = False) -> T:
    """Return the part that `name` stands for.

    Args:
        table: the known parts by name.
        name: a name in the table, "pkg.mod:fn" (see `trusted`), or the part itself, which is returned as it is.
        what: what is looked up, in the singular, for the error message.
        trusted: whether `name` is the user's own word (command line, YAML, code). Only then is "pkg.mod:fn"
            imported; a name out of a checkpoint, record or data set never chooses code.

    Raises:
        ValueError: an unknown name, or a "pkg.mod:fn" that is not trusted or cannot be imported.
    """
    if not isinstance(name, str):
        return name
    if name in table:
        return table[name]
    if ":" in name:
        if trusted:
            return cast("T", import_part(name, what=what))
        raise ValueError(
            f"Expected the {what} '{name}' to be passed by you as well: a name read from a file is looked up in the "
            "built-in table only and is never imported."
        )
    raise unknown_name(name, table, what=what)


def import_part(path: str, *, what: str) -> Callable[..., Any]:
    """Import "pkg.mod:fn"; raises ValueError that says which half could not be found."""
    module_name, _, attribute = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ValueError(f"Expected the {what} '{path}' to be importable, got: {error}.") from error
    part = getattr(module, attribute, None)
    if not callable(part):
        raise ValueError(f"Expected the {what} '{path}' to name a callable of {module_name}, got {part!r}.")
    return cast("Callable[..., Any]", part)


def require(module: str, *, extra: str) -> Any:
    """Import an optional library, or raise RuntimeError naming the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise RuntimeError(
            f"Expected '{module}' to be installed, got: {error}. Install it with: pip install 'forensegm[{extra}]'"
        ) from error
