"""Bootstrap intervals: unit, determinism, coverage, undefined resamples, and speed."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from forensegm.metrics import bootstrap_interval, column
from forensegm.metrics.groups import MIN_GROUPS, RowTable
from forensegm.metrics.statistics import editors_miou, image_auc, iou_edited


def rows_of(values: Sequence[float | None], groups: Sequence[str] | None = None) -> list[dict[str, Any]]:
    groups = groups or [str(number) for number in range(len(values))]
    return [{"value": value, "group": group} for value, group in zip(values, groups, strict=True)]


def mean(rows: Sequence[dict[str, Any]]) -> float:
    return float(column(rows, "value").mean())


def test_against_the_normal_interval_of_a_mean() -> None:
    values = np.random.default_rng(0).normal(3, 2, 400)
    interval = bootstrap_interval(rows_of(values.tolist()), mean, resamples=2000)
    half = 1.96 * values.std() / 20
    assert interval.value == pytest.approx(values.mean())
    assert interval.low == pytest.approx(values.mean() - half, abs=0.05 * half * 2)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.05 * half * 2)
    assert (interval.unit, interval.units, interval.resamples, interval.undefined) == ("group", 400, 2000, 0)


def test_groups_are_never_cut() -> None:
    rows = rows_of([0.0] * 30 + [1.0] * 30, [str(number // 10) for number in range(60)])
    seen = []

    def record(drawn: Sequence[dict[str, Any]]) -> float:
        seen.append([row["group"] for row in drawn])
        return mean(drawn)

    interval = bootstrap_interval(rows, record, resamples=50)
    assert (interval.unit, interval.units) == ("group", 6)
    assert all(names.count(name) % 10 == 0 for names in seen for name in set(names))
    assert bootstrap_interval(rows, mean, groups=list(map(str, range(60))), resamples=500).high < interval.high


@pytest.mark.parametrize("count", [1, MIN_GROUPS - 1])
def test_few_groups_resample_items_and_say_so(count: int) -> None:
    rows = rows_of([float(number) for number in range(20)], [str(number % count) for number in range(20)])
    interval = bootstrap_interval(rows, mean, resamples=100)
    assert (interval.unit, interval.units) == ("item", 20)
    assert interval.low < interval.value < interval.high


def test_the_same_seed_gives_the_same_interval_in_any_order_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    rows = rows_of(rng.integers(0, 9, 40).tolist(), [str(number // 5) for number in range(40)])
    first = bootstrap_interval(rows, mean, resamples=100, seed=3)
    assert bootstrap_interval(rows[::-1], mean, resamples=100, seed=3) == first
    assert bootstrap_interval(rows, mean, resamples=100, seed=4) != first


def test_undefined_resamples_are_counted_and_left_out() -> None:
    def first_is_there(rows: Sequence[dict[str, Any]]) -> float | None:
        return 1.0 if any(row["value"] == 0 for row in rows) else None

    interval = bootstrap_interval(rows_of([0, 1, 2, 3, 4, 5]), first_is_there, resamples=1000)
    assert (interval.low, interval.high) == (1.0, 1.0)
    assert interval.undefined / 1000 == pytest.approx((5 / 6) ** 6, abs=0.05)


def test_no_interval_has_a_reason() -> None:
    undefined = bootstrap_interval(rows_of([1.0, 2.0]), lambda _: None)
    single = bootstrap_interval(rows_of([1.0]), mean)
    unasked = bootstrap_interval(rows_of([1.0, 2.0]), mean, resamples=0)
    nothing = bootstrap_interval([], mean)
    calls = iter([0.5] + [None] * 10)
    lost = bootstrap_interval(rows_of([1.0, 2.0]), lambda _: next(calls), resamples=10)
    for interval in (undefined, single, unasked, nothing, lost):
        assert (interval.low, interval.high) == (None, None)
        assert interval.reason
    assert (undefined.value, single.value, unasked.value, nothing.value) == (None, 1.0, 1.5, None)
    assert (lost.value, lost.undefined, lost.resamples) == (0.5, 10, 10)
    assert asdict(single)["reason"] == "there is nothing to resample: fewer than two items"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": ["a"]}, "one group per row"),
        ({"resamples": -1}, "resamples >= 0"),
        ({"level": 1.5}, r"level of 0\.\.1"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(rows_of([1.0, 2.0]), mean, **options)


def test_row_tables_are_sequences_of_their_rows() -> None:
    rows = [{"n": number, "s": "x" if number else None, "v": [number, 1]} for number in range(4)]
    table = RowTable(rows)
    assert list(table) == rows
    assert [table[-1], *table[:2]] == [rows[3], rows[0], rows[1]]
    taken = table.take(np.array([2, 2, 0]))
    assert len(taken) == 3
    assert taken.column("n").tolist() == [2, 2, 0]
    assert taken.column("v").tolist() == [[2, 1], [2, 1], [0, 1]]
    assert taken.column("s").tolist() == ["x", "x", None]
    assert np.isnan(column([{"f": None}, {"f": 1.0}], "f")).tolist() == [True, False]


def image_row(number: int, rng: np.random.Generator) -> dict[str, Any]:
    return {
        "group": str(number // 5),
        "confusion": rng.integers(0, 10**6, (9, 9)).tolist(),
        "binary": rng.integers(0, 10**6, 4).tolist(),
        "score": float(rng.random()),
        "fake": bool(number % 2),
        "predicted_fake": True,
    }


@pytest.mark.parametrize("statistic", [iou_edited, editors_miou, image_auc])
def test_a_thousand_resamples_of_200_images_take_under_two_seconds(statistic: Any) -> None:
    rng = np.random.default_rng(0)
    rows = [image_row(number, rng) for number in range(200)]
    started = time.process_time()
    assert bootstrap_interval(rows, statistic, resamples=1000).undefined == 0
    assert time.process_time() - started < 2
