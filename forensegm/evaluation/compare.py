"""Is model A better than model B on the same images? A paired bootstrap over photographs answers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from forensegm.evaluation.intervals import HEADLINES, Rows, Statistic
from forensegm.evaluation.write import read_rows
from forensegm.metrics import bootstrap_interval, column
from forensegm.metrics.groups import RowTable


def compare(a: str | Path, b: str | Path, *, resamples: int = 1000, seed: int = 0) -> dict[str, Any]:
    """Compare two evaluations of the same images, image by image.

    Args:
        a: folder that `forensegm evaluate` wrote.
        b: another one, of the same images.
        resamples: bootstrap resamples; each draws the same photographs for both.
        seed: seed of the resampling.

    Returns:
        images (how many), and per score: a, b, difference (a - b) with its 95 % interval, and better ("a", "b" or
        "undecided" where the interval holds 0). Whether a larger value is better is `higher_is_better`.

    Raises:
        FileNotFoundError: no evaluation in a folder.
        ValueError: the two were not made on the same images.
    """
    rows_a, rows_b = read_rows(a), read_rows(b)
    by_id = {row["id"]: row for row in rows_b}
    only = sorted({row["id"] for row in rows_a} ^ set(by_id))
    if only:
        raise ValueError(
            f"Expected both evaluations to hold the same images, got {len(only)} in one alone, for example "
            f"'{only[0]}'. Evaluate both on the same data set and split."
        )
    tables = RowTable(rows_a), RowTable([by_id[row["id"]] for row in rows_a])
    pairs = [{"position": position, "group": row["group"]} for position, row in enumerate(rows_a)]
    scores = {key: compare_score(key, tables, pairs, resamples=resamples, seed=seed) for key in HEADLINES}
    return {"a": str(a), "b": str(b), "images": len(pairs), "scores": scores}


def compare_score(
    key: str, tables: tuple[RowTable, RowTable], pairs: Rows, *, resamples: int, seed: int
) -> dict[str, Any]:
    """Return values, difference and verdict of one score."""
    statistic = HEADLINES[key]
    interval = bootstrap_interval(pairs, difference(statistic, *tables), resamples=resamples, seed=seed)
    higher_is_better = not key.startswith("authentic.")
    better = "undecided"
    if interval.low is not None and interval.high is not None and not interval.low <= 0 <= interval.high:
        better = "a" if (interval.low > 0) == higher_is_better else "b"
    return {
        "a": statistic(tables[0]),
        "b": statistic(tables[1]),
        "difference": asdict(interval),
        "higher_is_better": higher_is_better,
        "better": better,
    }


def difference(statistic: Statistic, table_a: RowTable, table_b: RowTable) -> Statistic:
    """Return the statistic of the difference a - b, over rows that say at which position of both tables they stand."""

    def of_pairs(pairs: Rows) -> float | None:
        positions = column(pairs, "position")
        value_a, value_b = statistic(table_a.take(positions)), statistic(table_b.take(positions))
        return None if value_a is None or value_b is None else value_a - value_b

    return of_pairs
