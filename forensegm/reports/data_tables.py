"""Tables of what a data set holds, for terminals and pages alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forensegm.reports.draw import editor_colour
from forensegm.reports.tables import Cell, Section, Table

COUNTS = (
    ("images", "images"),
    ("unreadable", "unreadable"),
    ("edited", "edited"),
    ("authentic", "authentic"),
    ("unknown", "not judged (only ignored pixels)"),
    ("partial", "edited in part"),
    ("full", "edited everywhere"),
    ("empty", "edited nowhere"),
    ("groups", "base photographs (groups)"),
)


def data_tables(summary: Mapping[str, Any]) -> list[Table]:
    """Return the tables of a data set's summary (see `forensegm.datasets.summary.summarize`) that have rows."""
    tables = [
        counts_table(summary["counts"]),
        splits_table(summary["splits"]),
        editors_table(summary["editors"], summary["edits"], summary["counts"]["edited"]),
        values_table(summary["values"]),
        distribution("Share of edited pixels", "of the edited images", summary["area"]),
        distribution("Turns", "of the images whose turns are known", summary["turns"]),
        sizes_table(summary["sizes"], summary["counts"]["readable"]),
        distribution("Encodings", "of the images", summary["codecs"]),
    ]
    return [table for table in tables if table.rows]


def counts_table(counts: Mapping[str, int]) -> Table:
    """How many images are what."""
    total = counts["images"]
    rows = [
        [Cell(text), Cell(f"{counts[key]:,}"), share_cell(counts[key], total) if key != "groups" else Cell("")]
        for key, text in COUNTS
        if counts[key] or key in ("images", "edited", "authentic")
    ]
    return Table("Images", ["what", "count", "share"], [Section("", rows)])


def splits_table(splits: Mapping[str, Mapping[str, int]]) -> Table:
    """Images of each split."""
    rows = [
        [Cell(name), *(Cell(f"{row[key]:,}") for key in ("images", "edited", "authentic", "groups"))]
        for name, row in splits.items()
    ]
    return Table("Splits", ["split", "images", "edited", "authentic", "groups"], [Section("", rows)])


def editors_table(editors: Mapping[str, Mapping[str, int]], edits: Mapping[str, int], edited: int) -> Table:
    """Images and pixels of each editor; turns where the data set knows them."""
    pixels = sum(row["pixels"] for row in editors.values())
    columns = ["editor", "images", "of the edited", "largest edit", "edited pixels", *(["turns"] if edits else [])]
    rows = [
        [
            Cell(name, colour=editor_colour(number)),
            Cell(f"{row['images']:,}"),
            share_cell(row["images"], edited),
            Cell(f"{row['dominant']:,}"),
            share_cell(row["pixels"], pixels),
            *([Cell(f"{edits.get(name, 0):,}")] if edits else []),
        ]
        for number, (name, row) in enumerate(editors.items(), start=1)
    ]
    return Table("Editors", columns, [Section("", rows)])


def values_table(values: Mapping[str, Mapping[str, Any]]) -> Table:
    """The values that masks hold, after reading."""
    pixels = sum(row["pixels"] for row in values.values())
    rows = [
        [Cell(value), Cell(str(row["class"])), Cell(f"{row['images']:,}"), share_cell(row["pixels"], pixels)]
        for value, row in values.items()
    ]
    return Table("Mask values", ["value", "class", "images", "pixels"], [Section("", rows)])


def sizes_table(sizes: Mapping[str, Any], total: int) -> Table:
    """The commonest sizes, and the range of the sides."""
    rows = [
        [Cell(f"{size} (height x width)"), Cell(f"{count:,}"), share_cell(count, total)]
        for size, count in sizes["common"].items()
    ]
    ranges = [
        f"{name} {side['min']} to {side['max']}, median {side['median']}" for name, side in sizes["sides"].items()
    ]
    noun = "size" if sizes["distinct"] == 1 else "sizes"
    notes = [f"{sizes['distinct']:,} {noun}; {'; '.join(ranges)} pixels."] if ranges else []
    return Table("Sizes", ["size", "images", "share"], [Section("", rows)], notes)


def distribution(title: str, of_what: str, counts: Mapping[str, int]) -> Table:
    """Counts by value, with their shares."""
    total = sum(counts.values())
    rows = [[Cell(name), Cell(f"{count:,}"), share_cell(count, total)] for name, count in counts.items()]
    return Table(title, ["value", "images", f"share {of_what}"], [Section("", rows)] if total else [])


def share_cell(part: int, total: int) -> Cell:
    """A share in percent, shaded by its size."""
    if not total:
        return Cell("")
    return Cell(f"{100 * part / total:.1f} %", shade=part / total)
