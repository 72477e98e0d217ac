"""Use a checkpoint: maps, verdicts and editors of images; tiles for large ones; export."""

from forensegm.inference.export import export
from forensegm.inference.predictor import Prediction, Predictor

__all__ = ["Prediction", "Predictor", "export"]
