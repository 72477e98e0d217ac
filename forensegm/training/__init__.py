"""Train a network: the loop, its state, and where it is tracked."""

from forensegm.training.loop import TrainResult, train
from forensegm.training.tracking import Overlay, Tracker, read_log

__all__ = ["Overlay", "Tracker", "TrainResult", "read_log", "train"]
