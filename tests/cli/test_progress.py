"""Bars on a terminal, one plain line per finished stage elsewhere."""

import io
import logging

import pytest
from rich.console import Console

from forensegm.cli.progress import Bars


def plain(calls: list[tuple[str, int, int, str]]) -> list[str]:
    stream = io.StringIO()
    with Bars(console=Console(file=stream, width=40)) as progress:
        for call in calls:
            progress(*call)
    return stream.getvalue().splitlines()


def test_one_line_per_finished_stage() -> None:
    lines = plain([("edit", 1, 2, ""), ("edit", 2, 2, "x.png"), ("edit", 2, 2, "x.png"), ("train", 1, 3, "")])
    assert lines == ["edit: 2 in 0.0 s, x.png"]


def test_a_stage_that_starts_again_is_reported_again() -> None:
    lines = plain([("validate", 2, 2, "a"), ("validate", 1, 2, ""), ("validate", 2, 2, "b")])
    assert lines == ["validate: 2 in 0.0 s, a", "validate: 2 in 0.0 s, b"]


def test_a_stage_of_one_step_is_reported_each_time() -> None:
    lines = plain([("validate", 2, 2, "a"), ("train", 1, 3, ""), ("validate", 2, 2, "b"), ("validate", 2, 2, "b")])
    assert lines == ["validate: 2 in 0.0 s, a", "validate: 2 in 0.0 s, b"]


def test_the_time_of_a_stage_counts_from_the_last_word_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 5.0, 12.0])
    monkeypatch.setattr("forensegm.cli.progress.monotonic", lambda: next(clock))
    assert plain([("edit", 1, 1, ""), ("evaluate", 7, 7, "")]) == ["edit: 1 in 5.0 s", "evaluate: 7 in 7.0 s"]


def test_bars_on_a_terminal() -> None:
    stream = io.StringIO()
    with Bars(console=Console(file=stream, width=100, force_terminal=True)) as progress:
        progress("edit", 1, 4)
        progress("edit", 4, 4, "done")
        progress("train", 1, 2, "loss 0.5")
        progress("train", 0, 2)
    text = stream.getvalue()
    assert "edit" in text
    assert "4/4" in text
    assert "loss 0.5" in text


def test_log_lines_of_the_library_are_shown_whole_and_the_logger_is_given_back() -> None:
    stream = io.StringIO()
    logger = logging.getLogger("forensegm.datasets")
    with Bars(console=Console(file=stream, width=20)):
        logger.warning("Mask %s is lossy,\ncut at mid-range", "a.png")
        logger.warning("Skipped %s: %s", "b.png", "listed by the command at its end")
        logger.info("not shown")
    assert stream.getvalue() == "warning: Mask a.png is lossy, cut at mid-range\n"
    assert logging.getLogger("forensegm").handlers == []
    assert logging.getLogger("forensegm").propagate
