"""Where a run is tracked. A failure to log is counted and warned about once; it never stops or delays training."""

from __future__ import annotations

import json
import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from forensegm.imageio import write_text_atomic
from forensegm.sample import Image, LabelSpace, Mask

logger = logging.getLogger(__name__)

Values = Mapping[str, Any]

QUEUE_LENGTH = 10_000
FINISH_SECONDS = 30.0


@dataclass(frozen=True, eq=False)
class Overlay:
    """One validation image with its true and its predicted class map.

    Attributes:
        id: the sample's id.
        image: uint8 HxWx3.
        truth: uint8 HxW, 255 = ignore.
        prediction: uint8 HxW.
        labels: names of the ids.
    """

    id: str
    image: Image
    truth: Mask
    prediction: Mask
    labels: LabelSpace


class Tracker(Protocol):
    """What a run reports to. Steps grow, and are counted from 1."""

    def log(self, step: int, values: Values) -> None:
        """Record named scalars of one step."""

    def overlay(self, step: int, overlays: Sequence[Overlay]) -> None:
        """Record validation images with their masks."""

    def finish(self) -> None:
        """Write what is pending and let go of files and processes."""


class JsonlTracker:
    """The record of a run: one JSON object per line, written at once.

    Args:
        path: the file.
        resume_step: keep the lines up to this step and go on after them, so that no step stands twice after a run was
            killed later than its last saved state; 0 = start the file anew.
    """

    def __init__(self, path: str | Path, *, resume_step: int = 0) -> None:
        """Open the file."""
        kept = [row for row in read_log(path) if row["step"] <= resume_step] if resume_step else []
        write_text_atomic(path, "".join(json.dumps(row) + "\n" for row in kept))
        self.file = Path(path).open("a", encoding="utf-8")  # noqa: SIM115 - open for the whole run

    def log(self, step: int, values: Values) -> None:
        """Append one line; a number that is not finite is written as null, for JSON has no other word for it."""
        row = {"step": step, **{key: finite(value) for key, value in values.items()}}
        self.file.write(json.dumps(row, allow_nan=False) + "\n")
        self.file.flush()

    def overlay(self, step: int, overlays: Sequence[Overlay]) -> None:
        """Leave images to other trackers: the report draws them from the checkpoint."""

    def finish(self) -> None:
        """Close the file."""
        self.file.close()


def finite(value: Any) -> Any:
    """Return `value`, or None for a float that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_log(path: str | Path) -> list[dict[str, Any]]:
    """Rows of a log.jsonl; [] where there is no file. A last line torn by a kill is left out.

    Raises:
        ValueError: any other line that is not a JSON object with a step.
    """
    if not Path(path).is_file():
        return []
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            rows.append({"step": int(row["step"]), **row})
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines):
                break
            raise ValueError(f"Expected one JSON object with a step per line, got {path}:{number}: {error}.") from error
    return rows


class Background:
    """Runs a tracker in a thread of its own, so that a slow start, call or finish never delays a step.

    Args:
        build: makes the tracker; called in the thread.
        name: what it is called in warnings.
        finish_seconds: how long `finish` waits at most.
        queue_length: calls that may wait; further ones are dropped and counted.
    """

    def __init__(
        self,
        build: Callable[[], Tracker],
        *,
        name: str,
        finish_seconds: float = FINISH_SECONDS,
        queue_length: int = QUEUE_LENGTH,
    ) -> None:
        """Start the thread."""
        self.name, self.finish_seconds = name, finish_seconds
        self.failures = 0
        self.calls: queue.Queue[tuple[str, tuple[Any, ...]]] = queue.Queue(queue_length)
        self.thread = threading.Thread(target=self.work, args=(build,), name=f"track-{name}", daemon=True)
        self.thread.start()

    def work(self, build: Callable[[], Tracker]) -> None:
        """Carry out the calls in order until `finish` was one of them."""
        tracker: Tracker | None = None
        try:
            tracker = build()
        except Exception as error:  # whatever the library raises, the run goes on
            self.fail(error)
        method = ""
        while method != "finish":
            method, arguments = self.calls.get()
            if tracker is None:
                continue
            try:
                getattr(tracker, method)(*arguments)
            except Exception as error:  # see above
                self.fail(error)

    def fail(self, error: Exception) -> None:
        """Count a failure; only the first one is told."""
        self.failures += 1
        if self.failures == 1:
            logger.warning("Tracking to %s failed: %s. The run goes on; log.jsonl has everything.", self.name, error)

    def submit(self, method: str, *arguments: Any) -> None:
        """Queue a call, or drop and count it if too many are waiting."""
        try:
            self.calls.put_nowait((method, arguments))
        except queue.Full:
            self.fail(RuntimeError(f"it is too slow, {self.calls.maxsize} calls are waiting"))

    def log(self, step: int, values: Values) -> None:
        """Queue scalars."""
        self.submit("log", step, dict(values))

    def overlay(self, step: int, overlays: Sequence[Overlay]) -> None:
        """Queue overlays."""
        self.submit("overlay", step, list(overlays))

    def finish(self) -> None:
        """Wait until everything is written, but not longer than `finish_seconds`."""
        deadline = time.monotonic() + self.finish_seconds
        try:
            self.calls.put(("finish", ()), timeout=self.finish_seconds)
        except queue.Full:
            pass  # the thread is stuck, as the next lines find
        else:
            self.thread.join(max(deadline - time.monotonic(), 0.0))
        if self.thread.is_alive():
            self.fail(TimeoutError(f"it did not finish within {self.finish_seconds:g} s"))


class MultiTracker:
    """Reports to several trackers; an error in one is counted, warned about once, and kept from the others.

    Args:
        trackers: by the name they have in warnings.
    """

    def __init__(self, trackers: Mapping[str, Tracker]) -> None:
        """Keep the trackers."""
        self.trackers = dict(trackers)
        self.failures = dict.fromkeys(self.trackers, 0)

    def call(self, method: str, *arguments: Any) -> None:
        """Call a method of every tracker."""
        for name, tracker in self.trackers.items():
            try:
                getattr(tracker, method)(*arguments)
            except Exception as error:  # a failure to log never stops a run, whatever it is
                self.failures[name] += 1
                if self.failures[name] == 1:
                    logger.warning("Tracking to %s failed: %s. The run goes on.", name, error)

    def log(self, step: int, values: Values) -> None:
        """Record scalars everywhere."""
        self.call("log", step, values)

    def overlay(self, step: int, overlays: Sequence[Overlay]) -> None:
        """Record overlays everywhere."""
        self.call("overlay", step, overlays)

    def finish(self) -> None:
        """Finish every tracker."""
        self.call("finish")
