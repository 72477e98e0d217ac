"""Run editors, which may be anyone's: load them once per process, call them on batches, and survive their failures."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from forensegm.config import EditConfig
from forensegm.edits.editors import Editor, EditorOutput, EditTask, find_editor
from forensegm.edits.editors.base import BatchFunction, Generate
from forensegm.edits.loading import NeedsModel, free_accelerator, options_of, ready

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failure:
    """Why an editor gave nothing.

    Attributes:
        reason: in words.
    """

    reason: str


def load_editor(name: str, config: EditConfig) -> tuple[Editor, BatchFunction]:
    """Return an editor and its function over batches; whatever it needs is loaded when it is first asked for.

    Raises:
        RuntimeError: its library is missing, or its model cannot be loaded.
        ValueError: an unknown name or option.
    """
    editor = find_editor(name)
    if editor.load is None:
        return editor, lambda tasks: [editor(task) for task in tasks]
    return editor, _load(name, NeedsModel(editor.load, editor.defaults), config)


def load_generator(name: str, config: EditConfig) -> Generate:
    """Return the text-to-image function of an editor; raises as `load_editor`, and ValueError where it has none."""
    editor = find_editor(name)
    if editor.load_generator is None:
        raise ValueError(f"Expected a generator of images, got the editor '{name}', which has no text-to-image model.")
    part = NeedsModel(editor.load_generator, {**editor.defaults, "generate": True})
    generate: Generate = _load(name, part, config)
    return generate


def _load(name: str, part: NeedsModel[Any], config: EditConfig) -> Any:
    options_of(name, part, config)  # raises for an unknown one
    try:
        return ready(name, part, config, most=config.max_loaded)
    except (ValueError, RuntimeError, ImportError, OSError) as error:
        reason, kind = " ".join(str(error).split()), type(error).__name__
        raise RuntimeError(f"Expected the model of '{name}' to be loaded, got {kind}: {reason}") from error


def run_editor(function: BatchFunction, tasks: Sequence[EditTask]) -> list[EditorOutput | Failure]:
    """Edit a batch; one that fails as a whole is tried image by image, so that one image fails alone.

    An editor gets copies of everything, so that none can change what the others are given.
    """
    try:
        outputs = function([copied(task) for task in tasks])
        if len(outputs) != len(tasks):
            raise ValueError(f"Expected {len(tasks)} outputs of a batch, got {len(outputs)}.")
    except Exception as error:
        free_accelerator()
        if len(tasks) > 1:
            return [one for task in tasks for one in run_editor(function, [task])]
        logger.debug("An editor failed", exc_info=error)
        return [Failure(f"it raised {type(error).__name__}: {' '.join(str(error).split())[:300]}")]
    return [checked(output) for output in outputs]


def copied(task: EditTask) -> EditTask:
    """The same task over arrays of its own; its random state begins anew, so that a second try equals the first."""
    return replace(task, image=task.image.copy(), region=task.region.copy(), rng=deepcopy(task.rng))


def checked(output: EditorOutput) -> EditorOutput | Failure:
    """Refuse parameters that no record can hold."""
    try:
        json.dumps(output.parameters, allow_nan=False)
    except (TypeError, ValueError) as error:
        return Failure(f"it gave parameters that are not plain JSON types: {error}")
    return output
