"""An image while it is made: how it begins, what it remembers between turns, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from forensegm.config import EditConfig
from forensegm.datasets.coco import decode_region
from forensegm.datasets.records import Edit, Record
from forensegm.edits import sources
from forensegm.edits.compose import Layers
from forensegm.edits.editors.base import Region
from forensegm.edits.editors.running import load_generator
from forensegm.edits.outcomes import Outcome
from forensegm.edits.plans import ImagePlan
from forensegm.edits.sources import Photo
from forensegm.edits.view import SceneObject
from forensegm.imageio import codec_suffix, read_image_info, write_image, write_mask
from forensegm.sample import Image


@dataclass(eq=False)
class Canvas:
    """An image between its turns.

    Attributes:
        plan: its plan.
        layers: what it looks like now.
        objects: what annotations mark in it.
        made: how a generated base was made; empty for a photograph.
        edits: the turns that were made.
        outcomes: how each planned turn ended.
        steps: the image after each turn, where they are to be written.
        number: index of the planned turn that is next.
        tries: tries of it so far.
        reasons: why they were rejected.
    """

    plan: ImagePlan
    layers: Layers
    objects: tuple[SceneObject, ...] = ()
    made: dict[str, Any] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    steps: list[Image] = field(default_factory=list)
    number: int = 0
    tries: int = 0
    reasons: list[str] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether every planned turn has ended."""
        return self.number >= len(self.plan.editors)

    @property
    def next_editor(self) -> str:
        """Who edits next; empty where nobody does."""
        return "" if self.done else self.plan.editors[self.number]

    def accept(self, image: Image, region: Region, edit: Edit, *, editor_id: int) -> None:
        """Take over an accepted turn."""
        self.layers = self.layers.with_turn(image, region, editor_id=editor_id, turn=edit.turn)
        self.edits.append(edit)

    def next_turn(self) -> None:
        """Go on to the next planned turn."""
        self.number, self.tries, self.reasons = self.number + 1, 0, []


def begin(plans: Sequence[ImagePlan], config: EditConfig) -> list[Canvas]:
    """Cut or generate the base images."""
    made = _generate([plan for plan in plans if plan.generator], config)
    canvases = []
    for plan in plans:
        if plan.generator:
            image, parameters = made[plan.index]
            canvas = Canvas(plan, Layers.of(image), made=parameters)
            canvas.layers.mask[:] = config.editors.index(plan.generator) + 1
        else:
            rows, columns = _window(plan, config)
            crop = np.ascontiguousarray(sources.load(plan.photo)[rows, columns])
            canvas = Canvas(plan, Layers.of(crop), _objects(plan.photo, rows, columns))
        canvases.append(canvas)
    return canvases


def _generate(plans: Sequence[ImagePlan], config: EditConfig) -> dict[int, tuple[Image, dict[str, Any]]]:
    """Base images by index, with how they were made; cropped to the size, at the model's own resolution."""
    made = {}
    for name in dict.fromkeys(plan.generator for plan in plans):
        own = [plan for plan in plans if plan.generator == name]
        rngs = [np.random.default_rng((config.seed, plan.index, 3)) for plan in own]
        wishes = [(plan.photo.captions[0], int(rng.integers(2**31))) for plan, rng in zip(own, rngs, strict=True)]
        for plan, rng, output in zip(own, rngs, load_generator(name, config)(wishes), strict=True):
            image = output.image
            height, width = (min(side, config.size) if config.size else side for side in image.shape[:2])
            top, left = int(rng.integers(image.shape[0] - height + 1)), int(rng.integers(image.shape[1] - width + 1))
            made[plan.index] = (image[top : top + height, left : left + width].copy(), output.parameters)
    return made


def _window(plan: ImagePlan, config: EditConfig) -> tuple[slice, slice]:
    """Rows and columns of the crop."""
    left, top = plan.corner
    height, width = (config.size or side for side in plan.photo.hw)
    return slice(top, top + height), slice(left, left + width)


def _objects(photo: Photo, rows: slice, columns: slice) -> tuple[SceneObject, ...]:
    """The annotated objects that lie in the crop, and whether its border cuts them."""
    found = []
    for number, one in enumerate(photo.objects):
        whole = decode_region({"segmentation": one.segmentation}, photo.hw, where=f"object {number} of {photo.name}")
        region = whole[rows, columns]
        rim = region[0].any() or region[-1].any() or region[:, 0].any() or region[:, -1].any()
        if region.any():
            found.append(SceneObject(one.name, region, bool(rim)))
    return tuple(found)


class Donor:
    """Cuts a new crop out of the donor photographs, one after the other, on every call, and remembers their names."""

    def __init__(self, photos: Sequence[Photo], hw: tuple[int, ...], rng: np.random.Generator) -> None:
        """Draw crops of `hw` pixels with `rng`."""
        self.photos, self.hw, self.rng = photos, hw, rng
        self.drawn: list[str] = []

    def __call__(self) -> Image:
        """Return the next crop: uint8 RGB of the size asked for; a smaller photograph is mirrored at its borders.

        Raises:
            ValueError: the split holds no photograph that could lend.
        """
        if not self.photos:
            raise ValueError("Expected photographs that lend content, got none in the split.")
        photo = self.photos[len(self.drawn) % len(self.photos)]
        self.drawn.append(photo.name)
        height, width = self.hw
        top, left = (
            int(self.rng.integers(max(0, have - want) + 1)) for have, want in zip(photo.hw, self.hw, strict=True)
        )
        crop = sources.load(photo)[top : top + height, left : left + width]
        if crop.shape[:2] == (height, width):
            return crop.copy()
        bottom, right = height - crop.shape[0], width - crop.shape[1]
        return np.asarray(cv2.copyMakeBorder(crop, 0, bottom, 0, right, cv2.BORDER_REFLECT), np.uint8)


def write(canvas: Canvas, config: EditConfig, root: Path) -> Record:
    """Write image, mask and turn map; authentic or edited, the image leaves through the one encoder."""
    plan, layers = canvas.plan, canvas.layers
    name = f"{plan.index:06d}"
    image, mask, turns = f"images/{name}{codec_suffix(plan.codec)}", f"masks/{name}.png", f"turns/{name}.png"
    write_image(root / image, layers.image, plan.codec)
    write_mask(root / mask, layers.mask)
    write_mask(root / turns, layers.turn_map)
    if config.intermediates:
        for number, step in enumerate(canvas.steps, start=1):
            write_image(root / f"steps/{name}_{number}.png", step)
    info = read_image_info(root / image)
    return Record(
        id=name,
        image=image,
        mask=mask,
        turns=turns,
        split=plan.split,
        group=plan.photo.scene,
        size=list(layers.mask.shape),
        base="generated" if plan.generator else "photo",
        codec={"codec": info.codec, "quality": info.quality, "subsampling": info.subsampling},
        source=_source(canvas, config),
        edits=canvas.edits,
    )


def _source(canvas: Canvas, config: EditConfig) -> dict[str, Any]:
    photo = canvas.plan.photo
    captions = {"caption": photo.captions[0]} if photo.captions else {}
    if canvas.plan.generator:
        return {
            "name": photo.name,
            "licence": photo.licence,
            "generator": canvas.plan.generator,
            **captions,
            **canvas.made,
        }
    rows, columns = _window(canvas.plan, config)
    corners = [columns.start, rows.start, columns.stop, rows.stop]
    return {"name": photo.name, "licence": photo.licence, "pixels": photo.digest, "crop_xyxy": corners, **captions}
