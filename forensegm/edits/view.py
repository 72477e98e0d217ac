"""What planners and region proposers see of an image, and what they answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import numpy as np

from forensegm.edits.editors.base import Kind, Region
from forensegm.sample import Image

Area = tuple[float, float]


@dataclass(frozen=True, eq=False)
class SceneObject:
    """An object that is known to be in the image.

    Attributes:
        name: its category.
        region: bool HxW.
        border: whether it is cut off by the image's border.
    """

    name: str
    region: Region
    border: bool


@dataclass(frozen=True, eq=False)
class View:
    """An image before a turn.

    Attributes:
        image: uint8 RGB HxWx3; not to be changed in place.
        area: smallest and largest share of the image that the turn may edit.
        rng: the only source of randomness.
        objects: what annotations mark in the image; earlier turns may have changed it.
        captions: sentences that describe the image before any turn.
        query: what to look for, in words; empty = anything.
    """

    image: Image
    area: Area
    rng: np.random.Generator
    objects: tuple[SceneObject, ...] = ()
    captions: tuple[str, ...] = ()
    query: str = ""


@dataclass(frozen=True, eq=False)
class Found:
    """A proposed region.

    Attributes:
        region: bool HxW.
        name: what is there, in words; empty = unknown.
    """

    region: Region
    name: str = ""


Proposer = Callable[[View], Found | None]


@dataclass(frozen=True, eq=False)
class TurnPlan:
    """One turn.

    Attributes:
        region: bool HxW, what is to be edited.
        proposer: what the region comes from.
        kind: add, remove or change.
        instruction: the wish as a sentence, for editors that follow orders.
        seed: what the editor draws from.
        prompt: what is to be seen in the region afterwards, for editors that fill it.
        planner: who made the plan.
    """

    region: Region
    proposer: str
    kind: Kind
    instruction: str
    seed: int
    prompt: str = ""
    planner: str = "rules"


class PlanFailed(RuntimeError):
    """A planner had no usable plan; the turn is tried again with another seed."""


def checked_plan(plan: TurnPlan, image: Image) -> TurnPlan:
    """Return the plan if it can be carried out on `image`; raise PlanFailed naming what is wrong with it."""
    region = plan.region
    if region.dtype != np.bool_ or region.shape != image.shape[:2]:
        raise PlanFailed(
            f"Expected a region of bool {list(image.shape[:2])} from '{plan.proposer}', got {region.dtype} "
            f"{list(region.shape)}."
        )
    if not region.any():
        raise PlanFailed(f"Expected a region of at least one pixel from '{plan.proposer}', got an empty one.")
    if plan.kind not in get_args(Kind):
        raise PlanFailed(f"Expected the kind add, remove or change from '{plan.planner}', got {plan.kind!r}.")
    return plan
