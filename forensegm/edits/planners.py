"""Who edits what: the plan of every image, drawn before any is made, and the plan of a turn, which sees the image."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from forensegm.config import EditConfig
from forensegm.edits.editors.base import Editor, Kind, Region
from forensegm.edits.regions import Area, draw_region
from forensegm.edits.sources import Photo
from forensegm.sample import Image

SPLITS = ("train", "val", "test")
DONORS = 2  # photographs that an image's splices may draw from


@dataclass(frozen=True)
class ImagePlan:
    """What is known about an image before it is made; small, and enough to make it anywhere.

    Attributes:
        index: number of the image in its data set, from 0.
        split: train, val or test.
        photo: the photograph.
        corner: left and top pixel of the crop.
        editors: who edits in which turn; empty = the image stays authentic.
        donors: photographs that splices draw from, all of the same split.
    """

    index: int
    split: str
    photo: Photo
    corner: tuple[int, int]
    editors: tuple[str, ...]
    donors: tuple[Photo, ...]


@dataclass(frozen=True, eq=False)
class TurnPlan:
    """One turn.

    Attributes:
        region: bool HxW, what is to be edited.
        proposer: what the region comes from.
        kind: add, remove or change.
        instruction: the wish as a sentence.
        seed: what the editor draws from.
    """

    region: Region
    proposer: str
    kind: Kind
    instruction: str
    seed: int


def plan_images(photos: Sequence[Photo], splits: Mapping[str, str], config: EditConfig) -> list[ImagePlan]:
    """Draw the plan of every image; scenes get equally many images, as far as the numbers allow.

    Args:
        photos: the usable photographs.
        splits: split by scene.
        config: the build's configuration.
    """
    rng = np.random.default_rng(np.random.SeedSequence(config.seed))
    plans: list[ImagePlan] = []
    scenes = {split: sorted({p.scene for p in photos if splits[p.scene] == split}) for split in SPLITS}
    counts = allot(config.images, {split: len(names) for split, names in scenes.items() if names})
    for split in counts:
        names = scenes[split]
        order = [names[one] for one in rng.permutation(len(names))]
        authentic = set(rng.permutation(counts[split])[: round(config.authentic_share * counts[split])].tolist())
        own = [photo for photo in photos if splits[photo.scene] == split]
        for number in range(counts[split]):
            scene = order[number % len(order)]
            plans.append(_plan_image(len(plans), split, scene, own, config, authentic=number in authentic))
    return plans


def allot(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """Share out `total` in proportion to `weights` (largest remainders), at least one each.

    >>> allot(10, {"train": 11, "val": 3, "test": 6})
    {'train': 6, 'val': 1, 'test': 3}
    """
    exact = {name: total * weight / sum(weights.values()) for name, weight in weights.items()}
    counts = {name: max(1, int(share)) for name, share in exact.items()}
    while sum(counts.values()) != total:
        step = 1 if sum(counts.values()) < total else -1
        movable = [name for name in counts if step > 0 or counts[name] > 1]
        counts[max(movable, key=lambda name: step * (exact[name] - counts[name]))] += step
    return counts


def _plan_image(
    index: int, split: str, scene: str, photos: Sequence[Photo], config: EditConfig, *, authentic: bool
) -> ImagePlan:
    rng = np.random.default_rng(np.random.SeedSequence((config.seed, index)))
    same_scene = [photo for photo in photos if photo.scene == scene]
    photo = same_scene[int(rng.integers(len(same_scene)))]
    top, left = (int(rng.integers(side - config.size + 1)) for side in photo.hw)
    if authentic:
        return ImagePlan(index, split, photo, (left, top), (), ())
    frequencies = np.asarray(config.turns, dtype=float)
    turns = 1 + int(rng.choice(len(frequencies), p=frequencies / frequencies.sum()))
    editors = tuple(config.editors[one] for one in rng.integers(len(config.editors), size=turns))
    # Only a split of a single scene lends to itself: better than content that crosses splits.
    others = [other for other in photos if other.scene != scene] or same_scene
    donors = tuple(others[one] for one in rng.permutation(len(others))[:DONORS])
    return ImagePlan(index, split, photo, (left, top), editors, donors)


Planner = Callable[[Image, Editor, Area, np.random.Generator], TurnPlan]

_WISHES: dict[Kind, tuple[str, ...]] = {
    "add": ("Add {thing} {where}.", "Put {thing} {where}.", "Insert {thing} {where}."),
    "remove": ("Remove what is {where}.", "Erase the {size} part {where}.", "Clear away the {size} part {where}."),
    "change": (
        "Change the look of what is {where}.",
        "Smooth the {size} part {where}.",
        "Retouch the {size} part {where}.",
    ),
}
_ROWS, _COLUMNS = ("upper", "", "lower"), ("left", "", "right")


def rule_planner(image: Image, editor: Editor, area: Area, rng: np.random.Generator) -> TurnPlan:
    """Draw a region, a kind that the editor can make, and a sentence that says so."""
    region, proposer = draw_region(image, area, rng=rng)
    kind = editor.kinds[int(rng.integers(len(editor.kinds)))]
    wish = _WISHES[kind][int(rng.integers(len(_WISHES[kind])))]
    share = region.mean()
    instruction = wish.format(
        thing="something from another photograph" if editor.needs_donor else "a copy of another part",
        where=describe_place(region),
        size="small" if share < 0.05 else "middle-sized" if share < 0.12 else "large",
    )
    return TurnPlan(region, proposer, kind, instruction, int(rng.integers(2**32)))


PLANNERS: dict[str, Planner] = {"rules": rule_planner}


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
