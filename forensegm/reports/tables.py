"""Tables of an evaluation, built once and written for terminals, Markdown and HTML alike."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from forensegm.reports.draw import Colour, editor_colour
from forensegm.reports.numbers import UNDEFINED, format_value, is_number, pick, reason_for
from forensegm.reports.scores import (
    BASELINES,
    BY_KEY,
    COMPARED,
    PER_IMAGE,
    SHORT,
    Metrics,
    findings,
    words,
)
from forensegm.reports.text import clean

__all__ = ["Cell", "Table", "format_value", "metrics_markdown", "metrics_table"]

CLEAN = "clean"


@dataclass(frozen=True)
class Cell:
    """One cell: its text, why a value is undefined, a swatch of colour before it, a shade (0..1) behind it."""

    text: str
    reason: str = ""
    colour: Colour | None = None
    shade: float | None = None


@dataclass(frozen=True)
class Section:
    """Rows under a heading of their own; an empty heading has none."""

    heading: str
    rows: list[list[Cell]]


@dataclass(frozen=True)
class Table:
    """A table: first column names, the others values.

    Attributes:
        title: what it is.
        columns: headings, the first one of the names.
        sections: rows by heading.
        notes: sentences below it.
    """

    title: str
    columns: list[str]
    sections: list[Section]
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[list[Cell]]:
        """All rows without the headings."""
        return [row for section in self.sections for row in section.rows]

    @property
    def explained(self) -> list[str]:
        """Why values are undefined: one sentence per reason, naming the rows, in order of first use."""
        rows: dict[str, list[str]] = {}
        for name, *cells in self.rows:
            for reason in dict.fromkeys(cell.reason for cell in cells if cell.reason):
                rows.setdefault(reason, []).append(name.text)
        return [f"{UNDEFINED} ({', '.join(dict.fromkeys(names))}): {reason}." for reason, names in rows.items()]


def value_cell(metrics: Metrics, key: str) -> Cell:
    """Return the value of a score as a cell, with the reason where it is undefined."""
    value = pick(metrics, key)
    text = BY_KEY[key].text(value if is_number(value) else None)
    return Cell(text, reason_for(metrics, key) if text == UNDEFINED else "")


def score_table(metrics: Metrics) -> Table:
    """Every score with its 95 % interval and its best trivial baseline."""
    sections: dict[str, list[list[Cell]]] = {}
    found = findings(metrics)
    for one in found:
        row = [one.score.label, one.value_text, one.interval_text, one.baseline_text]
        cells = [Cell(text) for text in row]
        cells[1] = Cell(one.value_text, one.reason)
        sections.setdefault(one.score.group, []).append(cells)
    images = pick(metrics, "pixel.binary.per_image.n")
    heading = {PER_IMAGE: f"{PER_IMAGE} (n={format_value(images)})"} if images is not None else {}
    units = list(dict.fromkeys(one.unit for one in found if one.unit))
    notes = [f"Intervals: 95 % bootstrap over {' or '.join(units)}."] if units else []
    if any(entry and entry.get("unit") == "item" for entry in (metrics.get("intervals") or {}).values()):
        notes.append("Where single images were resampled, images of one photograph make the interval too narrow.")
    return Table(
        "Scores",
        ["score", "value", "95 % interval", "best trivial baseline"],
        [Section(heading.get(name, name), rows) for name, rows in sections.items()],
        notes,
    )


def comparison_table(title: str, first: str, rows: Mapping[str, Metrics]) -> Table:
    """The compared scores, one row per name; scores that no row has are left out."""
    keys = [key for key in COMPARED if any(is_number(pick(metrics, key)) for metrics in rows.values())]
    body = [[Cell(name), *(value_cell(metrics, key) for key in keys)] for name, metrics in rows.items()]
    return Table(title, [first, *(SHORT.get(key, BY_KEY[key].label) for key in keys)], [Section("", body)])


def baseline_table(metrics: Metrics) -> Table | None:
    """The model beside every trivial baseline; None without baselines."""
    baselines = metrics.get("baselines") or {}
    if not baselines:
        return None
    names = {BASELINES.get(name, words(name)): scores for name, scores in baselines.items()}
    return comparison_table("Against trivial predictions", "prediction", {"this model": metrics, **names})


def distortion_table(metrics: Metrics) -> Table | None:
    """Scores under each distortion, the clean ones first; None without distortions."""
    distortions = metrics.get("distortions") or []
    if not distortions:
        return None
    rows = {
        str(entry.get("chain") or f"{entry['name']} {entry.get('level', '')}".strip()): entry for entry in distortions
    }
    return comparison_table("Under distortions", "distortion", {CLEAN: metrics, **rows})


def editor_table(metrics: Metrics, names: Sequence[str]) -> Table | None:
    """IoU and number of images of each editor; None where neither is known. `names` gives the order and the colours."""
    per_class = pick(metrics, "pixel.editors.per_class") or {}
    counts = pick(metrics, "evaluated.editors") or pick(metrics, "data.editors") or {}
    counts = counts if isinstance(counts, Mapping) else {}
    known = [*names, *(name for name in per_class if name not in names and name != "authentic")]
    rows = []
    for place, name in enumerate(known, start=1):
        value = per_class.get(name)
        reason = "" if is_number(value) else reason_for(metrics, f"pixel.editors.per_class.{name}")
        value_text = format_value(value if is_number(value) else None)
        images = [Cell(format_value(counts.get(name, 0)))] if counts else []
        rows.append([Cell(name, colour=editor_colour(place)), *images, Cell(value_text, reason)])
    if not rows or not (per_class or counts):
        return None
    return Table("Editor by editor", ["editor", *(["images"] if counts else []), "IoU"], [Section("", rows)])


def pooling_table(metrics: Metrics) -> Table | None:
    """Image AUC of every pooling side by side; None where it was not measured."""
    by_pooling = pick(metrics, "image.auc_by_pooling") or {}
    if not by_pooling:
        return None
    chosen = pick(metrics, "image.pooling")
    rows = [
        [Cell(name + (" (used here)" if name == chosen else "")), Cell(format_value(value))]
        for name, value in by_pooling.items()
    ]
    return Table("From map to image score", ["pooling", "image AUC"], [Section("", rows)])


def confusion_table(metrics: Metrics, names: Sequence[str]) -> Table | None:
    """Where the pixels of each class went, in percent of the class; None without pixel.editors.confusion."""
    counts = pick(metrics, "pixel.editors.confusion")
    if not counts:
        return None
    labels = ["authentic", *names]
    rows = []
    for name, row in zip(labels, counts, strict=False):
        total = sum(row)
        shares = [count / total for count in row] if total else [None] * len(row)
        cells = [
            Cell(
                format_value(share, percent=True, digits=0), shade=share, reason="" if total else f"no pixel of {name}"
            )
            for share in shares
        ]
        rows.append([Cell(name), *cells])
    return Table("Where the pixels of each class went", ["true class", *labels[: len(counts)]], [Section("", rows)])


def to_rich(table: Table) -> RichTable:
    """Write a table for the terminal; reasons of undefined values stand in its caption."""
    notes = [*table.notes, *table.explained]
    caption = Text("\n".join(clean(note) for note in notes)) if notes else None
    shown = RichTable(
        title=Text(clean(table.title), style="bold"),
        caption=caption,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
    )
    for index, column in enumerate(table.columns):
        shown.add_column(Text(clean(column)), justify="right" if index else "left", overflow="fold")
    for section in table.sections:
        if section.heading:
            shown.add_row(Text(clean(section.heading), style="italic"))
        for row in section.rows:
            shown.add_row(*(Text(clean(cell.text)) for cell in row))
        shown.add_section()
    return shown


def to_markdown(table: Table) -> str:
    """Write a table as Markdown (GitHub's), with notes and reasons below it."""
    lines = [_line(table.columns), _line(["---", *["---:"] * (len(table.columns) - 1)])]
    for section in table.sections:
        if section.heading:
            lines.append(_line([f"**{_plain(section.heading)}**", *[""] * (len(table.columns) - 1)], plain=True))
        lines += [_line([cell.text for cell in row]) for row in section.rows]
    notes = [*table.notes, *table.explained]
    return "\n".join(lines) + "".join(f"\n\n{_plain(note)}" for note in notes)


def _line(cells: Sequence[str], *, plain: bool = False) -> str:
    return "| " + " | ".join(cell if plain else _plain(cell) for cell in cells) + " |"


def _plain(text: str) -> str:
    """Keep Markdown and HTML in a name from being read as such."""
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", " ".join(clean(text).split()))


def metrics_table(metrics: Metrics) -> RichTable:
    """Every score of a metrics.json with its interval and best trivial baseline, for the terminal."""
    return to_rich(score_table(metrics))


def metrics_markdown(metrics: Metrics) -> str:
    """The scores of a metrics.json as Markdown: all scores, editor by editor, and under distortions."""
    names = list((pick(metrics, "pixel.editors.per_class") or {}).keys())
    tables = [
        score_table(metrics),
        editor_table(metrics, [name for name in names if name != "authentic"]),
        distortion_table(metrics),
    ]
    parts = [to_markdown(tables[0])] if tables[0] else []
    parts += [f"**{table.title}**\n\n{to_markdown(table)}" for table in tables[1:] if table]
    return "\n\n".join(parts)
