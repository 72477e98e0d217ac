"""One formatter, one look-up."""

import math

import numpy as np
import pytest

from forensegm.reports.numbers import NO_REASON, NOT_MEASURED, format_value, has, is_number, pick, reason_for


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.41256, "0.413"),
        (1.0, "1.000"),
        (0.9999, ">0.999"),
        (0.0001, "<0.001"),
        (0.0, "0.000"),
        (-0.25, "-0.250"),
        (-0.0001, ">-0.001"),
        (12345, "12,345"),
        (np.int64(7), "7"),
        (np.float32(0.5), "0.500"),
        (True, "yes"),
        (np.bool_(False), "no"),
        ("telea", "telea"),
        (None, "n/a"),
        (math.nan, "n/a"),
        (math.inf, "n/a"),
    ],
)
def test_format_value(value, text):
    assert format_value(value) == text


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [(0.0341, None, "3.4 %"), (0, None, "0.0 %"), (1, 0, "100 %"), (0.003, 0, "<1 %"), (0.999, 0, ">99 %")],
)
def test_format_value_percent(share, digits, text):
    assert format_value(share, percent=True, digits=digits) == text


def test_pick_and_has_tell_missing_from_undefined():
    values = {"a": {"b": None, "c": 1}}

    assert pick(values, "a.c") == 1
    assert pick(values, "a.b") is None
    assert pick(values, "a.c.d") is None
    assert has(values, "a.b")
    assert not has(values, "a.x")
    assert not has(values, "x.y")


def test_reason_is_found_with_and_without_the_leading_pixel():
    metrics = {"undefined": {"binary.auc": "one class"}, "pixel": {"binary": {"auc": None, "ap": None}}}

    assert reason_for(metrics, "pixel.binary.auc") == "one class"
    assert reason_for(metrics, "pixel.binary.ap") == NO_REASON
    assert reason_for(metrics, "image.auc") == NOT_MEASURED


def test_is_number_takes_no_bool_and_nothing_infinite():
    assert is_number(0)
    assert is_number(np.float32(1))
    assert not any(is_number(value) for value in (True, None, math.nan, math.inf, "1"))
