"""Who decides what is edited and how it is said: a planner sees the image before the turn.

A planner of your own is a function of a `View`, the `Editor` and the proposers that returns a `TurnPlan`: name it
"pkg.mod:fn" as `edit.planner`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from forensegm.edits.editors.base import Editor, Kind, Region
from forensegm.edits.loading import NeedsModel
from forensegm.edits.regions import draw_region
from forensegm.edits.view import Proposer, TurnPlan, View
from forensegm.edits.vlm_planner import VLM_PLANNER

Planner = Callable[[View, Editor, Mapping[str, Proposer]], TurnPlan]

_WISHES: dict[Kind, tuple[str, ...]] = {
    "add": ("Add {thing} {where}.", "Put {thing} {where}.", "Insert {thing} {where}."),
    "remove": ("Remove what is {where}.", "Erase the {size} part {where}.", "Clear away the {size} part {where}."),
    "change": (
        "Change the look of what is {where}.",
        "Smooth the {size} part {where}.",
        "Retouch the {size} part {where}.",
    ),
}
_NAMED_WISHES: dict[Kind, tuple[str, ...]] = {
    "add": ("Add {article} {attribute} {thing} {where}.", "Put {article} {attribute} {thing} {where}."),
    "remove": ("Remove the {thing} {where}.", "Take away the {thing} {where}."),
    "change": ("Make the {thing} {where} {attribute}.", "Turn the {thing} {where} into {article} {attribute} one."),
}
# Colours and materials that most categories of COCO can have; what is added where nothing is known.
ATTRIBUTES = ("red", "blue", "green", "yellow", "white", "black", "wooden", "golden", "striped", "old")
THINGS = ("vase", "chair", "bird", "dog", "potted plant", "bottle", "book", "umbrella", "ball", "suitcase")
_ROWS, _COLUMNS = ("upper", "", "lower"), ("left", "", "right")


def rule_planner(view: View, editor: Editor, proposers: Mapping[str, Proposer]) -> TurnPlan:
    """Draw a region, a kind that the editor can make, and a sentence that says so; with names where they are known."""
    found, proposer = draw_region(view, proposers)
    rng = view.rng
    kind = editor.kinds[int(rng.integers(len(editor.kinds)))]
    if found.name or editor.reads:
        instruction, prompt = _named_wish(view, found.region, found.name, kind)
    else:
        instruction, prompt = _plain_wish(rng, editor, found.region, kind), ""
    return TurnPlan(found.region, proposer, kind, instruction, int(rng.integers(2**32)), prompt)


def _plain_wish(rng: np.random.Generator, editor: Editor, region: Region, kind: Kind) -> str:
    wish = _WISHES[kind][int(rng.integers(len(_WISHES[kind])))]
    share = region.mean()
    return wish.format(
        thing="something from another photograph" if editor.needs_donor else "a copy of another part",
        where=describe_place(region),
        size="small" if share < 0.05 else "middle-sized" if share < 0.12 else "large",
    )


def _named_wish(view: View, region: Region, name: str, kind: Kind) -> tuple[str, str]:
    """An order, and what is then to be seen in the region."""
    rng = view.rng
    attribute = ATTRIBUTES[int(rng.integers(len(ATTRIBUTES)))]
    thing = name or ("part" if kind == "remove" else THINGS[int(rng.integers(len(THINGS)))])
    if kind == "change" and not name:
        thing = "part"
    wish = _NAMED_WISHES[kind][int(rng.integers(len(_NAMED_WISHES[kind])))]
    article = "an" if attribute[0] in "aeiou" else "a"
    instruction = wish.format(thing=thing, attribute=attribute, article=article, where=describe_place(region))
    caption = view.captions[0].rstrip(".") if view.captions else ""
    if kind == "remove":
        prompt = "empty background, nothing there" + (f", {caption}" if caption and name not in caption else "")
    elif kind == "change" and not name:
        prompt = f"{attribute}" + (f", {caption}" if caption else " surface")
    else:
        prompt = f"{article} {attribute} {thing}" + (f", {caption}" if caption else "")
    return instruction, prompt


ABOUT = {
    "rules": "A drawn kind of edit, in a sentence made of the object's name where it is known",
    "vlm": "A vision-language model (Qwen2.5-VL by default) answers in JSON what to edit and how",
}
PLANNERS: dict[str, Planner | NeedsModel[Planner]] = {"rules": rule_planner, "vlm": VLM_PLANNER}


def describe_place(region: Region) -> str:
    """Say where a region lies, by its centre on a three by three grid.

    >>> describe_place(np.eye(9, dtype=bool)[:3, :3])
    'in the middle'
    """
    rows, columns = np.nonzero(region)
    row = min(2, int(3 * (rows.mean() + 0.5) / region.shape[0]))
    column = min(2, int(3 * (columns.mean() + 0.5) / region.shape[1]))
    if row == 1 and column == 1:
        return "in the middle"
    if column == 1:
        return "at the top" if row == 0 else "at the bottom"
    if row == 1:
        return f"on the {_COLUMNS[column]}"
    return f"in the {_ROWS[row]} {_COLUMNS[column]}"
