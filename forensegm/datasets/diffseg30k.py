"""Read DiffSeg30k (arXiv 2511.19111) as it was released: its archive in place, unpacked, as Parquet, or from the hub.

Masks hold the ids 0..8: 0 = not edited, 1..8 = eight editing models. Which model an id stands for is not published, so
the ids stay opaque unless you give names. Images have many sizes; empty masks (untouched photographs) and full ones
(generated base images) are ordinary.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from forensegm.datasets.archive import open_storage
from forensegm.datasets.entries import Entry, EntryDataset, select_split
from forensegm.datasets.hub import hub
from forensegm.datasets.mounted import MountedStorage
from forensegm.datasets.pairing import listed
from forensegm.datasets.parquet import list_parquet, parquet
from forensegm.datasets.storage import FolderStorage, Storage
from forensegm.imageio import MaskSpec
from forensegm.sample import LabelSpace

logger = logging.getLogger(__name__)

NAME = "diffseg30k"
HUB_ID = "Chaos2629/Diffseg30k"
HUB_PREFIX = "hub:"
NUM_EDITORS = 8
TRAIN = "train"
MEMBER = re.compile(r"(?P<number>\d+)\.(?P<kind>image|mask)\.png")
# Folders and archives to splits; the released archive unpacks to train_copy/.
SPLIT_NAMES = {
    "train": TRAIN,
    "train_copy": TRAIN,
    "validation": "validation",
    "validation_copy": "validation",
    "val": "validation",
    "val_copy": "validation",
}
SOURCE = {"source": {"name": "DiffSeg30k"}}


def diffseg30k(
    location: str | Path,
    *,
    split: str | None = None,
    labels: LabelSpace | Sequence[str] | None = None,
    streaming: bool = False,
    revision: str | None = None,
) -> Any:
    """Read DiffSeg30k; ids are "train/00000001" in its files, and the running number within the split in Parquet.

    Args:
        location: train.zip, which is read in place; a folder of such archives; the folder they unpack to, with or
            without train_copy/; a Parquet file or a folder of them; or the hub id "Chaos2629/Diffseg30k" (for another
            id with the same columns, "hub:org/name").
        split: train or validation; None = all that is there. train.zip holds only train.
        labels: the names of the eight editors in id order, where you know them; None = editor_1 .. editor_8.
        streaming: from the hub only: samples one after the other, nothing kept (see `StreamDataset`).
        revision: from the hub only: commit, tag or branch.

    Returns:
        An indexed data set, or a `StreamDataset` with streaming.

    Raises:
        FileNotFoundError: there is nothing at the location.
        ValueError: images without a mask or masks without an image (they are listed), no pairs at all, an unknown
            split, or not eight names.
        RuntimeError: the hub cannot be reached, or the extra `hub` is not installed.
    """
    space = label_space(labels)
    identifier = _hub_id(location)
    if identifier is not None:
        options: dict[str, Any] = {"labels": space, "mask_kind": "ids", "streaming": streaming, "revision": revision}
        return hub(identifier, split=split, **options)
    if streaming or revision is not None:
        raise ValueError(
            f"Expected streaming and revision only with a hub id such as {HUB_ID}, got '{location}'. Leave them out."
        )
    path = Path(location).expanduser()
    tables = path.is_dir() and bool(list_parquet(path))
    if tables and any(item.suffix.lower() == ".zip" for item in path.iterdir()):
        raise ValueError(f"Expected one form of the data set in '{path}', got archives and Parquet. Name one of them.")
    if tables or path.suffix.lower() == ".parquet":
        return parquet(path, split=split, labels=space, mask_kind="ids")
    return _pairs(path, split=split, labels=space)


def label_space(labels: LabelSpace | Sequence[str] | None) -> LabelSpace:
    """Return the label space of eight editors; raises ValueError for another number of names."""
    if labels is None:
        return LabelSpace.opaque(NUM_EDITORS)
    if isinstance(labels, str | int):
        raise ValueError(f"Expected labels to be a list of {NUM_EDITORS} editor names, got {labels!r}.")
    space = labels if isinstance(labels, LabelSpace) else LabelSpace(tuple(labels))
    if len(space.editors) != NUM_EDITORS:
        raise ValueError(f"Expected the names of {NUM_EDITORS} editors in id order, got {len(space.editors)}.")
    return space


def _hub_id(location: str | Path) -> str | None:
    """The hub id that a location names, or None for a path. A path that exists is never taken for an id."""
    text = str(location)
    if text.startswith(HUB_PREFIX):
        return text.removeprefix(HUB_PREFIX)
    return HUB_ID if text.lower() == HUB_ID.lower() and not Path(text).exists() else None


def _pairs(path: Path, *, split: str | None, labels: LabelSpace) -> EntryDataset:
    storage = _storage(path)
    entries, odd = find_pairs(storage.names(), root=path)
    if not entries:
        raise ValueError(
            f"Expected pairs such as train_copy/00000001.image.png and .mask.png in '{path}', got none among "
            f"{len(odd)} files. Name train.zip, the folder it unpacks to, or another reader."
        )
    if odd:
        logger.warning("Left out %d files of '%s' that are no part of DiffSeg30k: %s.", len(odd), path, listed(odd))
    entries = select_split(entries, split, where=f"'{path}'")
    return EntryDataset(NAME, entries, labels=labels, spec=MaskSpec("ids", labels.num_classes), storage=storage)


def _storage(path: Path) -> Storage:
    """The archive, the folder, or a folder of archives."""
    if not path.is_dir():
        return open_storage(path)
    named = [item for item in path.iterdir() if item.stem.lower() in SPLIT_NAMES]
    archives = sorted(item for item in named if item.suffix.lower() == ".zip" and item.is_file())
    if not archives or any(item.is_dir() for item in named):
        return FolderStorage(path)
    return MountedStorage(path, {item.name: open_storage(item) for item in archives})


def find_pairs(names: Iterable[str], *, root: Path) -> tuple[list[Entry], list[str]]:
    """Pair the files of a storage by number.

    A pair's split is the first folder of its path, or the archive, whose name says so; train where none does, since
    that is what the released archive holds.

    Returns:
        The pairs, sorted by split and number, and the files that are no part of the data set.

    Raises:
        ValueError: images without a mask, or masks without an image; all are counted and the first ones listed.
    """
    files: dict[str, dict[str, str]] = {"image": {}, "mask": {}}
    odd: list[str] = []
    for name in names:
        match = MEMBER.fullmatch(PurePosixPath(name).name)
        if match is None or "__MACOSX" in name:
            odd.append(name)
        else:
            files[match["kind"]][_key(name)] = name
    images, masks = files["image"], files["mask"]
    _check_whole(images, masks, root)
    entries = []
    for key, image in images.items():
        split = _split_of(key, root)
        entry = Entry(f"{split}/{PurePosixPath(key).name}", image, masks[key], split=split, meta=SOURCE)
        entries.append(entry)
    return sorted(entries, key=lambda entry: entry.id), odd


def _key(name: str) -> str:
    """What an image and its mask have in common: the path less .image.png or .mask.png."""
    return name.rsplit(".", 2)[0]


def _check_whole(images: Mapping[str, str], masks: Mapping[str, str], root: Path) -> None:
    lost = sorted(name for key, name in images.items() if key not in masks)
    orphans = sorted(name for key, name in masks.items() if key not in images)
    problems = [f"{len(lost)} images without a mask ({listed(lost)})"] if lost else []
    problems += [f"{len(orphans)} masks without an image ({listed(orphans)})"] if orphans else []
    if problems:
        raise ValueError(
            f"Expected an image and a mask of every number in '{root}', got {' and '.join(problems)}. "
            "Fetch the archive again, or finish unpacking it."
        )


def _split_of(key: str, root: Path) -> str:
    for part in (*PurePosixPath(key).parts[:-1], root.name):
        name = part.lower().removesuffix(".zip")
        if name in SPLIT_NAMES:
            return SPLIT_NAMES[name]
    return TRAIN
