"""What an editor is given, what it gives back, and what the pipeline has to know about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from forensegm.sample import Image

Region = NDArray[np.bool_]
Kind = Literal["add", "remove", "change"]
Composite = Literal["splice", "regenerate"]


@dataclass(frozen=True, eq=False)
class EditTask:
    """One edit to make.

    Attributes:
        image: uint8 RGB HxWx3; not to be changed in place.
        region: bool HxW, at least one pixel set: what the edit is asked to change; not to be changed in place.
        rng: the only source of randomness; the same state gives the same edit.
        donor: returns a new uint8 RGB image of the same size on every call, cut from another photograph of the split.
        kind: add, remove or change.
        instruction: the same wish as a sentence, for editors that read.
    """

    image: Image
    region: Region
    rng: np.random.Generator
    donor: Callable[[], Image]
    kind: Kind = "change"
    instruction: str = ""


@dataclass(frozen=True, eq=False)
class EditorOutput:
    """The edited image.

    Attributes:
        image: uint8 RGB of the task's size. Pixels outside the region may differ: composition decides about them.
        parameters: whatever was drawn or measured, as plain JSON types; goes into the record.
    """

    image: Image
    parameters: dict[str, Any] = field(default_factory=dict)


EditFunction = Callable[[EditTask], EditorOutput]


@dataclass(frozen=True)
class Editor:
    """An editing function and what a planner and the composition have to know about it.

    Attributes:
        run: the function.
        kinds: the kinds of edit it can make.
        composite: splice (only the region is taken over) or regenerate (the whole frame went through the editor).
        needs_donor: whether it takes content from another photograph.
    """

    run: EditFunction
    kinds: tuple[Kind, ...] = ("change",)
    composite: Composite = "splice"
    needs_donor: bool = False

    def __call__(self, task: EditTask) -> EditorOutput:
        """Make the edit."""
        return self.run(task)
