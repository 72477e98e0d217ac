"""Parts that need a model: loaded when first used, once per process and set of options."""

from __future__ import annotations

import gc
import json
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from forensegm.config import EditConfig

Part = TypeVar("Part")


@dataclass(frozen=True)
class NeedsModel(Generic[Part]):
    """A part that is made from options and weights.

    Attributes:
        load: makes it; raises RuntimeError, ValueError or FileNotFoundError where it cannot.
        defaults: its options, each of which `edit.options` may override.
        models: names of the options that name models; a dry run lists them.
    """

    load: Callable[[Mapping[str, Any]], Part]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ("model",)


# By name and options, the least recently used one first.
_staying: OrderedDict[str, Any] = OrderedDict()
_taking_turns: OrderedDict[str, Any] = OrderedDict()


def options_of(name: str, part: object, config: EditConfig) -> dict[str, Any]:
    """Return the options of a part: its defaults, how the configuration runs models, and what it says of the part.

    Raises:
        ValueError: an option that the part does not have.
    """
    defaults = dict(part.defaults) if isinstance(part, NeedsModel) else {}
    shared = {
        "device": config.device,
        "dtype": config.dtype,
        "offload": config.offload,
        "compile": config.compile,
        "local_files_only": config.local_files_only,
    }
    own = dict(config.options.get(name, {}))
    unknown = sorted(key for key in own if key not in defaults and key not in shared)
    if unknown:
        known = ", ".join([*defaults, *shared]) if isinstance(part, NeedsModel) else "none"
        raise ValueError(f"Expected options of '{name}' ({known}), got {', '.join(unknown)}.")
    return {**defaults, **shared, **own}


def ready(name: str, part: Part | NeedsModel[Part], config: EditConfig, *, most: int = 0) -> Part:
    """Return a part that can be called, loading its model where it needs one.

    Args:
        name: of the part.
        part: the part, or how it is loaded.
        config: what its options come from.
        most: parts that take turns in memory, of those that are asked for with such a number; 0 = it stays loaded.
    """
    if not isinstance(part, NeedsModel):
        return part
    options = options_of(name, part, config)
    key = f"{name} {json.dumps(options, sort_keys=True)}"
    loaded = _taking_turns if most else _staying
    if key not in loaded:
        while 0 < most <= len(loaded):
            loaded.popitem(last=False)
            gc.collect()  # pipelines hold each other in circles
            free_accelerator()
        loaded[key] = part.load(options)
    loaded.move_to_end(key)
    return cast("Part", loaded[key])


def free_accelerator() -> None:
    """Give back what dropped models and failed calls have left on the accelerator."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        gc.collect()
        torch.cuda.empty_cache()


def unload() -> None:
    """Forget every loaded model of this process."""
    _staying.clear()
    _taking_turns.clear()
