"""Find what is wrong with a data set before it is trained on: broken items, and what spoils an experiment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from forensegm.datasets.confounds import find_confounds
from forensegm.datasets.hashing import MAX_DISTANCE, near_duplicates
from forensegm.datasets.pairing import listed
from forensegm.datasets.protocol import Dataset
from forensegm.datasets.scan import ItemFacts, Progress, scan

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        severity: error (items are lost, or scores are wrong) or warning (look at it).
        kind: unreadable, group across splits, same image, near duplicate, confound, empty, unseen editor.
        where: the item, or the items, editor or property.
        what: what is wrong.
        mend: what to do about it.
    """

    severity: Severity
    kind: str
    where: str
    what: str
    mend: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


def validate(
    dataset: Dataset, *, workers: int = 0, max_distance: int = MAX_DISTANCE, progress: Progress | None = None
) -> list[Problem]:
    """Decode every item and return everything that is wrong, errors first.

    Args:
        dataset: all of its splits, so that they can be compared.
        workers: processes that decode; 0 = decode in this one.
        max_distance: bits in which the perceptual hashes of near-duplicates differ at most.
        progress: called as progress("scan", done, total, id).
    """
    return find_problems(scan(dataset, workers=workers, progress=progress), dataset, max_distance=max_distance)


def find_problems(facts: Sequence[ItemFacts], dataset: Dataset, *, max_distance: int = MAX_DISTANCE) -> list[Problem]:
    """Return what is wrong with a data set whose items have been scanned; errors first, else in a fixed order."""
    readable = [item for item in facts if not item.error]
    problems = [
        *unreadable(facts),
        *empty(readable, dataset),
        *groups_across_splits(facts),
        *duplicates(readable, max_distance=max_distance),
        *unseen_editors(readable, dataset),
        *confounded(readable, dataset),
    ]
    return sorted(problems, key=lambda problem: problem.severity != "error")


def unreadable(facts: Sequence[ItemFacts]) -> list[Problem]:
    """Items that cannot be read."""
    mend = "Restore or mend the file, or take the item out."
    return [Problem("error", "unreadable", item.id, item.error, mend) for item in facts if item.error]


def empty(facts: Sequence[ItemFacts], dataset: Dataset) -> list[Problem]:
    """A data set in which nothing, or everything, is edited; editors without a pixel."""
    problems = []
    fakes = [item for item in facts if item.label is not None and item.label.fake]
    if facts and not fakes:
        mend = "See what mask values were declared: a wrong one reads every mask as authentic."
        problems.append(Problem("error", "empty", dataset.name, "no pixel of any mask is edited", mend))
    seen = {value for item in facts for value in item.areas}
    for number, name in enumerate(dataset.labels.editors, start=1):
        if fakes and number not in seen:
            mend = "Leave it out of the labels, or see whether the masks hold the ids that were declared."
            problems.append(Problem("warning", "empty", name, "this editor has no pixel in any mask", mend))
    return problems


def groups_across_splits(facts: Sequence[ItemFacts]) -> list[Problem]:
    """Base photographs with images in several splits."""
    splits: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for item in facts:
        if item.split:
            splits[item.group][item.split].append(item.id)
    mend = "Split by group: forensegm data split."
    return [
        Problem(
            "error",
            "group across splits",
            group,
            f"images of one photograph in {_shown(by_split)}",
            mend,
        )
        for group, by_split in splits.items()
        if len(by_split) > 1
    ]


def duplicates(facts: Sequence[ItemFacts], *, max_distance: int = MAX_DISTANCE) -> list[Problem]:
    """Images of the same pixels, and near-duplicates of different groups across splits."""
    same: dict[str, list[ItemFacts]] = defaultdict(list)
    for item in facts:
        same[item.digest].append(item)
    problems = []
    for items in same.values():
        if len(items) > 1:
            across = len({item.split for item in items}) > 1
            disagree = len({tuple(sorted(item.areas.items())) for item in items}) > 1
            what = (
                "equal pixels" + (" in several splits" if across else "") + (", masks that differ" if disagree else "")
            )
            severity: Severity = "error" if across or disagree else "warning"
            where = listed([item.id for item in items])
            problems.append(Problem(severity, "same image", where, what, "Keep one of them, with the right mask."))
    for cluster in near_duplicates([item.hash for item in facts], max_distance=max_distance):
        items = [facts[place] for place in cluster]
        by_split: dict[str, list[str]] = defaultdict(list)
        for item in items:
            by_split[item.split].append(item.id)
        if len(by_split) > 1 and len({item.group for item in items}) > 1 and len({item.digest for item in items}) > 1:
            problems.append(
                Problem(
                    "warning",
                    "near duplicate",
                    listed([item.id for item in items]),
                    f"look alike, in {_shown(by_split)}",
                    "If they show one photograph, give them one group and split by group: forensegm data split.",
                )
            )
    return problems


def unseen_editors(facts: Sequence[ItemFacts], dataset: Dataset) -> list[Problem]:
    """Editors of other splits that the training split does not hold."""
    by_split: dict[str, set[int]] = defaultdict(set)
    for item in facts:
        by_split[item.split] |= {value for value in item.areas if 0 < value <= len(dataset.labels.editors)}
    if "train" not in by_split:
        return []
    return [
        Problem(
            "warning",
            "unseen editor",
            dataset.labels.name_of(value),
            f"in split {split}, but not in train",
            "Nothing is wrong where this is meant (leave-one-editor-out); its identity cannot be learnt.",
        )
        for split, values in sorted(by_split.items())
        if split not in ("train", "")
        for value in sorted(values - by_split["train"])
    ]


def confounded(facts: Sequence[ItemFacts], dataset: Dataset) -> list[Problem]:
    """Properties of the files that tell the class."""
    problems = []
    for confound in find_confounds(facts, dataset.labels):
        rows = [
            f"{value}: {', '.join(f'{count} {name}' for name, count in counts.items() if count)}"
            for value, counts in confound.examples.items()
        ]
        problems.append(
            Problem(
                "error",
                "confound",
                confound.by,
                f"tells {confound.target} without a look at the picture: balanced accuracy "
                f"{confound.balanced_accuracy:.2f} (chance {confound.chance:.2f}, p {confound.p_value:.3f}); "
                f"{'; '.join(rows)}",
                "Save all images through one encoder at sizes that all classes share: a network learns this first.",
            )
        )
    return problems


def _shown(by_split: dict[str, list[str]]) -> str:
    """How many images each split has, and the first of them."""
    return ", ".join(f"{split or 'no split'} ({len(ids)}: {ids[0]})" for split, ids in sorted(by_split.items()))
