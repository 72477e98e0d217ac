"""Forensic localization of AI edits: train segmentation networks on multi-turn edits, and measure what they survive.

The public names are imported when they are first used, so that `import forensegm` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from forensegm.version import __version__ as __version__

if TYPE_CHECKING:
    from forensegm.config import Config as Config
    from forensegm.datasets import open_dataset as open_dataset
    from forensegm.distortions import distort as distort
    from forensegm.edits import build_edits as build_edits
    from forensegm.evaluation import compare as compare
    from forensegm.evaluation import evaluate as evaluate
    from forensegm.evaluation import robustness as robustness
    from forensegm.inference import Prediction as Prediction
    from forensegm.inference import Predictor as Predictor
    from forensegm.inference import export as export
    from forensegm.metrics import DetectionMetrics as DetectionMetrics
    from forensegm.metrics import SegmentationMetrics as SegmentationMetrics
    from forensegm.models import create_model as create_model
    from forensegm.models import list_models as list_models
    from forensegm.pooling import pool_mask as pool_mask
    from forensegm.reports import write_report as write_report
    from forensegm.sample import LabelSpace as LabelSpace
    from forensegm.sample import Sample as Sample
    from forensegm.training import train as train

_HOMES = {
    "Sample": "sample",
    "LabelSpace": "sample",
    "Config": "config",
    "build_edits": "edits",
    "open_dataset": "datasets",
    "distort": "distortions",
    "create_model": "models",
    "list_models": "models",
    "pool_mask": "pooling",
    "SegmentationMetrics": "metrics",
    "DetectionMetrics": "metrics",
    "train": "training",
    "evaluate": "evaluation",
    "robustness": "evaluation",
    "compare": "evaluation",
    "Predictor": "inference",
    "Prediction": "inference",
    "export": "inference",
    "write_report": "reports",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module 'forensegm' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"forensegm.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted([*__all__, "__version__"])
