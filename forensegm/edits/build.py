"""Make one image of the data set: all its turns, its files and its record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from forensegm.config import EditConfig
from forensegm.datasets.records import Edit, Record, rle_encode
from forensegm.edits import sources
from forensegm.edits.audit import Change, Outcome, measure_change
from forensegm.edits.compose import Layers, compose
from forensegm.edits.editors import Composite, Editor, EditorOutput, EditTask, find_editor
from forensegm.edits.planners import PLANNERS, ImagePlan, TurnPlan
from forensegm.edits.sources import Photo
from forensegm.imageio import codec_suffix, read_image_info, write_image, write_mask
from forensegm.sample import Image, image_label

RETRIES = 3  # further tries of a turn that changed nothing, each with another region and seed


@dataclass(frozen=True)
class Built:
    """One finished image: its record, and what the counts and the audit need to know.

    Attributes:
        record: its record; its files are written.
        coverage: empty, partial or full.
        editor_ids: the mask values of the editors that its mask holds.
        outcomes: how each planned turn ended.
    """

    record: Record
    coverage: str
    editor_ids: tuple[int, ...]
    outcomes: tuple[Outcome, ...]


def build_image(plan: ImagePlan, config: EditConfig, root: Path) -> Built:
    """Make one image with all its turns and write its files; the result depends on nothing but the arguments."""
    left, top = plan.corner
    crop = sources.load(plan.photo)[top : top + config.size, left : left + config.size]
    layers = Layers.of(crop.copy())
    edits: list[Edit] = []
    outcomes: list[Outcome] = []
    for number, name in enumerate(plan.editors):
        layers, edit, outcome = _take_turn(layers, plan, config, number=number, name=name, turn=len(edits) + 1)
        outcomes.append(outcome)
        if edit is not None:
            edits.append(edit)
    label = image_label(layers.mask)
    record = _write(layers, edits, plan, config, root)
    return Built(record, str(label.coverage), label.editors, tuple(outcomes))


def _take_turn(
    layers: Layers, plan: ImagePlan, config: EditConfig, *, number: int, name: str, turn: int
) -> tuple[Layers, Edit | None, Outcome]:
    """Try one turn until it changes something; where it never does, the layers come back as they were."""
    editor = find_editor(name)
    tries = 0
    while True:
        rng = np.random.default_rng((config.seed, plan.index, number, tries))
        wish = PLANNERS["rules"](layers.image, editor, config.region_area, rng)
        donor = Donor(plan.donors, config.size, np.random.default_rng((wish.seed, 1)))
        output = _edit(layers.image, wish, editor, donor, where=f"'{name}' on image {plan.index} ({plan.photo.name})")
        after = compose(layers.image, output.image, wish.region, mode=editor.composite, editor=name)
        change = measure_change(layers.image, after, wish.region)
        tries += 1
        if change.did_something:
            parameters = {"region": wish.proposer, **output.parameters}
            if donor.drawn:
                parameters["donors"] = donor.drawn
            layers = layers.with_turn(after, wish.region, editor_id=config.editors.index(name) + 1, turn=turn)
            edit = _record_edit(wish, change, parameters, turn=turn, name=name, composite=editor.composite)
            return layers, edit, Outcome(name, True, tries, change.mean_inside)
        if tries > RETRIES:
            return layers, None, Outcome(name, False, tries, change.mean_inside)


def _edit(image: Image, wish: TurnPlan, editor: Editor, donor: Donor, *, where: str) -> EditorOutput:
    """Call the editor on copies, so that none can change what the others are given."""
    rng = np.random.default_rng(wish.seed)
    try:
        output = editor(EditTask(image.copy(), wish.region.copy(), rng, donor, wish.kind, wish.instruction))
    except Exception as error:  # an editor may be anyone's: say which one failed, on what
        raise RuntimeError(f"Expected the editor {where} to work, it raised {type(error).__name__}: {error}") from error
    try:
        json.dumps(output.parameters, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Expected plain JSON types as parameters of the editor {where}, got: {error}") from error
    return output


class Donor:
    """Cuts a new crop out of the donor photographs, one after the other, on every call, and remembers their names."""

    def __init__(self, photos: Sequence[Photo], size: int, rng: np.random.Generator) -> None:
        """Draw crops of `size` pixels a side with `rng`."""
        self.photos, self.size, self.rng = photos, size, rng
        self.drawn: list[str] = []

    def __call__(self) -> Image:
        """Return the next crop: uint8 RGB, `size` pixels a side."""
        photo = self.photos[len(self.drawn) % len(self.photos)]
        self.drawn.append(photo.name)
        top, left = (int(self.rng.integers(side - self.size + 1)) for side in photo.hw)
        return sources.load(photo)[top : top + self.size, left : left + self.size].copy()


def _record_edit(
    wish: TurnPlan, change: Change, parameters: dict[str, Any], *, turn: int, name: str, composite: Composite
) -> Edit:
    return Edit(
        turn=turn,
        editor=name,
        kind=wish.kind,
        instruction=wish.instruction,
        seed=wish.seed,
        parameters=parameters,
        composite=composite,
        mask=rle_encode(wish.region),
        changed_inside=round(change.share_inside, 6),
        changed_outside=round(change.share_outside, 6),
        changed_mask=rle_encode(change.changed),
    )


def _write(layers: Layers, edits: list[Edit], plan: ImagePlan, config: EditConfig, root: Path) -> Record:
    """Write image, mask and turn map; authentic or edited, the image leaves through the one encoder."""
    name = f"{plan.index:06d}"
    image, mask, turns = f"images/{name}{codec_suffix(config.codec)}", f"masks/{name}.png", f"turns/{name}.png"
    write_image(root / image, layers.image, config.codec)
    write_mask(root / mask, layers.mask)
    write_mask(root / turns, layers.turn_map)
    info = read_image_info(root / image)
    left, top = plan.corner
    return Record(
        id=name,
        image=image,
        mask=mask,
        turns=turns,
        split=plan.split,
        group=plan.photo.scene,
        size=list(layers.mask.shape),
        base="photo",
        codec={"codec": info.codec, "quality": info.quality, "subsampling": info.subsampling},
        source={
            "name": plan.photo.name,
            "licence": plan.photo.licence,
            "pixels": plan.photo.digest,
            "crop_xyxy": [left, top, left + config.size, top + config.size],
        },
        edits=edits,
    )
