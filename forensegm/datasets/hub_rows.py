"""The rows of a data set of the `datasets` library: indexed, or one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from forensegm.datasets.rows import RowSpec, cell_bytes, check_unique, numbered, read_row
from forensegm.lookup import unknown_name
from forensegm.sample import Sample

DETAIL = 300  # characters of an error of the library


class HubDataset:
    """The rows of a data set that the library has fetched and keeps on disk; made by `hub`.

    Args:
        name: for reports.
        parts: the library's data set of each split, images not decoded.
        spec: what the cells mean.
        split: name of the split to read, of the column of splits or else of `parts`; None = all.

    Attributes:
        name: as given.
        labels: the label space of the masks.
        ids: of the rows: their column, or split and running number.
        groups: likewise; the id where there is none.
        splits: their column, or the library's split.

    Raises:
        ValueError: an id used twice, or an unknown split.
    """

    def __init__(self, name: str, parts: Mapping[str, Any], spec: RowSpec, *, split: str | None = None) -> None:
        """Read the small columns."""
        self.name, self.labels, self.spec = name, spec.labels, spec
        self.parts = choose_parts(parts, spec, split, where=name)
        self.ids: list[str] = []
        self.groups: list[str] = []
        self.splits: list[str] = []
        self._places: list[tuple[str, int]] = []
        known: set[str] = set()
        for part_name, part in self.parts.items():
            small = part.select_columns(spec.columns.small())[:] if spec.columns.small() else {}
            for row in range(len(part)):
                cells = {column: values[row] for column, values in small.items()}
                sample_id, group, found = _names(cells, spec, part_name, row)
                known.add(found)
                if split in (None, found):
                    self.ids.append(sample_id)
                    self.groups.append(group or sample_id)
                    self.splits.append(found)
                    self._places.append((part_name, row))
        if split is not None and split not in known:
            raise unknown_name(split, known or {"(none: it is empty)"}, what=f"split of '{name}'")
        check_unique(self.ids, where=f"{name} ('{spec.columns.id}')")

    def __len__(self) -> int:
        """Return the number of rows, unreadable ones included."""
        return len(self.ids)

    def __getitem__(self, index: int) -> Sample:
        """Read one row; raises ValueError naming the row and column that is broken."""
        split, row = self._places[index]
        where = f"{self.name}/{split} row {row}"
        return read_row(self.parts[split][row], self.spec, id=self.ids[index], group=self.groups[index], where=where)

    def encoded_image(self, index: int) -> bytes:
        """Return the bytes of a row's image, as they are; raises ValueError where the cell holds none."""
        split, row = self._places[index]
        data = cell_bytes(self.parts[split][row][self.spec.columns.image], f"{self.name}/{split} row {row}")
        if data is None:
            raise ValueError(f"Expected an image in row '{self.ids[index]}' of {self.name}, got an empty cell.")
        return data


class StreamDataset:
    """The rows of a data set one after the other, without fetching it first; made by `hub` with streaming.

    It has no length and no index: iterate over it, to look at data, to convert them or to predict. Training and
    evaluation need an indexed data set. Every iteration begins anew.

    Args:
        name: for reports.
        parts: the library's iterable data set of each split, images not decoded.
        spec: what the cells mean.
        split: name of the split to read, as for `HubDataset`; None = all.
        shard: (number, count): of every `count` rows only the one of this number, for several processes.

    Attributes:
        name: as given.
        labels: the label space of the masks.
    """

    def __init__(
        self,
        name: str,
        parts: Mapping[str, Any],
        spec: RowSpec,
        *,
        split: str | None = None,
        shard: tuple[int, int] = (0, 1),
    ) -> None:
        """Keep the parts; nothing is fetched."""
        if not 0 <= shard[0] < shard[1]:
            raise ValueError(f"Expected a shard number of 0..{shard[1] - 1}, got {shard[0]}.")
        self.name, self.labels, self.spec = name, spec.labels, spec
        self.parts = choose_parts(parts, spec, split, where=name)
        self._split, self._shard = split, shard

    def shard(self, number: int, count: int) -> StreamDataset:
        """Every `count`-th row, beginning with `number`: disjoint for 0..count-1, and all rows together."""
        return StreamDataset(self.name, self.parts, self.spec, split=self._split, shard=(number, count))

    def __iter__(self) -> Iterator[Sample]:
        """Yield samples.

        Raises:
            ValueError: a row that is broken; it names the row.
            RuntimeError: the hub cannot be reached any more.
        """
        number, count = self._shard
        seen = 0
        for part_name, part in self.parts.items():
            for row, cells in enumerate(_fetched(part, self.name)):
                sample_id, group, found = _names(cells, self.spec, part_name, row)
                if self._split not in (None, found):
                    continue
                seen += 1
                if (seen - 1) % count == number:
                    where = f"{self.name}/{part_name} row {row}"
                    yield read_row(cells, self.spec, id=sample_id, group=group, where=where)


def choose_parts(parts: Mapping[str, Any], spec: RowSpec, split: str | None, *, where: str) -> dict[str, Any]:
    """Return the parts that may hold rows of a split: all, where a column says it; else the one of that name."""
    if split is None or spec.columns.split_column:
        return dict(parts)
    if split not in parts:
        raise unknown_name(split, parts, what=f"split of '{where}'")
    return {split: parts[split]}


def _fetched(part: Any, name: str) -> Iterator[dict[str, Any]]:
    """The rows, errors of the connection as one clear one."""
    rows = iter(part)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except Exception as error:  # the libraries below raise errors of many kinds, their HTTP client's too
            raise unreachable(name, error) from error
        yield row


def _names(cells: Mapping[str, Any], spec: RowSpec, split: str, row: int) -> tuple[str, str, str]:
    """Id, group (empty where there is none) and split of a row."""
    found = [cells.get(column) if column else None for column in (spec.columns.id, spec.columns.group)]
    sample_id, group = ("" if value is None else str(value) for value in found)
    own = cells.get(spec.columns.split_column) if spec.columns.split_column else None
    return sample_id or numbered(split, row), group, str(own or split)


def unreachable(location: str, error: Exception) -> RuntimeError:
    """Build the one error for what the library raises while it fetches; its cause says more than itself."""
    detail = " ".join(str(error.__cause__ or error).split())[:DETAIL]
    return RuntimeError(
        f"Expected to read '{location}' through the library 'datasets', got {type(error).__name__}: {detail}. "
        "Without a connection, fetch the files elsewhere; read files that it cannot with parquet:FOLDER."
    )
