"""A contact sheet of the turns of an edit build: how many fell where and why, and what they look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forensegm.imageio import write_text_atomic
from forensegm.reports import page
from forensegm.reports.html import templates
from forensegm.reports.tables import Cell, Section, Table


def write_contact_page(
    path: str | Path, audit: Mapping[str, Mapping[str, Any]], *, title: str, strips: Sequence[Mapping[str, str]]
) -> Path:
    """Write a self-contained page: no script, nothing loaded from elsewhere.

    Args:
        path: the HTML file; written whole or not at all.
        audit: by editor: accepted, retries, dropped, rejected_tries (counts by reason), median (figures by name).
        title: name of the data set.
        strips: pictures of turns: id, editor, caption, kind (accepted or dropped) and jpeg (base64).

    Returns:
        The path.
    """
    path = Path(path)
    text = (
        templates()
        .get_template("contact.html.jinja")
        .render(title=title, tables=_tables(audit), strips=strips, footnotes=page.Footnotes())
    )
    write_text_atomic(path, text)
    return path


def _tables(audit: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    reasons = sorted({reason for one in audit.values() for reason in one["rejected_tries"]})
    figures = sorted({name for one in audit.values() for name in one["median"]})
    turns = [
        [name, *(str(one[key]) for key in ("accepted", "dropped", "retries")), *_counts(one["rejected_tries"], reasons)]
        for name, one in audit.items()
    ]
    medians = [[name, *(_figure(one["median"].get(key)) for key in figures)] for name, one in audit.items()]
    words = [f"tries rejected: {reason}" for reason in reasons]
    tables = [_table("Turns by editor", ["editor", "accepted", "dropped", "retries", *words], turns)]
    if figures:
        names = [name.replace("_", " ") for name in figures]
        tables.append(_table("Median change of the accepted turns", ["editor", *names], medians))
    return tables


def _counts(found: Mapping[str, int], reasons: Sequence[str]) -> list[str]:
    return [str(found.get(reason, 0)) for reason in reasons]


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.3g}"


def _table(title: str, columns: list[str], rows: list[list[str]]) -> Table:
    return Table(title, columns, [Section("", [[Cell(text) for text in row] for row in rows])])
