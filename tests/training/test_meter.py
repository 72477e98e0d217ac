import logging
import time

from forensegm.training import meter as meter_module
from forensegm.training.meter import Meter


def slow():
    for item in range(3):
        time.sleep(0.02)
        yield item


def test_waiting_is_told_from_working():
    meter = Meter()
    for _ in meter.watch(slow()):
        time.sleep(0.06)
        meter.count(4)
    figures = meter.figures()
    assert 0.15 < figures["train/data_wait"] < 0.4
    assert 0 < figures["train/images_per_second"] < 12 / 0.24


def test_slow_loading_is_said(caplog, monkeypatch):
    monkeypatch.setattr(meter_module, "SHORT", 0.0)
    meter = Meter()
    with caplog.at_level(logging.WARNING):
        list(meter.watch(slow()))
        meter.warn_if_loading_is_slow(0)
    assert "data.workers=0" in caplog.text
