"""Decode a whole data set once, in parallel, and note what is to be known about each item."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from forensegm.datasets.hashing import image_hash
from forensegm.datasets.protocol import Dataset
from forensegm.datasets.sampler import Index
from forensegm.datasets.torch_dataset import IDLE, TorchDataset, make_loader
from forensegm.sample import AUTHENTIC, IGNORE, ImageLabel, Sample, class_areas, image_label

HEAT_SIDE = 32

Progress = Callable[[str, int, int, str], None]


@dataclass(frozen=True)
class ItemFacts:
    """What one item holds, or what is wrong with it.

    Attributes:
        id: of the item.
        index: its number in the data set.
        group: its base photograph.
        split: its split; empty = none.
        error: why it cannot be read; empty = it can, and only then the rest is known.
        hw: height and width.
        codec: true codec, quality and subsampling of the image file, as far as they are known.
        areas: pixels by mask value.
        label: the image-level label that the mask implies.
        edits: editor names of its turns, in order, where the data set knows them.
        turns: the last turn in its turn map, or the number of its edits; None where neither is known.
        hash: perceptual hash of the image.
        digest: equal for images of equal pixels.
        heat: float32 32x32, share of edited pixels in each cell of the image.
    """

    id: str
    index: int
    group: str
    split: str
    error: str = ""
    hw: tuple[int, int] = (0, 0)
    codec: dict[str, Any] = field(default_factory=dict)
    areas: dict[int, int] = field(default_factory=dict)
    label: ImageLabel | None = None
    edits: tuple[str, ...] = ()
    turns: int | None = None
    hash: int = 0
    digest: str = ""
    heat: NDArray[np.float32] | None = None


def scan(
    dataset: Dataset, *, workers: int = 0, batch_size: int = 4, progress: Progress | None = None
) -> list[ItemFacts]:
    """Read every item and return its facts, in order.

    Args:
        dataset: what to read.
        workers: processes that read; 0 = read in this one.
        batch_size: items that a worker hands over at once.
        progress: called as progress("scan", done, total, id).

    Raises:
        RuntimeError: a worker died; the error names the item that it was at.
    """
    loader = make_loader(_Items(dataset), batch_size=batch_size, workers=workers, collate_fn=list, sampler=None)
    found: list[ItemFacts] = []
    batches: Any = loader
    for batch in batches:
        found.extend(batch)
        if progress is not None:
            progress("scan", len(found), len(dataset), found[-1].id)
    return found


class _Items(TorchDataset):
    """The data set as a loader takes it: an index gives facts instead of tensors."""

    def __getitem__(self, index: int | Index) -> Any:
        number = index[1] if isinstance(index, tuple) else index
        self._note(number)
        splits = getattr(self.dataset, "splits", None)
        split = splits[number] if splits else ""
        facts = item_facts(self._read(number), self.dataset, number, split=split)
        self._note(IDLE)
        return facts


def item_facts(sample: Sample | str, dataset: Dataset, index: int, *, split: str = "") -> ItemFacts:
    """Return the facts of a sample, or of what is wrong with it (a text)."""
    known: dict[str, Any] = {
        "id": dataset.ids[index],
        "index": index,
        "group": dataset.groups[index],
        "split": split,
    }
    if isinstance(sample, str):
        return ItemFacts(**known, error=sample)
    areas = class_areas(sample.mask)
    edits = tuple(str(edit.get("editor", "")) for edit in _dicts(sample.meta.get("edits")))
    return ItemFacts(
        **known,
        hw=(sample.image.shape[0], sample.image.shape[1]),
        codec=dict(sample.meta.get("codec") or {}),
        areas={int(value): int(areas[value]) for value in np.flatnonzero(areas)},
        label=image_label(sample.mask),
        edits=edits,
        turns=_turns(sample, edits),
        hash=image_hash(sample.image),
        digest=_digest(sample),
        heat=_heat(sample),
    )


def _digest(sample: Sample) -> str:
    shape = b"%dx%d" % sample.image.shape[:2]
    return hashlib.blake2b(np.ascontiguousarray(sample.image).data, digest_size=16, person=shape).hexdigest()


def _dicts(value: Any) -> Sequence[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list | tuple) else []


def _turns(sample: Sample, edits: tuple[str, ...]) -> int | None:
    if sample.turn_map is not None:
        return max(int(sample.turn_map.max()), len(edits))
    return len(edits) if sample.meta.get("edits") is not None else None


def _heat(sample: Sample) -> NDArray[np.float32]:
    edited = ((sample.mask != AUTHENTIC) & (sample.mask != IGNORE)).astype(np.float32)
    heat: NDArray[np.float32] = cv2.resize(edited, (HEAT_SIDE, HEAT_SIDE), interpolation=cv2.INTER_AREA)
    return heat
