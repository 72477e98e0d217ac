"""Bars on a terminal, one plain line per finished stage elsewhere."""

import io
import logging

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
    assert plain([("val", 2, 2, "a"), ("val", 1, 2, ""), ("val", 2, 2, "b")]) == [
        "val: 2 in 0.0 s, a",
        "val: 2 in 0.0 s, b",
    ]


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
