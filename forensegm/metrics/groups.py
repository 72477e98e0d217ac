"""Bootstrap intervals that resample photographs, not crops: crops of one photograph are not independent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

# Fewer groups than this cannot be resampled sensibly; single items are then, and the interval says so.
MIN_GROUPS = 5

Row = dict[str, Any]
Statistic = Callable[[Sequence[Row]], float | None]


@dataclass(frozen=True)
class Interval:
    """A statistic with its bootstrap percentile interval.

    Attributes:
        value: the statistic of all rows, None where it is undefined.
        low: lower end, None where there is no interval (see `reason`).
        high: upper end, None where there is no interval.
        level: share of the resamples between the ends, for example 0.95.
        unit: what was resampled, "group" or "item".
        units: how many of them there are.
        resamples: how many resamples were drawn.
        undefined: in how many of them the statistic was undefined; they are left out.
        reason: why there is no interval; empty where there is one.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    unit: Literal["group", "item"]
    units: int
    resamples: int
    undefined: int
    reason: str = ""


class RowTable(Sequence[Row]):
    """Rows (dicts with common keys) that remember their columns as arrays, so that resampling them is cheap."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Take the rows in their order."""
        self.rows: NDArray[np.object_] = np.empty(len(rows), dtype=object)
        self.rows[:] = rows
        self.positions: NDArray[np.intp] = np.arange(len(rows))
        self.columns: dict[str, NDArray[Any]] = {}

    def take(self, index: NDArray[np.intp]) -> RowTable:
        """The rows of `index` (of the table as it was made), sharing the columns."""
        table = RowTable.__new__(RowTable)
        table.rows, table.positions, table.columns = self.rows, index, self.columns
        return table

    def column(self, key: str) -> NDArray[Any]:
        """One value per row; None becomes NaN among numbers."""
        if key not in self.columns:
            self.columns[key] = as_column([row[key] for row in self.rows])
        return self.columns[key][self.positions]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.positions)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> RowTable: ...
    def __getitem__(self, index: int | slice) -> Row | RowTable:
        """Return a row, or the rows of a slice."""
        if isinstance(index, slice):
            return self.take(self.positions[index])
        row: Row = self.rows[self.positions[index]]
        return row

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        return iter(self.rows[self.positions].tolist())


def as_column(values: list[Any]) -> NDArray[Any]:
    """Values as an array: strings (and None) as objects, everything else as numbers, None among them as NaN."""
    if any(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    return np.array(values, dtype=np.float64) if any(value is None for value in values) else np.array(values)


def column(rows: Sequence[Row], key: str) -> NDArray[Any]:
    """One value per row, for a statistic: fast where `bootstrap_interval` passes the rows, right for any sequence."""
    return rows.column(key) if isinstance(rows, RowTable) else as_column([row[key] for row in rows])


def bootstrap_interval(
    rows: Sequence[Row],
    statistic: Statistic,
    *,
    groups: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Percentile interval of a statistic of rows (Efron's bootstrap).

    Whole groups are drawn with replacement where there are at least five, single rows otherwise; `unit` says which.

    Args:
        rows: one dict per image, as `SegmentationMetrics.rows` and `DetectionMetrics.rows` hold them.
        statistic: a function of a sequence of rows, None where it is undefined; see `forensegm.metrics.statistics`.
        groups: group of each row; None = what the row says under "group".
        resamples: how many are drawn; 0 = no interval.
        seed: the same seed, rows and groups give the same interval. Groups are drawn in the order of their names.
        level: share of the resamples that the interval holds.

    Raises:
        ValueError: not one group per row, a negative number of resamples, or a level outside 0..1.
    """
    names = [str(row["group"]) for row in rows] if groups is None else list(groups)
    if len(names) != len(rows):
        raise ValueError(f"Expected one group per row, got {len(names)} groups and {len(rows)} rows.")
    if resamples < 0 or not 0 < level < 1:
        raise ValueError(f"Expected resamples >= 0 and a level of 0..1, got {resamples} and {level}.")
    table = RowTable(rows)
    members = [np.flatnonzero(np.array(names, dtype=object) == name) for name in sorted(set(names))]
    unit: Literal["group", "item"] = "group" if len(members) >= MIN_GROUPS else "item"
    if unit == "item":
        members = [np.array([number]) for number in range(len(rows))]
    value = statistic(table) if len(rows) else None
    reason = no_interval(value, len(members), resamples)
    if reason:
        return Interval(value, None, None, level, unit, len(members), 0, 0, reason)
    found = resampled_values(table, statistic, members, resamples=resamples, seed=seed)
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(found, [tail, 100 - tail]) if found else (None, None)
    return Interval(
        value,
        None if low is None else float(low),
        None if high is None else float(high),
        level,
        unit,
        len(members),
        resamples,
        resamples - len(found),
        "" if found else "the statistic is undefined in every resample",
    )


def no_interval(value: float | None, units: int, resamples: int) -> str:
    """Why there cannot be an interval; empty where there can."""
    if value is None:
        return "the statistic is undefined"
    if units < 2:
        return "there is nothing to resample: fewer than two items"
    return "" if resamples else "no resamples were asked for"


def resampled_values(
    table: RowTable, statistic: Statistic, members: list[NDArray[np.intp]], *, resamples: int, seed: int
) -> list[float]:
    """The statistic of each resample in which it is defined."""
    rng = np.random.default_rng(seed)
    values = []
    for _ in range(resamples):
        drawn = rng.integers(len(members), size=len(members))
        value = statistic(table.take(np.concatenate([members[number] for number in drawn])))
        if value is not None:
            values.append(float(value))
    return values
