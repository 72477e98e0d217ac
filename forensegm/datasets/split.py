"""Split groups (base photographs), never images, so that no photograph is on two sides of a split."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

SPLITS = ("train", "val", "test")


def assign_groups(groups: Sequence[str], shares: tuple[float, float, float], *, seed: int) -> dict[str, str]:
    """Assign every group to train, val or test.

    The result depends on the names, the shares and the seed alone, not on order or repetition. Counts are the shares
    rounded by largest remainder, and at least one group goes to each split whose share is not 0.

    Args:
        groups: names of the groups; repeated names are one group.
        shares: share of the groups for train, val and test, 0..1, with a sum of 1.
        seed: another seed gives another assignment.

    Raises:
        ValueError: impossible shares, or fewer groups than splits to fill.

    >>> sorted(assign_groups(["a", "b", "c"], (0.6, 0.2, 0.2), seed=0).values())
    ['test', 'train', 'val']
    """
    if (
        len(shares) != len(SPLITS)
        or any(share < 0 for share in shares)
        or not math.isclose(sum(shares), 1, abs_tol=1e-6)
    ):
        raise ValueError(f"Expected shares for train, val and test of 0..1 with a sum of 1, got {list(shares)}.")
    names = sorted(set(groups), key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).digest())
    counts = split_counts(len(names), shares)
    targets = [split for split, count in zip(SPLITS, counts, strict=True) for _ in range(count)]
    return dict(sorted(zip(names, targets, strict=True)))


def split_counts(total: int, shares: Sequence[float]) -> list[int]:
    """Return how many of `total` each share gets: one where it is not 0, the rest by largest remainder.

    >>> split_counts(10, (0.55, 0.15, 0.3))
    [6, 1, 3]
    """
    needed = sum(share > 0 for share in shares)
    if total < needed:
        raise ValueError(
            f"Expected at least {needed} groups, one for each split to fill, got {total}. Add photographs."
        )
    counts = [max(int(share > 0), math.floor(share * total)) for share in shares]
    while sum(counts) > total:
        counts[counts.index(max(counts))] -= 1
    while sum(counts) < total:
        lacking = [share * total - count for share, count in zip(shares, counts, strict=True)]
        counts[lacking.index(max(lacking))] += 1
    return counts
