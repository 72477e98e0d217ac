import json
import logging
import threading
import time

import pytest

from forensegm.training.tracking import Background, JsonlTracker, MultiTracker, read_log


class Failing:
    """A tracker of a service that is down."""

    def log(self, _step, _values):
        raise ConnectionError("no route")

    def overlay(self, _step, _overlays):
        raise ConnectionError("no route")

    def finish(self):
        raise ConnectionError("no route")


def test_case_42_a_resumed_log_holds_every_step_once(shared, tmp_path):
    case = shared / "cases" / "42_wandb_resume_offline"
    plan = json.loads((case / "config.json").read_text())
    path = tmp_path / "log.jsonl"
    saved = plan["kill_at"] // plan["ckpt_every"] * plan["ckpt_every"]
    killed = JsonlTracker(path)
    for step in range(1, plan["kill_at"] + 1):
        killed.log(step, {"train/loss": 1.0})
    killed.finish()
    resumed = JsonlTracker(path, resume_step=saved)
    for step in range(saved + 1, plan["steps"] + 1):
        resumed.log(step, {"train/loss": 2.0})
    resumed.finish()
    rows = read_log(path)
    assert [row["step"] for row in rows] == json.loads((case / "expected.json").read_text())["local_log_steps"]
    assert [row["train/loss"] for row in rows] == [1.0] * saved + [2.0] * (plan["steps"] - saved)


def test_every_line_is_on_disk_at_once_and_is_json(tmp_path):
    path = tmp_path / "log.jsonl"
    tracker = JsonlTracker(path)
    tracker.log(1, {"loss": float("nan"), "n": 2, "name": "ä"})
    assert json.loads(path.read_text(encoding="utf-8")) == {"step": 1, "loss": None, "n": 2, "name": "ä"}
    tracker.finish()


def test_a_new_run_starts_the_file_anew(tmp_path):
    path = tmp_path / "log.jsonl"
    for _ in range(2):
        tracker = JsonlTracker(path)
        tracker.log(1, {})
        tracker.finish()
    assert len(read_log(path)) == 1


def test_a_torn_last_line_is_dropped_and_any_other_is_an_error(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"step": 1}\n{"step": 2, "lo')
    assert read_log(path) == [{"step": 1}]
    path.write_text('{"step": 1, \n{"step": 2}\n')
    with pytest.raises(ValueError, match=r"log\.jsonl:1"):
        read_log(path)
    assert read_log(tmp_path / "none.jsonl") == []


def test_a_failing_tracker_is_told_once_counted_and_kept_from_the_others(tmp_path, caplog):
    path = tmp_path / "log.jsonl"
    tracker = MultiTracker({"service": Failing(), "log": JsonlTracker(path)})
    with caplog.at_level(logging.WARNING):
        for step in (1, 2, 3):
            tracker.log(step, {"loss": 0.5})
        tracker.overlay(3, [])
        tracker.finish()
    assert len(read_log(path)) == 3
    assert tracker.failures == {"service": 5, "log": 0}
    assert [record.getMessage() for record in caplog.records] == [
        "Tracking to service failed: no route. The run goes on."
    ]


def test_background_keeps_order_and_finishes(tmp_path):
    path = tmp_path / "log.jsonl"
    tracker = Background(lambda: JsonlTracker(path), name="file")
    for step in range(1, 101):
        tracker.log(step, {})
    tracker.finish()
    assert [row["step"] for row in read_log(path)] == list(range(1, 101))
    assert tracker.failures == 0
    assert not tracker.thread.is_alive()


def test_background_survives_a_tracker_that_cannot_start_or_fails(caplog):
    def build():
        raise ImportError("No module named 'wandb'")

    with caplog.at_level(logging.WARNING):
        absent = Background(build, name="wandb")
        absent.log(1, {})
        absent.finish()
        failing = Background(Failing, name="service")
        failing.log(1, {})
        failing.finish()
    assert (absent.failures, failing.failures) == (1, 2)
    assert len(caplog.records) == 2


def test_background_never_waits_for_a_stuck_tracker(caplog):
    release = threading.Event()

    def build():
        release.wait()
        return Failing()

    tracker = Background(build, name="stuck", finish_seconds=0.1, queue_length=2)
    started = time.perf_counter()
    with caplog.at_level(logging.WARNING):
        for step in range(5):
            tracker.log(step, {})
        tracker.finish()
    assert time.perf_counter() - started < 2.0
    assert tracker.failures == 4  # three calls found the queue full, and the finish timed out
    assert len(caplog.records) == 1
    release.set()
    tracker.finish_seconds = 10.0
    tracker.finish()
    assert not tracker.thread.is_alive()
