"""The plan of every image, drawn before any is made: small, and enough to make the image anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from forensegm.config import EditConfig
from forensegm.edits.sources import Photo

SPLITS = ("train", "val", "test")
DONORS = 2  # photographs that an image's splices may draw from


@dataclass(frozen=True)
class ImagePlan:
    """What is known about an image before it is made.

    Attributes:
        index: number of the image in its data set, from 0.
        split: train, val or test.
        photo: the photograph, or the caption that the base image is generated from.
        corner: left and top pixel of the crop.
        editors: who edits in which turn; empty = the image stays authentic.
        donors: photographs that splices draw from, all of the same split.
        generator: the editor whose text-to-image model makes the base image; empty = it is a photograph.
        codec: the encoder of the image file.
    """

    index: int
    split: str
    photo: Photo
    corner: tuple[int, int]
    editors: tuple[str, ...]
    donors: tuple[Photo, ...]
    generator: str = ""
    codec: str = "png"


def plan_images(
    photos: Sequence[Photo], splits: Mapping[str, str], config: EditConfig, *, captions: Sequence[Photo] = ()
) -> list[ImagePlan]:
    """Draw the plan of every image; scenes get equally many images, as far as the numbers allow.

    Args:
        photos: the usable photographs.
        splits: split by scene.
        config: the build's configuration.
        captions: what base images are generated from.
    """
    rng = np.random.default_rng(np.random.SeedSequence(config.seed))
    plans: list[ImagePlan] = []
    scenes = {split: sorted({p.scene for p in photos if splits[p.scene] == split}) for split in SPLITS}
    written = {split: [one for one in captions if splits[one.scene] == split] for split in SPLITS}
    weights = {split: len(scenes[split]) or len(written[split]) for split in SPLITS}
    counts = allot(config.images, {split: weight for split, weight in weights.items() if weight})
    for split in counts:
        names = scenes[split]
        order = [names[one] for one in rng.permutation(len(names))]
        shuffled = rng.permutation(counts[split])
        authentic = set(shuffled[: round(config.authentic_share * counts[split])].tolist())
        generated = set(shuffled[::-1][: round(config.generated_share * counts[split])].tolist()) - authentic
        own = [photo for photo in photos if photo.scene in set(names)]
        for number in range(counts[split]):
            if number in generated and written[split]:
                plans.append(
                    _plan_generated(len(plans), split, written[split][number % len(written[split])], own, config)
                )
            elif order:
                scene = order[number % len(order)]
                plans.append(_plan_photo(len(plans), split, scene, own, config, authentic=number in authentic))
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


def _plan_photo(
    index: int, split: str, scene: str, photos: Sequence[Photo], config: EditConfig, *, authentic: bool
) -> ImagePlan:
    rng = np.random.default_rng(np.random.SeedSequence((config.seed, index)))
    same_scene = [photo for photo in photos if photo.scene == scene]
    photo = same_scene[int(rng.integers(len(same_scene)))]
    top, left = (int(rng.integers(side - (config.size or side) + 1)) for side in photo.hw)
    editors = () if authentic else _draw_editors(rng, config)
    donors = () if authentic else _draw_donors(rng, scene, photos)
    return ImagePlan(index, split, photo, (left, top), editors, donors, codec=draw_codec(config, index))


def _plan_generated(index: int, split: str, caption: Photo, photos: Sequence[Photo], config: EditConfig) -> ImagePlan:
    rng = np.random.default_rng(np.random.SeedSequence((config.seed, index)))
    generator = config.generators[int(rng.integers(len(config.generators)))]
    editors, donors = _draw_editors(rng, config), _draw_donors(rng, caption.scene, photos)
    return ImagePlan(index, split, caption, (0, 0), editors, donors, generator, draw_codec(config, index))


def _draw_editors(rng: np.random.Generator, config: EditConfig) -> tuple[str, ...]:
    """Draw how many turns there are, and who edits in each."""
    frequencies = np.asarray(config.turns, dtype=float)
    turns = 1 + int(rng.choice(len(frequencies), p=frequencies / frequencies.sum()))
    if not config.shares:
        return tuple(config.editors[one] for one in rng.integers(len(config.editors), size=turns))
    shares = np.asarray([config.shares.get(name, 1.0) for name in config.editors])
    return tuple(config.editors[one] for one in rng.choice(len(shares), size=turns, p=shares / shares.sum()))


def _draw_donors(rng: np.random.Generator, scene: str, photos: Sequence[Photo]) -> tuple[Photo, ...]:
    # Only a split of a single scene lends to itself: better than content that crosses splits.
    others = [other for other in photos if other.scene != scene] or list(photos)
    if len(others) > 1000:  # a permutation of a hundred thousand photographs for each image would take hours
        return tuple(others[one] for one in rng.integers(len(others), size=DONORS))
    return tuple(others[one] for one in rng.permutation(len(others))[:DONORS])


def draw_codec(config: EditConfig, index: int) -> str:
    """Draw the encoder of an image from the declared distribution, whether or not it is edited."""
    if not config.codecs:
        return config.codec
    rng = np.random.default_rng(np.random.SeedSequence((config.seed, index, 2)))
    names, shares = list(config.codecs), np.asarray(list(config.codecs.values()), dtype=float)
    name = names[int(rng.choice(len(names), p=shares / shares.sum()))]
    kind, _, quality = name.partition(":")
    low, dots, high = quality.partition("..")
    return f"{kind}:{int(rng.integers(int(low), int(high) + 1))}" if dots else name
