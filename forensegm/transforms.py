"""Training transform: crop, flip, rotate, distort image and mask together, everything drawn from one generator."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from forensegm.config import AugmentConfig
from forensegm.distortions import Chain, parse_chain
from forensegm.sample import AUTHENTIC, IGNORE, Image, Mask, Sample

# Surroundings that are distorted with a crop, so that its border looks as it would in the whole distorted image: one
# 4:2:0 JPEG block of 16 pixels (ITU-T T.81), which also holds the kernel of a blur up to sigma 5.
MARGIN = 16
NEVER_EDITED = 0  # of a turn map

Plane = Image  # or a Mask: both are uint8 arrays
Masks = tuple[Mask, ...]


def ignore_regenerated(sample: Sample) -> Sample:
    """Mark what is outside the mask as ignored where an editor redrew the whole frame.

    There, 0 means not asked to change; the pixels went through the editor all the same. Samples without such an edit
    in their records come back as they are.
    """
    edits = sample.meta.get("edits") or ()
    if not any(edit.get("composite") == "regenerate" for edit in edits):
        return sample
    return replace(sample, mask=np.where(sample.mask == AUTHENTIC, np.uint8(IGNORE), sample.mask))


@dataclass(frozen=True)
class Plan:
    """What was drawn for one sample; applying it draws nothing but noise, from `seed`.

    Attributes:
        chain: the distortion, every range drawn; None = undistorted.
        window: top, left, height and width of the crop in pixels of the undistorted image.
        quarter_turns: counter-clockwise rotations by 90 degrees.
        flip_lr: mirror left and right, after rotating.
        flip_ud: mirror up and down, after rotating.
        seed: seed of the distortion's noise.
    """

    chain: Chain | None
    window: tuple[int, int, int, int]
    quarter_turns: int
    flip_lr: bool
    flip_ud: bool
    seed: int


class TrainTransform:
    """Random crop, distortion, rotation by 90 degrees and flips of an image and its masks.

    Nothing is ever interpolated except by a distortion that says so, since resizing wipes out forensic traces. The
    distortion is drawn first: it decides how large a window of the image the crop needs (crop / factor for a resize).
    The window is cut with a margin, on the 16-pixel grid of the image's own JPEG blocks, and only that is distorted;
    then the crop is cut from it. So the result equals a crop of the distorted whole image, at the cost of a crop
    (exactly for jpeg, blur up to sigma 5 and gamma; up to the sub-pixel grid for resize; in distribution for noise).

    Args:
        augment: see `forensegm.config.AugmentConfig`. Its chains are the user's word: "pkg.mod:op(...)" is honoured.
        crop: side of the result; smaller images are padded right and bottom (image 0, mask 255, turn map 0).
            0 = whole images: sizes differ, and rotating swaps their sides.
        keep_edits: share of crops that are laid around an edited pixel, drawn uniformly from all of them: it comes to
            lie in the middle half of the crop, except at the image's border. The other crops, and those of images
            without edits, are uniform.

    Raises:
        ValueError: a share outside 0..1, a negative crop, no distortion to draw from, or a bad chain.
    """

    def __init__(self, augment: AugmentConfig, crop: int, keep_edits: float) -> None:
        """Check the options and parse the chains, so that a typo shows before the run."""
        for name, share in (("flip", augment.flip), ("distort", augment.distort), ("keep_edits", keep_edits)):
            if not 0 <= share <= 1:
                raise ValueError(f"Expected {name} to be a share of 0..1, got {share}.")
        if crop < 0:
            raise ValueError(f"Expected crop to be a side in pixels, or 0 for whole images, got {crop}.")
        if augment.distort > 0 and not augment.distortions:
            raise ValueError("Expected at least one chain in distortions, got none. Set distort to 0 to have none.")
        self.augment = augment
        self.crop = crop
        self.keep_edits = keep_edits
        self.chains = [parse_chain(text, trusted=True) for text in augment.distortions]

    def __call__(self, sample: Sample, rng: np.random.Generator) -> Sample:
        """Return a new sample; the same sample and generator state give the same bits. The input stays as it is."""
        return self.apply(sample, self.draw(sample, rng))

    def draw(self, sample: Sample, rng: np.random.Generator) -> Plan:
        """Draw everything that is random about one sample."""
        chain = None
        if rng.random() < self.augment.distort:
            chain = self.chains[int(rng.integers(len(self.chains)))].draw(rng)
        return Plan(
            chain=chain,
            window=self.draw_window(sample.mask, chain.scale if chain else 1.0, rng),
            quarter_turns=int(rng.integers(4)) if self.augment.rotate90 else 0,
            flip_lr=rng.random() < self.augment.flip,
            flip_ud=rng.random() < self.augment.flip,
            seed=int(rng.integers(2**63)),
        )

    def draw_window(self, mask: Mask, scale: float, rng: np.random.Generator) -> tuple[int, int, int, int]:
        """Draw where to crop, in pixels before a distortion that changes sides by `scale`."""
        if self.crop == 0:
            return 0, 0, *mask.shape
        side = math.ceil(self.crop / scale)
        height, width = (min(side, length) for length in mask.shape)
        pixel = draw_edited_pixel(mask, rng) if rng.random() < self.keep_edits else None
        tops, lefts = mask.shape[0] - height, mask.shape[1] - width
        if pixel is None:
            return int(rng.integers(tops, endpoint=True)), int(rng.integers(lefts, endpoint=True)), height, width
        return draw_start(pixel[0], height, tops, rng), draw_start(pixel[1], width, lefts, rng), height, width

    def apply(self, sample: Sample, plan: Plan) -> Sample:
        """Carry out a plan."""
        masks: Masks = (sample.mask,) if sample.turn_map is None else (sample.mask, sample.turn_map)
        image, masks = cut_distorted(sample.image, masks, plan, self.crop)
        mask, *turn_map = (
            framed(turned(plane, plan), self.crop, fill)
            for plane, fill in zip(masks, (IGNORE, NEVER_EDITED), strict=False)
        )
        return replace(
            sample,
            image=framed(turned(image, plan), self.crop, 0),
            mask=mask,
            turn_map=turn_map[0] if turn_map else None,
            meta={**sample.meta, "distortion": str(plan.chain)} if plan.chain else sample.meta,
        )


def draw_edited_pixel(mask: Mask, rng: np.random.Generator) -> tuple[int, int] | None:
    """Draw (row, column) uniformly from the pixels of 1..254; None where there is none."""
    edited = (mask - np.uint8(1)) < IGNORE - 1  # one pass: 0 wraps around to 255, and 255 becomes 254
    upto = np.cumsum(np.count_nonzero(edited, axis=1))
    if upto[-1] == 0:
        return None
    drawn = int(rng.integers(upto[-1]))
    row = int(np.searchsorted(upto, drawn, side="right"))
    before = int(upto[row - 1]) if row else 0
    return row, int(np.flatnonzero(edited[row])[drawn - before])


def draw_start(pixel: int, length: int, largest: int, rng: np.random.Generator) -> int:
    """Draw the start of a cut of `length` that holds `pixel` in its middle half, or as near as 0..`largest` allows."""
    jitter = int(rng.integers(-(length // 4), length // 4, endpoint=True))
    return min(max(pixel - length // 2 + jitter, 0), largest)


def cut_distorted(image: Image, masks: Masks, plan: Plan, crop: int) -> tuple[Image, Masks]:
    """Cut the plan's window; with a distortion, distort it with its surroundings first and cut `crop` from that."""
    top, left, height, width = plan.window
    if plan.chain is None:
        return image[top : top + height, left : left + width], tuple(
            mask[top : top + height, left : left + width] for mask in masks
        )
    rows = surroundings(top, height, image.shape[0], plan.chain)
    columns = surroundings(left, width, image.shape[1], plan.chain)
    image, masks = plan.chain.apply(
        np.ascontiguousarray(image[rows, columns]),
        tuple(mask[rows, columns] for mask in masks),
        rng=np.random.default_rng(plan.seed),
    )
    if crop == 0:
        return image, masks
    down, right = (
        min(round((start - wide.start) * size / (wide.stop - wide.start)), max(size - crop, 0))
        for start, wide, size in zip((top, left), (rows, columns), image.shape[:2], strict=True)
    )
    return image[down : down + crop, right : right + crop], tuple(
        mask[down : down + crop, right : right + crop] for mask in masks
    )


def surroundings(start: int, length: int, total: int, chain: Chain) -> slice:
    """The range start..start+length and what the chain's steps see around it, begun and ended between JPEG blocks."""
    # Each step spoils MARGIN pixels at most from the cut inwards, but resizing only a pixel or two.
    steps = max(1, sum(step.op.scale is None for step in chain.steps))
    margin = math.ceil(steps * MARGIN / min(chain.scale, 1.0))
    first = max(start - margin, 0) // MARGIN
    last = -(-(start + length + margin) // MARGIN)
    return slice(first * MARGIN, min(last * MARGIN, total))


def turned(plane: Plane, plan: Plan) -> Plane:
    """Rotate and flip an image or mask; returns a view."""
    plane = np.rot90(plane, plan.quarter_turns)
    plane = plane[:, ::-1] if plan.flip_lr else plane
    return plane[::-1] if plan.flip_ud else plane


def framed(plane: Plane, side: int, fill: int) -> Plane:
    """Copy an image or mask into a contiguous square padded right and bottom; side 0 = copy it as it is."""
    if side == 0:
        return plane.copy(order="C")
    result = np.full((side, side, *plane.shape[2:]), fill, dtype=np.uint8)
    result[: plane.shape[0], : plane.shape[1]] = plane
    return result
