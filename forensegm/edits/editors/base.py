"""What an editor is given, what it gives back, and what the pipeline has to know about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
        instruction: the same wish as an order, for editors that follow orders.
        prompt: what is to be seen in the region afterwards, for editors that fill it; may be empty.
    """

    image: Image
    region: Region
    rng: np.random.Generator
    donor: Callable[[], Image]
    kind: Kind = "change"
    instruction: str = ""
    prompt: str = ""


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
BatchFunction = Callable[[Sequence[EditTask]], list[EditorOutput]]
Generate = Callable[[Sequence[tuple[str, int]]], list[EditorOutput]]  # (prompt, seed) of each image


@dataclass(frozen=True)
class Editor:
    """An editing function and what a planner and the composition have to know about it.

    Attributes:
        run: the function; None where it is made by `load`.
        kinds: the kinds of edit it can make.
        composite: splice (only the region is taken over) or regenerate (the whole frame went through the editor).
        needs_donor: whether it takes content from another photograph.
        reads: whether it follows the instruction or the prompt.
        load: makes, from its options, a function that edits several images at once.
        load_generator: makes, from the same options, a function that generates images from prompts and seeds.
        defaults: its options, each of which `edit.options` may override.
        models: names of those options that name models.
        about: what it is, in a line; empty = the first line of the function's docstring.
        cost: compute of one edit at its native size, in TFLOP; 0 = unknown or none to speak of.
    """

    run: EditFunction | None = None
    kinds: tuple[Kind, ...] = ("change",)
    composite: Composite = "splice"
    needs_donor: bool = False
    reads: bool = False
    load: Callable[[Mapping[str, Any]], BatchFunction] | None = None
    load_generator: Callable[[Mapping[str, Any]], Generate] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    models: tuple[str, ...] = ()
    about: str = ""
    cost: float = 0.0

    def __call__(self, task: EditTask) -> EditorOutput:
        """Make one edit; raises ValueError for an editor that has to be loaded first."""
        if self.run is None:
            raise ValueError("Expected an editor that needs no model, got one that has to be loaded with its options.")
        return self.run(task)
