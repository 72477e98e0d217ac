"""Read data sets that a table lists: JSON, JSON Lines or CSV with one row per image."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forensegm.datasets.declare import declare, label_space
from forensegm.datasets.entries import Entry, EntryDataset, select_split
from forensegm.datasets.pairing import listed
from forensegm.datasets.paths import inside
from forensegm.datasets.storage import FolderStorage
from forensegm.imageio import MaskKind, Mismatch
from forensegm.sample import AUTHENTIC_NAME, LabelSpace

NEGATIVE = "negative"  # how IMDLBenCo's lists spell an authentic image, in small letters
ROW_LISTS = ("data", "images", "samples", "items")


@dataclass(frozen=True)
class Row:
    """One row of a table: where it stands, for errors, and its cells by column."""

    where: str
    cells: Mapping[str, Any]

    def text(self, column: str) -> str:
        """A cell as text; empty where there is none."""
        value = self.cells.get(column)
        return "" if value is None else str(value).strip()


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are called."""

    image: str
    mask: str
    id: str
    group: str
    split: str
    editor: str
    label: str


def manifest(
    location: str | Path,
    *,
    split: str | None = None,
    root: str | Path | None = None,
    image: str = "image",
    mask: str = "mask",
    id: str = "id",
    group: str = "group",
    split_column: str = "split",
    editor_column: str = "editor",
    label: str = "label",
    authentic: Sequence[str] = (AUTHENTIC_NAME, "real", "pristine", "0"),
    mask_kind: MaskKind = "binary",
    labels: LabelSpace | Sequence[str] | int | None = None,
    editor: str | None = None,
    ignore: int | None = None,
    on_mismatch: Mismatch = "error",
    mask_values: Mapping[Any, Any] | None = None,
    mask_threshold: int | None = None,
) -> EntryDataset:
    """Images and masks that a table lists, one row each.

    JSON is a list of objects (or an object with one under data, images, samples or items), JSON Lines one object per
    line, CSV has a header. Other columns are kept in the samples' meta, under "row". A row without a mask must be
    declared authentic, by its `label` or with "authentic" or "Negative" as its mask: a lost mask is never a claim.

    Args:
        location: the table: .json, .jsonl or .csv.
        split: name of the split to read; None = all.
        root: what the paths are relative to, and must lie in; None = the table's folder.
        image: column of image paths.
        mask: column of mask paths.
        id: column of ids; without it the image path is the id.
        group: column of base photographs; without it every image is its own.
        split_column: column of splits.
        editor_column: column that names the editor of a binary mask, row by row.
        label: column that says what a row is.
        authentic: values of `label` that declare a row authentic; its mask, if any, is then not read.
        mask_kind: see `declare`, like the options that follow.
        labels: by default the editors that the table names, sorted.
        editor: editor of the binary masks of rows that name none.
        ignore: see `declare`.
        on_mismatch: see there.
        mask_values: see there.
        mask_threshold: see there.

    Raises:
        FileNotFoundError: no such table.
        ValueError: a table that cannot be read, a path outside the root, rows without a mask that are not declared
            authentic, an id used twice, an unknown editor or split; errors name file and line.
    """
    path = Path(location).expanduser()
    rows = read_rows(path)
    base = Path(root).expanduser() if root is not None else path.parent
    columns = Columns(image, mask, id, group, split_column, editor_column, label)
    untouched = frozenset(value.lower() for value in authentic)
    edited = [row for row in rows if not is_authentic(row, columns, untouched)]
    names = sorted({row.text(editor_column) for row in edited} - {""}) if mask_kind == "binary" else []
    space = label_space(names if names and labels is None else labels, mask_values)
    if names and editor is None and all(row.text(editor_column) for row in edited):
        editor = space.editors[0]  # of no row: each names its own
    space, spec = declare(
        mask_kind,
        labels if labels is None and not names else space,
        editor=editor,
        ignore=ignore,
        on_mismatch=on_mismatch,
        mask_values=mask_values,
        mask_threshold=mask_threshold,
    )
    lost = [row.where for row in edited if not row.text(mask)]
    if lost:
        raise ValueError(
            f"Expected a mask in every row, or the word that it is authentic, got neither in {len(lost)}: "
            f"{listed(lost)}. Fill column '{mask}', or write '{AUTHENTIC_NAME}' under '{label}'."
        )
    marked = {row.where for row in edited}
    own = space if names else None
    entries = [_entry(row, columns, base, edited=row.where in marked, editors=own) for row in rows]
    entries = select_split(entries, split, where=f"'{path}'")
    return EntryDataset(path.stem, entries, labels=space, spec=spec, storage=FolderStorage(base))


def _entry(row: Row, columns: Columns, base: Path, *, edited: bool, editors: LabelSpace | None) -> Entry:
    """One row; `editors` where rows name the editors of their masks."""
    name = row_path(row, columns.image, base)
    editor = row.text(columns.editor) if edited and editors is not None else ""
    return Entry(
        id=row.text(columns.id) or name,
        image=name,
        mask=row_path(row, columns.mask, base) if edited else None,
        editor=editor_of(row, editor, editors) if editor and editors is not None else None,
        group=row.text(columns.group),
        split=row.text(columns.split),
        meta={"row": dict(row.cells)},
    )


def is_authentic(row: Row, columns: Columns, untouched: frozenset[str]) -> bool:
    """Whether a row is declared authentic, by its label or in place of its mask."""
    return row.text(columns.label).lower() in untouched or row.text(columns.mask).lower() in (AUTHENTIC_NAME, NEGATIVE)


def read_rows(path: Path) -> list[Row]:
    """Read the rows of a table; raises FileNotFoundError, or ValueError naming file and line."""
    readers = {".json": _json_rows, ".jsonl": _jsonl_rows, ".ndjson": _jsonl_rows, ".csv": _csv_rows}
    if not path.is_file():
        found = "a folder" if path.exists() else "nothing"
        raise FileNotFoundError(f"Expected a table at '{path}', got {found} there. Check the path.")
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"Expected a table that ends in {', '.join(readers)}, got '{path}'. Rename or convert it.")
    rows = list(reader(path))
    if not rows:
        raise ValueError(f"Expected rows in '{path}', got none.")
    return rows


def read_text(path: Path) -> str:
    """Read UTF-8, with or without a byte order mark; raises ValueError for other bytes."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"Expected UTF-8 text in '{path}', got other bytes ({error}). Save it as UTF-8.") from error


def parse_json(text: str, where: str) -> Any:
    """Parse JSON; raises ValueError naming where."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Expected JSON in {where}, got: {' '.join(str(error).split())}.") from error


def row_path(row: Row, column: str, base: Path) -> str:
    """A path of a row, relative to the root with slashes; raises ValueError for none or one outside of it."""
    text = row.text(column)
    if not text:
        raise ValueError(f"Expected a path under '{column}' in {row.where}, got none. Known: {', '.join(row.cells)}.")
    return inside(text, base, where=f"'{column}' of {row.where}")


def editor_of(row: Row, name: str, labels: LabelSpace) -> int:
    """The id of a row's editor; raises ValueError naming the row."""
    if name not in labels.editors:
        raise ValueError(f"Expected one of {', '.join(labels.editors)} as editor in {row.where}, got '{name}'.")
    return labels.id_of(name)


def _json_rows(path: Path) -> Iterator[Row]:
    values = parse_json(read_text(path), f"'{path}'")
    if isinstance(values, Mapping):
        lists = [values[key] for key in ROW_LISTS if isinstance(values.get(key), list)]
        values = lists[0] if lists else values
    if not isinstance(values, list):
        raise ValueError(
            f"Expected a list of rows in '{path}', or one under {', '.join(ROW_LISTS)}, got {type(values).__name__}."
        )
    for number, value in enumerate(values, start=1):
        yield _row(value, f"{path}, row {number}")


def _jsonl_rows(path: Path) -> Iterator[Row]:
    # Not splitlines(): inside JSON it would also cut at U+2028 and the like.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield _row(parse_json(line, f"{path}:{number}"), f"{path}:{number}")


def _csv_rows(path: Path) -> Iterator[Row]:
    reader = csv.DictReader(read_text(path).splitlines(keepends=True), strict=True)
    try:
        for cells in reader:
            where = f"{path}:{reader.line_num}"
            if None in cells or None in cells.values():
                raise ValueError(f"Expected {len(reader.fieldnames or [])} cells in {where}, got more or fewer.")
            yield Row(where, cells)
    except csv.Error as error:
        raise ValueError(f"Expected CSV in {path}:{reader.line_num}, got: {error}.") from error


def _row(value: Any, where: str) -> Row:
    if not isinstance(value, Mapping):
        raise ValueError(
            f"Expected an object with columns in {where}, got {type(value).__name__}. A list of [image, mask] pairs is "
            "of kind imdlbenco."
        )
    return Row(where, value)
