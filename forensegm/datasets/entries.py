"""The one indexed data set behind most readers: a list of entries, what their masks mean, and where their files lie.

A reader's own work is to make the list. Reading, errors, label spaces and pickling to loader workers are here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from forensegm.datasets.storage import Storage
from forensegm.imageio import MaskSpec, read_image_and_info, read_mask
from forensegm.lookup import unknown_name
from forensegm.sample import Image, LabelSpace, Mask, Sample

__all__ = ["Entry", "EntryDataset", "read_json_object", "select_split"]


@dataclass(frozen=True)
class Entry:
    """One image of a data set and what is known about it, before any file is read.

    Attributes:
        id: unique in the data set.
        image: name of its file in the storage.
        mask: name of its mask file; None = the whole image is of one class, `whole`.
        whole: for an image without a mask file: 0 = declared authentic, 1..K = every pixel is that editor's.
        editor: id that the edited pixels of its binary mask get; None = as the data set's mask declaration says.
        group: the base photograph, where it is known; empty = its own.
        split: name of its split; empty = none.
        meta: whatever else is known: plain JSON types.
        turns: name of its turn map; None = there is none.
        record: name of a JSON file with more meta; None = there is none.
    """

    id: str
    image: str
    mask: str | None = None
    whole: int = 0
    editor: int | None = None
    group: str = ""
    split: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    turns: str | None = None
    record: str | None = None


class EntryDataset:
    """Entries whose files are read one by one from a storage.

    Args:
        name: for reports.
        entries: what there is, in order.
        labels: the label space of the masks.
        spec: what the values of mask files mean.
        storage: where the files are.

    Attributes:
        entries: as given.
        name: likewise.
        labels: likewise.
        spec: likewise.
        storage: likewise.
        ids: of the entries.
        groups: of the entries; its id where an entry names none.
        splits: of the entries.

    Raises:
        ValueError: an id used twice, or an editor outside the label space.
    """

    def __init__(
        self, name: str, entries: Sequence[Entry], *, labels: LabelSpace, spec: MaskSpec, storage: Storage
    ) -> None:
        """Keep the entries; no file is read."""
        self.name, self.entries, self.labels, self.spec, self.storage = name, list(entries), labels, spec, storage
        self.ids = [entry.id for entry in self.entries]
        self.groups = [entry.group or entry.id for entry in self.entries]
        self.splits = [entry.split for entry in self.entries]
        _check(self.entries, labels, name)

    def __len__(self) -> int:
        """Return the number of entries, unreadable ones included."""
        return len(self.entries)

    def __getitem__(self, index: int) -> Sample:
        """Read one item; raises ValueError or FileNotFoundError naming the file that is broken or missing."""
        entry = self.entries[index]
        image, codec = self._image(entry)
        hw = (image.shape[0], image.shape[1])
        record = read_json_object(self.storage, entry.record) if entry.record is not None else {}
        meta = {**record, **entry.meta, "codec": codec}
        return Sample(entry.id, image, self.read_mask(entry, hw), entry.group, self._turn_map(entry, hw), meta)

    def encoded_image(self, index: int) -> bytes:
        """Return the bytes of an item's image file, as they are; raises as indexing does."""
        return self.storage.read(self.entries[index].image)

    def read_mask(self, entry: Entry, image_hw: tuple[int, int]) -> Mask:
        """Read the mask of an entry, of the size of its image (height, width); raises as indexing does."""
        if entry.mask is None:
            return np.full(image_hw, entry.whole, dtype=np.uint8)
        spec = self.spec if entry.editor is None else replace(self.spec, editor=entry.editor)
        return read_mask(self.storage.read(entry.mask), spec, image_hw=image_hw, name=self.storage.label(entry.mask))

    def _turn_map(self, entry: Entry, image_hw: tuple[int, int]) -> Mask | None:
        if entry.turns is None:
            return None
        spec = MaskSpec("ids")
        return read_mask(self.storage.read(entry.turns), spec, image_hw=image_hw, name=self.storage.label(entry.turns))

    def _image(self, entry: Entry) -> tuple[Image, dict[str, Any]]:
        data, name = self.storage.read(entry.image), self.storage.label(entry.image)
        image, info = read_image_and_info(data, name=name)
        return image, {key: value for key, value in asdict(info).items() if key != "hw"}


def read_json_object(storage: Storage, name: str) -> dict[str, Any]:
    """Read a JSON file of a storage that holds one object; raises ValueError naming it."""
    try:
        values = json.loads(storage.read(name))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Expected JSON in '{storage.label(name)}', got: {' '.join(str(error).split())}.") from error
    if not isinstance(values, dict):
        raise ValueError(f"Expected an object in '{storage.label(name)}', got {type(values).__name__}.")
    return values


def select_split(entries: Sequence[Entry], split: str | None, *, where: str) -> list[Entry]:
    """Return the entries of one split (None = all); raises ValueError, naming the splits there are, for another."""
    if split is None:
        return list(entries)
    known = {entry.split for entry in entries if entry.split}
    if split not in known:
        raise unknown_name(split, known or {"(none: it names no splits)"}, what=f"split of {where}")
    return [entry for entry in entries if entry.split == split]


def _check(entries: Sequence[Entry], labels: LabelSpace, name: str) -> None:
    seen: set[str] = set()
    for entry in entries:
        if entry.id in seen:
            raise ValueError(f"Expected each id of {name} once, got '{entry.id}' more than once. Rename one of them.")
        seen.add(entry.id)
        for value in (entry.whole, entry.editor or 0):
            if not 0 <= value < labels.num_classes:
                raise ValueError(
                    f"Expected '{entry.id}' of {name} to be of the classes 0..{labels.num_classes - 1}, got {value}."
                )
