"""Pair image files with mask files by key: never by listing order, and never one mask with two images."""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from forensegm.imageio import IMAGE_SUFFIXES

SHOWN = 10  # names in an error that lists files


@dataclass(frozen=True)
class Pair:
    """An image file and its mask file, as posix paths relative to the root; without a mask = declared authentic."""

    image: str
    mask: str | None


def list_files(root: Path, folders: Iterable[str]) -> tuple[dict[str, list[str]], list[str]]:
    """List the files below each of `folders` of `root`, sorted; a file belongs to the deepest folder that holds it.

    Returns:
        Image files by folder, as posix paths relative to `root`, and all files that are no images, by their suffix.

    Raises:
        ValueError: a folder that is not inside `root`.
        FileNotFoundError: a folder is missing.
    """
    owners = {PurePath(name): name for name in folders}
    for path, name in owners.items():
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"Expected a folder inside '{root}', got '{name}'. Name the folder that holds both.")
        if not (root / path).is_dir():
            found = "a file" if (root / path).exists() else "nothing"
            raise FileNotFoundError(f"Expected a folder '{name}' in '{root}', got {found} there. Name it, or make it.")
    paths = {path for name in owners for path in _walk(root, name)}
    images: dict[str, list[str]] = {name: [] for name in owners.values()}
    others = []
    for path in sorted(paths, key=PurePath.as_posix):
        if path.suffix.lower() not in IMAGE_SUFFIXES or path.name.startswith("."):
            others.append(path.as_posix())
            continue
        holders = [owner for owner in owners if path.is_relative_to(owner)]
        images[owners[max(holders, key=lambda owner: len(owner.parts))]].append(path.as_posix())
    return images, others


def _walk(root: Path, folder: PurePath) -> Iterable[PurePath]:
    for place, _, names in os.walk(root / folder, followlinks=True):
        for name in names:
            yield PurePath(place, name).relative_to(root)


def key_of(path: str, folder: str) -> str:
    """Return what pairs a file: its path relative to `folder` less the last suffix, accents composed (Unicode NFC).

    >>> key_of("images/sub/jpg.edit.jpg", "images")
    'sub/jpg.edit'
    """
    relative = PurePath(path).relative_to(folder)
    return unicodedata.normalize("NFC", relative.with_suffix("").as_posix())


def pair_by_key(images: Mapping[str, str], masks: Mapping[str, str], *, root: Path) -> tuple[list[Pair], list[str]]:
    """Pair images with masks of the same key.

    Args:
        images: key of each image path.
        masks: key of each mask path.
        root: what the paths are relative to, for errors.

    Returns:
        A pair for each image, and the masks that belong to none.

    Raises:
        ValueError: images or masks that share a key, or images without a mask; every kind of mistake lists its files.
    """
    images_by_key, masks_by_key = _by_key(images), _by_key(masks)
    problems = [
        f"{listed(group)} share one {what} '{key}'"
        for what, groups in (("key", images_by_key), ("mask key", masks_by_key))
        for key, group in groups.items()
        if len(group) > 1
    ]
    if problems:
        raise ValueError(
            f"Expected one image and one mask of each name in '{root}', got: {listed(problems, '; ')}. "
            "Rename them, or take out the doubles."
        )
    lost = [paths[0] for key, paths in images_by_key.items() if key not in masks_by_key]
    if lost:
        raise ValueError(
            f"Expected a mask for every image in '{root}', got none for {len(lost)}: {listed(lost)}. "
            "Add the masks, or put untouched images into a folder of their own and declare it authentic."
        )
    pairs = [Pair(paths[0], masks_by_key[key][0]) for key, paths in images_by_key.items()]
    return pairs, [paths[0] for key, paths in masks_by_key.items() if key not in images_by_key]


def listed(names: Sequence[str], separator: str = ", ") -> str:
    """Return the first names in a line, and how many more there are."""
    more = f"{separator}and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return separator.join(names[:SHOWN]) + more


def _by_key(keys: Mapping[str, str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for path, key in keys.items():
        groups[key].append(path)
    return groups
