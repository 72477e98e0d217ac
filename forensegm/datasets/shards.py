"""Read WebDataset shards: tar files whose members of one key are one sample.

The headers of every shard are read once, and samples are read where they lie. So shards are a data set like any
other: the usual samplers shuffle them, split them over ranks and workers, give every rank the same number of steps, and
show an evaluation each sample once, with however few shards.
"""

from __future__ import annotations

import glob
import itertools
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from forensegm.datasets.declare import declare
from forensegm.datasets.entries import Entry, EntryDataset, read_json_object, select_split
from forensegm.datasets.fetch import fetch, is_url
from forensegm.datasets.mounted import MountedStorage
from forensegm.datasets.pairing import listed
from forensegm.datasets.records import DATASET_FILE, read_dataset_yaml
from forensegm.datasets.split_names import split_of_part
from forensegm.datasets.tar_storage import TarStorage
from forensegm.imageio import IMAGE_SUFFIXES, MaskKind, Mismatch
from forensegm.sample import IGNORE, LabelSpace

logger = logging.getLogger(__name__)

SUFFIX = ".tar"
BRACES = re.compile(r"\{([^{}]*)\}")
RANGE = re.compile(r"(\d+)\.\.(\d+)")
MOST_SHARDS = 100_000
IMAGES = tuple(suffix.removeprefix(".") for suffix in sorted(IMAGE_SUFFIXES))


def shards(
    location: str | Path,
    *,
    split: str | None = None,
    image: str | Sequence[str] = IMAGES,
    mask: str = "mask.png",
    turns: str = "turns.png",
    record: str = "json",
    authentic: bool = False,
    cache: str | Path | None = None,
    mask_kind: MaskKind = "ids",
    labels: LabelSpace | Sequence[str] | int | None = None,
    editor: str | None = None,
    ignore: int | None = None,
    on_mismatch: Mismatch = "error",
    mask_values: Mapping[Any, Any] | None = None,
    mask_threshold: int | None = None,
) -> EntryDataset:
    """Samples of WebDataset tar files, local or by URL.

    A sample's members share a key, the path up to the first dot of the file name; what follows says what each is.
    Shards named SPLIT-000000.tar name their split where no record does. Shards by URL are fetched once into a cache.

    Args:
        location: a folder of shards, a shard, a pattern (data/train-*.tar), or a path or URL with braces
            (https://host/train-{000000..000009}.tar).
        split: name of the split to read; None = all.
        image: what an image member is called after the key, or several such names.
        mask: likewise a mask.
        turns: likewise a turn map, where there is one.
        record: likewise a JSON record, where there is one: its id, group and split count, the rest is meta.
        authentic: whether samples without a mask are authentic; otherwise they are an error.
        cache: folder for shards that are fetched; None = the user's cache folder.
        mask_kind: see `declare`, like the options that follow.
        labels: by default those of a dataset.yaml beside the shards.
        editor: see there.
        ignore: see there; by default 255 for ids with a dataset.yaml.
        on_mismatch: see there.
        mask_values: see there.
        mask_threshold: see there.

    Raises:
        FileNotFoundError: there are no shards.
        ValueError: a shard that is not whole or not safe, samples without image or mask, an id used twice, or a wrong
            declaration.
        RuntimeError: a URL cannot be fetched.
    """
    found = expand(str(location))
    paths = [fetch(text, cache=cache) if is_url(text) else Path(text).expanduser() for text in found]
    names = [PurePosixPath(text).name for text in found]
    if len(set(names)) < len(names):
        raise ValueError(f"Expected shards with names of their own at '{location}', got some twice. Rename them.")
    if labels is None and mask_kind == "ids" and (paths[0].parent / DATASET_FILE).is_file():
        labels = read_dataset_yaml(paths[0].parent).labels
        ignore = IGNORE if ignore is None else ignore
    space, spec = declare(
        mask_kind,
        labels,
        editor=editor,
        ignore=ignore,
        on_mismatch=on_mismatch,
        mask_values=mask_values,
        mask_threshold=mask_threshold,
    )
    storage = MountedStorage(paths[0].parent, dict(zip(names, map(TarStorage, paths), strict=True)))
    members = group_members(storage.names())
    kinds = {
        "image": [image] if isinstance(image, str) else list(image),
        "mask": [mask],
        "turns": [turns],
        "record": [record],
    }
    entries = [_entry(key, found, kinds, storage) for key, found in members.items()]
    _check_whole(entries, authentic=authentic, where=str(location))
    entries = select_split(entries, split, where=f"'{location}'")
    return EntryDataset(paths[0].parent.resolve().name, entries, labels=space, spec=spec, storage=storage)


def expand(location: str) -> list[str]:
    """Return the shards that a location names, in order; raises FileNotFoundError where there are none.

    >>> expand("a-{00..02}.{x,y}")
    ['a-00.x', 'a-00.y', 'a-01.x', 'a-01.y', 'a-02.x', 'a-02.y']
    """
    parts = BRACES.split(location)
    if len(parts) > 1:
        choices = [_choices(part) if number % 2 else [part] for number, part in enumerate(parts)]
        return ["".join(choice) for choice in itertools.islice(itertools.product(*choices), MOST_SHARDS)]
    if is_url(location):
        return [location]
    path = Path(location).expanduser()
    if path.is_dir():
        found = sorted(str(item) for item in path.glob(f"*{SUFFIX}") if item.is_file())
    elif any(sign in location for sign in "*?["):
        found = sorted(glob.glob(str(path)))
    else:
        found = [str(path)]
    if not found:
        raise FileNotFoundError(f"Expected shards that end in {SUFFIX} at '{location}', got none. Check the path.")
    return found


def _choices(text: str) -> list[str]:
    match = RANGE.fullmatch(text)
    if match is None:
        return text.split(",")
    first, last = match.groups()
    numbers = range(int(first), min(int(last), int(first) + MOST_SHARDS) + 1)
    return [f"{number:0{len(first)}d}" for number in numbers]


def group_members(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Group members by key: for each, the member's name by what follows the key, in small letters."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        folder, slash, file = name.rpartition("/")
        stem, dot, kind = file.partition(".")
        if stem and dot:
            found.setdefault(f"{folder}{slash}{stem}", {})[kind.lower()] = name
    return found


def _entry(key: str, found: Mapping[str, str], kinds: Mapping[str, Sequence[str]], storage: MountedStorage) -> Entry:
    """One sample; without an image its name is empty, which is an error later."""
    named = {what: next((found[kind] for kind in names if kind in found), None) for what, names in kinds.items()}
    record = read_json_object(storage, named["record"]) if named["record"] else {}
    return Entry(
        str(record.get("id") or key),
        named["image"] or "",
        named["mask"],
        group=str(record.get("group") or ""),
        split=str(record.get("split") or split_of_part(PurePosixPath(key.partition("/")[0]).stem)),
        turns=named["turns"],
        record=named["record"],
    )


def _check_whole(entries: Sequence[Entry], *, authentic: bool, where: str) -> None:
    without = {
        "image": [entry.id for entry in entries if not entry.image],
        "mask": [] if authentic else [entry.id for entry in entries if entry.image and entry.mask is None],
    }
    problems = [f"no {what} in {len(ids)}: {listed(ids)}" for what, ids in without.items() if ids]
    if not entries:
        problems = ["no samples"]
    if problems:
        raise ValueError(
            f"Expected an image and a mask in every sample of '{where}', got {'; '.join(problems)}. Name the members "
            "with image= and mask=, or declare samples without a mask authentic."
        )
