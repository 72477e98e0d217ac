"""Split a data set anew: by photograph, alike in editors and edited areas, without an editor if asked, reproducibly."""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forensegm.datasets.hashing import MAX_DISTANCE, near_duplicates
from forensegm.datasets.records import read_records, write_records
from forensegm.datasets.scan import ItemFacts
from forensegm.datasets.split import SPLITS, split_counts
from forensegm.datasets.summary import AREA_EDGES
from forensegm.imageio import write_text_atomic
from forensegm.lookup import unknown_name
from forensegm.sample import LabelSpace

HELD_OUT = "held_out"
AUTHENTIC_STRATUM = (0, 0)


@dataclass
class Assignment:
    """A split of a data set.

    Attributes:
        splits: split of each id: train, val, test, or held_out.
        groups: group of each id, as it was kept together.
        grouped_by: "group" (what the data set says) or "near duplicates" (it names no groups).
        skipped: (id, reason) of items that could not be read; they are in no split.
    """

    splits: dict[str, str]
    groups: dict[str, str]
    grouped_by: str
    skipped: list[tuple[str, str]] = field(default_factory=list)


def resplit(
    facts: Sequence[ItemFacts],
    labels: LabelSpace,
    *,
    shares: tuple[float, float, float] = (0.7, 0.1, 0.2),
    seed: int = 0,
    stratify: bool = True,
    leave_out: Sequence[str] = (),
    max_distance: int = MAX_DISTANCE,
) -> Assignment:
    """Assign every image to train, val or test.

    A group (base photograph) is never cut. Where the data set names none, clusters of near-duplicate images are the
    groups. Groups are taken largest first, each to the split that lacks its kind of images most. The result follows
    from ids, groups, images, shares and seed, not from the order of the items.

    Args:
        facts: of the whole data set, see `scan`.
        labels: its label space.
        shares: of train, val and test, 0..1, with a sum of 1.
        seed: another one gives another split.
        stratify: whether splits should be alike in editors and edited areas; otherwise only in size.
        leave_out: editors to keep out of train and val, in whatever turn. Images that hold one stay in test if their
            group is there; otherwise they become "held_out", since their photograph was trained on.
        max_distance: bits in which the hashes of near-duplicates differ at most.

    Raises:
        ValueError: impossible shares, fewer groups than splits, or an unknown editor.
    """
    for name in leave_out:
        if name not in labels.editors:
            raise unknown_name(name, labels.editors, what="editor to leave out")
    if len(shares) != len(SPLITS) or min(shares) < 0 or abs(sum(shares) - 1) > 1e-6:
        raise ValueError(f"Expected shares for train, val and test of 0..1 with a sum of 1, got {list(shares)}.")
    readable = [item for item in facts if not item.error]
    groups, grouped_by = _groups(readable, max_distance=max_distance)
    members: dict[str, list[ItemFacts]] = {}
    for item in readable:
        members.setdefault(groups[item.id], []).append(item)
    split_counts(len(members), shares)  # raises where there are fewer groups than splits
    split_of = _assign(members, shares, seed=seed, stratify=stratify)
    unwanted = {labels.id_of(name): name for name in leave_out}
    splits = {}
    for item in readable:
        split = split_of[groups[item.id]]
        holds = any(value in item.areas or name in item.edits for value, name in unwanted.items())
        splits[item.id] = HELD_OUT if holds and split != "test" else split
    return Assignment(splits, groups, grouped_by, [(item.id, item.error) for item in facts if item.error])


def stratum(item: ItemFacts) -> tuple[int, int]:
    """The kind of an image: its dominant editor and the bin of its edited share; (0, 0) without edits."""
    if item.label is None or not item.label.edited_share or item.label.dominant is None:
        return AUTHENTIC_STRATUM
    return item.label.dominant, int(np.searchsorted(AREA_EDGES, item.label.edited_share, side="left")) + 1


def _groups(facts: Sequence[ItemFacts], *, max_distance: int) -> tuple[dict[str, str], str]:
    if any(item.group != item.id for item in facts):
        return {item.id: item.group for item in facts}, "group"
    groups = {item.id: item.id for item in facts}
    same: dict[str, list[str]] = {}
    for item in facts:  # equal pixels are near whatever their hash says
        same.setdefault(item.digest, []).append(item.id)
    for cluster in near_duplicates([item.hash for item in facts], max_distance=max_distance):
        first = min(facts[place].id for place in cluster)
        groups.update({facts[place].id: first for place in cluster})
    for ids in same.values():
        first = min(groups[name] for name in ids)
        groups.update(dict.fromkeys(ids, first))
    return groups, "near duplicates"


def _assign(
    members: Mapping[str, Sequence[ItemFacts]], shares: Sequence[float], *, seed: int, stratify: bool
) -> dict[str, str]:
    """The split of each group."""
    counts = {name: Counter(stratum(item) if stratify else (0, 0) for item in items) for name, items in members.items()}
    kinds = sorted({kind for counted in counts.values() for kind in counted})
    vectors = {name: np.array([float(counted[kind]) for kind in kinds]) for name, counted in counts.items()}
    total: NDArray[np.float64] = np.sum(list(vectors.values()), axis=0)
    wanted = np.outer(shares, total)
    present = np.zeros_like(wanted)
    # What a group does to the squared errors, relative to how many images of a kind there are; the size counts as one
    # kind more, so that rare kinds do not decide alone.
    order = sorted(vectors, key=lambda name: (-vectors[name].sum(), _draw(seed, name)))
    chosen: dict[str, int] = {}
    open_splits = [number for number, share in enumerate(shares) if share > 0]
    for place, name in enumerate(order):
        vector = vectors[name]
        lacking = [number for number in open_splits if number not in chosen.values()]
        candidates = lacking if len(order) - place <= len(lacking) else open_splits
        change = [
            (vector * (vector + 2 * (present[number] - wanted[number])) / total).sum()
            + vector.sum() * (vector.sum() + 2 * (present[number].sum() - wanted[number].sum())) / total.sum()
            for number in candidates
        ]
        chosen[name] = candidates[int(np.argmin(change))]
        present[chosen[name]] += vector
    return {name: SPLITS[number] for name, number in chosen.items()}


def _draw(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}/{name}".encode()).digest()


def write_splits(path: str | Path, assignment: Assignment) -> None:
    """Write id, group and split of every image as CSV, sorted by id."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["id", "group", "split"])
    for name in sorted(assignment.splits):
        writer.writerow([name, assignment.groups[name], assignment.splits[name]])
    write_text_atomic(path, buffer.getvalue())


def apply_to_native(root: str | Path, assignment: Assignment) -> None:
    """Write groups and splits into the records of a native data set, whole or not at all.

    Raises:
        ValueError: records that the assignment does not name.
    """
    records = read_records(root)
    lost = [record.id for record in records if record.id not in assignment.splits]
    if lost:
        raise ValueError(
            f"Expected a split for every record of '{root}', got none for {len(lost)}: {', '.join(lost[:5])}. Mend or "
            "take out what cannot be read first (forensegm data validate)."
        )
    for record in records:
        record.split, record.group = assignment.splits[record.id], assignment.groups[record.id]
    write_records(root, records)
