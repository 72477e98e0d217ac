"""How every number is written, in terminals, Markdown, pictures and pages, and where numbers are looked up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

UNDEFINED = "n/a"
NO_REASON = "undefined on these images; no reason was recorded"
NOT_MEASURED = "not measured in this run"


def format_value(value: Any, *, percent: bool = False, digits: int | None = None) -> str:
    """Write one value: scores with three decimals, shares as percent, counts with separators, undefined as n/a.

    Args:
        value: number, bool, text or None. What is not finite counts as undefined.
        percent: show a share (0..1) in percent.
        digits: decimals; None = three, or one for percent.

    >>> format_value(0.41256), format_value(0.0341, percent=True), format_value(12345), format_value(None)
    ('0.413', '3.4 %', '12,345', 'n/a')
    >>> format_value(0.0002), format_value(0.9998), format_value(0.0)
    ('<0.001', '>0.999', '0.000')
    """
    if value is None:
        return UNDEFINED
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)) and not percent:
        return f"{value:,}"
    if not isinstance(value, (int, float, np.integer, np.floating)):
        return str(value)
    number = float(value) * (100 if percent else 1)
    if not math.isfinite(number):
        return UNDEFINED
    places = (1 if percent else 3) if digits is None else digits
    return _decimal(number, places, top=100.0 if percent else 1.0) + (" %" if percent else "")


def _decimal(number: float, places: int, *, top: float) -> str:
    """Round, but let a score never look like exactly 0 or the highest value unless it is."""
    step = 10.0**-places
    text = f"{number:.{places}f}"
    if float(text) == 0:
        return f"{0:.{places}f}" if number == 0 else ("<" if number > 0 else ">-") + f"{step:.{places}f}"
    if float(text) == top and number < top:
        return f">{top - step:.{places}f}"
    return text


def pick(values: Any, path: str) -> Any:
    """Look up "a.b.c" in nested dicts; None where a part is missing."""
    for key in path.split("."):
        if not isinstance(values, Mapping) or key not in values:
            return None
        values = values[key]
    return values


def has(values: Any, path: str) -> bool:
    """Whether "a.b.c" is in nested dicts, be its value None."""
    parent, _, key = path.rpartition(".")
    found = pick(values, parent) if parent else values
    return isinstance(found, Mapping) and key in found


def reason_for(metrics: Mapping[str, Any], path: str) -> str:
    """Why a value of metrics.json is undefined: its reason, kept by path with or without the leading "pixel."."""
    undefined = metrics.get("undefined") or {}
    for key in (path, path.removeprefix("pixel.")):
        if key in undefined:
            return str(undefined[key])
    return NO_REASON if has(metrics, path) else NOT_MEASURED


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a finite number (a bool is none)."""
    return (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, bool)
        and math.isfinite(float(value))
    )
