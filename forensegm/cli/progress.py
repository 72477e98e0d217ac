"""Progress on stderr: bars on a terminal, one plain line per finished stage elsewhere."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
)
from rich.table import Column
from rich.text import Text

from forensegm.cli.errors import debugging


class Bars:
    """A progress callable with one bar per stage, and the log lines of the library above the bars.

    Used as a context manager around one command's work.

    >>> with Bars() as progress:
    ...     progress("edit", 1, 1)
    """

    def __init__(self, *, console: Console | None = None) -> None:
        """Write to `console`, by default stderr."""
        self._console = console or Console(stderr=True, highlight=False)
        self._animated = self._console.is_terminal
        self._progress = Progress(
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            BarColumn(bar_width=24),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            _TimeColumn(table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[info]}", style="dim", table_column=Column(no_wrap=True, overflow="ellipsis")),
            console=self._console,
            disable=not self._animated,
            # Otherwise rich would send what a command prints to the bars' console even where stdout is a file.
            redirect_stdout=sys.stdout.isatty(),
        )
        self._tasks: dict[str, TaskID] = {}
        self._passes: dict[str, _Pass] = {}
        self._latest = ""
        self._now = monotonic()
        self._handler = _ConsoleHandler(self._console)

    def __enter__(self) -> Self:
        """Start drawing and take over the log."""
        logger = logging.getLogger("forensegm")
        logger.addHandler(self._handler)
        logger.setLevel(logging.DEBUG if debugging() else logging.WARNING)
        logger.propagate = False
        self._progress.start()
        self._now = monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop drawing; the bars stay on the screen as they are."""
        self._progress.stop()
        logger = logging.getLogger("forensegm")
        logger.removeHandler(self._handler)
        logger.propagate = True

    def __call__(self, stage: str, done: int, total: int, info: str = "") -> None:
        """Say that `done` of `total` items of `stage` are finished; a stage may be gone through several times."""
        current = self._passes.get(stage)
        if current is None or (current.seconds is not None and (done < total or stage != self._latest)):
            # The first call comes when there is something to say: the work began when the last call was made.
            current = self._passes[stage] = _Pass(self._now)
        self._latest, self._now = stage, monotonic()
        ends = done >= total and current.seconds is None
        if ends:
            current.seconds = self._now - current.started
        if self._animated:
            self._draw(stage, done, total, info=info, seconds=current.seconds)
        elif ends:
            took = f"{stage}: {done} in {duration(self._now - current.started)}"
            self._console.print(Text(f"{took}, {info}" if info else took), soft_wrap=True)

    def _draw(self, stage: str, done: int, total: int, **shown: Any) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total, **shown)
        task = self._tasks[stage]
        if self._progress.tasks[self._progress.task_ids.index(task)].completed > done:
            self._progress.reset(task, total=total)
        self._progress.update(task, completed=done, total=total, **shown)


@dataclass
class _Pass:
    """One time through a stage: when it began, and how many seconds it took if it has ended."""

    started: float
    seconds: float | None = None


class _TimeColumn(ProgressColumn):
    """The time that is left, and in the end the time that it took."""

    def render(self, task: Task) -> Text:
        seconds = task.fields["seconds"]
        if seconds is not None:
            return Text(f"in {duration(seconds)}")
        return Text("" if task.time_remaining is None else f"{duration(round(task.time_remaining))} left")


def duration(seconds: float) -> str:
    """A time span in words; a short one has a decimal unless it is a whole number by type.

    >>> duration(0.04), duration(4), duration(75.2), duration(7300)
    ('0.0 s', '4 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 10 and isinstance(seconds, float):
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


class _ConsoleHandler(logging.Handler):
    """Prints log records above the bars, each as one line."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("Skipped "):
            return  # the command lists what was skipped when it is done
        text = " ".join(record.getMessage().split())
        self._console.print(Text(f"{record.levelname.lower()}: {text}"), soft_wrap=True)
