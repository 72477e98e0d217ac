"""A base image that edits begin from: found first, decoded when needed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from forensegm.datasets import open_dataset
from forensegm.datasets.protocol import Dataset
from forensegm.imageio import read_image
from forensegm.sample import Image

Skipped = tuple[str, str]  # path, reason
CACHED = 4  # decoded photographs kept in memory, per process


@dataclass(frozen=True)
class KnownObject:
    """An object that annotations mark in a photograph.

    Attributes:
        name: its category.
        segmentation: COCO polygons or run lengths, in the whole photograph's pixels.
    """

    name: str
    segmentation: Any = field(hash=False)


@dataclass(frozen=True)
class Photo:
    """A photograph that has been found, and, once probed, decoded completely at least once.

    Attributes:
        name: unique in its source: the path below the folder, or "package/file".
        path: where it is; of a photograph in a data set, where the data set is.
        scene: what splits never cut; photographs of one scene share it.
        licence: as its source states it.
        hw: height and width in pixels as displayed; (0, 0) before it is probed.
        digest: hash of its pixels; empty before it is probed.
        reader: the data set that holds it, as "kind:location"; empty = a file of its own.
        index: its index in that data set.
        objects: what annotations mark in it.
        captions: sentences that describe it.
    """

    name: str
    path: Path
    scene: str
    licence: str
    hw: tuple[int, int] = (0, 0)
    digest: str = ""
    reader: str = ""
    index: int = 0
    objects: tuple[KnownObject, ...] = ()
    captions: tuple[str, ...] = ()


def probe(photo: Photo, *, min_side: int) -> Photo | Skipped:
    """Decode a photograph completely; return it with its size and digest, or its path with the reason to skip it."""
    try:
        image = _read(photo)
    except (OSError, ValueError) as error:
        return str(photo.path), str(error)
    height, width = image.shape[:2]
    if min(height, width) < min_side:
        return str(photo.path), f"{width}x{height} pixels (width x height) are fewer than the crop of {min_side}"
    return replace(photo, hw=(height, width), digest=hashlib.sha256(image.tobytes()).hexdigest()[:16])


def sift(probed: Iterable[Photo | Skipped]) -> tuple[list[Photo], list[Skipped]]:
    """Part usable photographs from skipped ones; a second file with the same pixels is skipped, as it would leak."""
    photos: dict[tuple[str, tuple[int, int]], Photo] = {}
    skipped: list[Skipped] = []
    for found in probed:
        if not isinstance(found, Photo):
            skipped.append(found)
        elif (first := photos.setdefault((found.digest, found.hw), found)) is not found:
            skipped.append((str(found.path), f"same pixels as {first.name}"))
    return list(photos.values()), skipped


def _read(photo: Photo) -> Image:
    return _dataset(photo.reader)[photo.index].image if photo.reader else read_image(photo.path)


@lru_cache(maxsize=1)
def _dataset(source: str) -> Dataset:
    return open_dataset(source)


@lru_cache(maxsize=CACHED)
def _decoded(path: Path, reader: str, index: int) -> Image:
    image = _read(Photo("", path, "", "", reader=reader, index=index))
    image.setflags(write=False)
    return image


def load(photo: Photo) -> Image:
    """Return the photograph's pixels, read-only: uint8 RGB HxWx3. A few are kept in memory; see `forget`."""
    return _decoded(photo.path, photo.reader, photo.index)


def forget() -> None:
    """Free the decoded photographs and the open data set of this process."""
    _decoded.cache_clear()
    _dataset.cache_clear()
