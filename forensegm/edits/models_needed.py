"""Which models a build would load, and whether it computes on an accelerator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forensegm.config import EditConfig
from forensegm.edits.editors import find_editor
from forensegm.edits.editors.diffusion import DIFFUSION
from forensegm.edits.editors.diffusion.devices import best_device
from forensegm.edits.loading import NeedsModel, options_of
from forensegm.edits.planners import PLANNERS
from forensegm.edits.quality import SCORER
from forensegm.edits.regions import REGIONS
from forensegm.lookup import lookup


@dataclass(frozen=True)
class NeededModel:
    """A model that a build would load.

    Attributes:
        part: who needs it: an editor, the planner, a proposer of regions, quality.
        model: folder or hub id.
        here: whether it is a folder of this machine; else it comes from a hub or its cache.
        gigabytes: weights of the part in half precision; 0 = unknown.
    """

    part: str
    model: str
    here: bool
    gigabytes: float = 0.0


def models_of(config: EditConfig) -> list[NeededModel]:
    """List the models that a build would load, without loading any."""
    parts: dict[str, NeedsModel[Any]] = {}
    for name in config.editors:
        editor = find_editor(name)
        if editor.load is not None:
            generates = name in config.generators and editor.load_generator is not None
            names = (*editor.models, "text_model") if generates else editor.models
            parts[name] = NeedsModel(editor.load, editor.defaults, names)
    planner = lookup(PLANNERS, config.planner, what="planner", trusted=True)
    if isinstance(planner, NeedsModel):
        parts[config.planner] = planner
    for name in config.regions:
        proposer = lookup(REGIONS, name, what="proposer of regions", trusted=True)
        if isinstance(proposer, NeedsModel):
            parts[name] = proposer
    if config.quality_check:
        parts["quality"] = SCORER
    found = []
    for name, part in parts.items():
        options = options_of(name, part, config)
        size = DIFFUSION[name].gigabytes if name in DIFFUSION else 0.0
        for option in part.models:
            model = str(options[option])
            found.append(
                NeededModel(name, model, Path(model).expanduser().exists(), size if option == "model" else 0.0)
            )
    return found


def uses_gpu(config: EditConfig) -> bool:
    """Whether the build loads models and computes on CUDA."""
    return bool(models_of(config)) and best_device(config.device).startswith("cuda")
