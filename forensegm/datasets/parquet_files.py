"""Parquet files as one table of rows, of which one row group is in memory at a time."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from forensegm.datasets.rows import RowSpec, cell_bytes, check_unique, numbered, read_row
from forensegm.lookup import require, unknown_name
from forensegm.sample import LabelSpace, Sample

logger = logging.getLogger(__name__)

METADATA_KEY = b"forensegm"  # in the schema: JSON with name and labels, as `forensegm data convert` writes it
LARGE_GROUP_BYTES = 256 << 20


class ParquetFiles:
    """Parquet files of one schema. The last row group that was read is kept, per process.

    Args:
        paths: the files, at least one.

    Attributes:
        paths: as given.
        columns: names of the columns of the first file; the others must have those that are read.
        name: of the data set, where the first file says so; else the first file's folder.
        labels: the label space that the first file declares, or None.

    Raises:
        ValueError: a first file that is no whole Parquet file.
        RuntimeError: the extra `hub` is not installed.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        """Read the footer of the first file."""
        self.paths = list(paths)
        self._forget()
        schema = self._open(0).schema_arrow
        self.columns = list(schema.names)
        self.name, self.labels = _declared(schema, self.paths[0])

    def small(
        self, number: int, columns: Sequence[str], *, large: Sequence[str] = ()
    ) -> tuple[list[int], dict[str, list[Any]]]:
        """Return the rows of each row group of a file, and all cells of the small columns; the file must have both."""
        file, path = self._open(number), self.paths[number]
        with _reading(path):
            groups = [file.metadata.row_group(group) for group in range(file.num_row_groups)]
            largest = max((group.total_byte_size for group in groups), default=0)
            if largest > LARGE_GROUP_BYTES:
                logger.warning(
                    "A row group of '%s' takes %d MB, and each worker holds one. Convert the data set to shuffle it.",
                    path,
                    largest >> 20,
                )
            missing = [name for name in (*large, *columns) if name not in file.schema_arrow.names]
            if missing:
                raise ValueError(f"no column {', '.join(missing)}, which other files have")
            cells = file.read(columns=list(columns), use_threads=False)
            return [group.num_rows for group in groups], {name: cells.column(name).to_pylist() for name in columns}

    def row(self, number: int, group: int, row: int, large: Sequence[str]) -> dict[str, Any]:
        """Return the cells of one row: of the given columns, and of every other one that holds plain values."""
        if self._process != os.getpid():
            self._forget()
        with self._lock:
            table = self._row_group(number, group, large)
        with _reading(self.paths[number]):
            return {name: table.column(name)[row].as_py() for name in table.column_names}

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the open file and what was read of it."""
        return {**self.__dict__, "_file": None, "_table": None, "_lock": None, "_process": -1}

    def _forget(self) -> None:
        """Begin anew; in a forked process too, where the inherited file has one reading position for all."""
        self._file: tuple[int, Any] | None = None
        self._table: tuple[tuple[int, int], Any] | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()

    def _open(self, number: int) -> Any:
        if self._file is None or self._file[0] != number:
            path = self.paths[number]
            library = require("pyarrow.parquet", extra="hub")
            with _reading(path):
                self._file = (number, library.ParquetFile(path, page_checksum_verification=True))
        return self._file[1]

    def _row_group(self, number: int, group: int, large: Sequence[str]) -> Any:
        file = self._open(number)
        if self._table is not None and self._table[0] == (number, group):
            return self._table[1]
        self._table = None  # before the next one is read, so that never two are in memory
        with _reading(self.paths[number]):
            wanted = [item.name for item in file.schema_arrow if item.name in large or _is_plain(item.type)]
            # Arrow's thread pools are not used: forked workers have none.
            table = file.read_row_group(group, columns=wanted, use_threads=False)
            if table.num_rows != file.metadata.row_group(group).num_rows:
                raise ValueError(f"another number of rows in row group {group} than it says")
        self._table = ((number, group), table)
        return table


class ParquetDataset:
    """Rows of Parquet files; made by `parquet`.

    Reading an item reads its row group, of which the last one is kept per process: memory is that of one row group.
    In order each is read once; shuffled, once for each item. To shuffle large row groups, convert the data set first.

    Args:
        files: the files.
        spec: what the cells mean.
        split: name of the split to read; None = all.
        file_splits: the split that the name of each file says, for a table without a column of splits.

    Attributes:
        name: as the files say.
        labels: the label space of the masks.
        ids: of the rows: their column, or split and running number.
        groups: likewise; the id where the table has none.
        splits: their column, or what the file names say.

    Raises:
        ValueError: a broken file, an id used twice, or an unknown split.
    """

    def __init__(
        self, files: ParquetFiles, spec: RowSpec, *, split: str | None = None, file_splits: Sequence[str] = ()
    ) -> None:
        """Read the footers and the small columns of all files."""
        self.name, self.labels, self.files, self.spec = files.name, spec.labels, files, spec
        self.ids: list[str] = []
        self.groups: list[str] = []
        self.splits: list[str] = []
        places: list[tuple[int, int, int]] = []
        counts: dict[str, int] = {}
        for number in range(len(files.paths)):
            sizes, cells = files.small(number, spec.columns.small(), large=spec.columns.large())
            rows = [(number, group, row) for group, size in enumerate(sizes) for row in range(size)]
            for row, place in enumerate(rows):
                found = _cell(cells, spec.columns.split_column, row) or (file_splits[number] if file_splits else "")
                counts[found] = counts.get(found, -1) + 1
                if split is not None and found != split:
                    continue
                self.ids.append(_cell(cells, spec.columns.id, row) or numbered(found, counts[found]))
                self.groups.append(_cell(cells, spec.columns.group, row) or self.ids[-1])
                self.splits.append(found)
                places.append(place)
        if split is not None and split not in counts:
            known = [name for name in counts if name] or ["(none: it names no splits)"]
            raise unknown_name(split, known, what=f"split of {self.name}")
        check_unique(self.ids, where=f"{self.name} ('{spec.columns.id}')")
        self._places = np.array(places, dtype=np.int64).reshape(-1, 3)

    def __len__(self) -> int:
        """Return the number of rows, unreadable ones included."""
        return len(self.ids)

    def __getitem__(self, index: int) -> Sample:
        """Read one row; raises ValueError or FileNotFoundError naming the file, row and column that is broken."""
        number, group, row = self._places[index].tolist()
        cells = self.files.row(number, group, row, self.spec.columns.large())
        where = f"{self.files.paths[number]}/row {row} of row group {group}"
        return read_row(cells, self.spec, id=self.ids[index], group=self.groups[index], where=where)

    def encoded_image(self, index: int) -> bytes:
        """Return the bytes of a row's image, as they are; raises ValueError where the cell holds none."""
        number, group, row = self._places[index].tolist()
        name = self.spec.columns.image
        cells = self.files.row(number, group, row, self.spec.columns.large())
        data = cell_bytes(cells[name], f"{self.files.paths[number]}/{name}")
        if data is None:
            raise ValueError(f"Expected an image in row '{self.ids[index]}' of {self.name}, got an empty cell.")
        return data


def _cell(cells: dict[str, list[Any]], column: str | None, row: int) -> str:
    """A cell as text; empty where there is none."""
    value = cells[column][row] if column else None
    return "" if value is None else str(value)


def _is_plain(kind: Any) -> bool:
    """Whether an Arrow type holds text or numbers."""
    types = require("pyarrow", extra="hub").types
    tests = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    return any(test(kind) for test in tests)


def _declared(schema: Any, path: Path) -> tuple[str, LabelSpace | None]:
    """Name and label space that a file of our own says it has."""
    text = (schema.metadata or {}).get(METADATA_KEY)
    folder = path.resolve().parent
    name = folder.parent.name if folder.name == "data" else folder.name
    if text is None:
        return name, None
    try:
        values = json.loads(text)
        return str(values.get("name", name)), LabelSpace(tuple(values["labels"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"Expected name and labels under 'forensegm' in the schema of '{path}', got: {error}."
        ) from error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what Arrow raises on broken files into one clear error."""
    arrow = require("pyarrow", extra="hub")
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(f"Expected a Parquet file at '{path}', got none there. Check the path.") from error
    except PermissionError:
        raise
    except (arrow.ArrowException, OSError, ValueError, LookupError, OverflowError) as error:
        detail = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(
            f"Expected a whole Parquet file in '{path}', got a truncated or broken one ({detail}). Fetch it again."
        ) from error
