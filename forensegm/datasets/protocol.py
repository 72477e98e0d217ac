"""What every reader yields."""

from __future__ import annotations

from typing import Protocol

from forensegm.sample import LabelSpace, Sample


class Dataset(Protocol):
    """An indexed set of samples.

    Indexing raises ValueError or OSError, naming the file, for an item that cannot be read; the others stay readable.

    Attributes:
        name: for reports.
        labels: the label space of the masks.
        ids: unique id of each item.
        groups: base photograph of each item; splits and bootstraps never cut a group.
        splits: split of each item; empty where the data set names none.
    """

    name: str
    labels: LabelSpace
    ids: list[str]
    groups: list[str]
    splits: list[str]

    def __len__(self) -> int:
        """Return the number of items, unreadable ones included."""
        ...

    def __getitem__(self, index: int) -> Sample:
        """Read one item."""
        ...
