"""What an edit really changed, whether that counts as an edit, and a summary over many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forensegm.edits.editors.base import Region
from forensegm.sample import Image

# Below these an edit left nothing to be seen or found: a label on it would be noise. They are deliberately low, so that
# weak edits stay in: half a grey level is the least that rounding to 8 bits can show on average.
MIN_SHARE_CHANGED = 0.05
MIN_MEAN_CHANGE = 0.5


@dataclass(frozen=True, eq=False)
class Change:
    """How an image differs from the one before it.

    Attributes:
        changed: bool HxW, pixels of which any channel differs.
        share_inside: share of the region's pixels that changed, 0..1.
        share_outside: share of the other pixels that changed, 0..1; 0 where there are none.
        mean_inside: mean absolute change in grey levels over the region's pixels and channels.
        mean_outside: the same over the other pixels; 0 where there are none.
    """

    changed: Region
    share_inside: float
    share_outside: float
    mean_inside: float
    mean_outside: float

    @property
    def did_something(self) -> bool:
        """Whether enough changed inside the region for the turn to count as an edit."""
        return self.share_inside >= MIN_SHARE_CHANGED and self.mean_inside >= MIN_MEAN_CHANGE


def measure_change(before: Image, after: Image, region: Region) -> Change:
    """Compare two images of one size (uint8 RGB) inside and outside `region` (bool HxW, not empty)."""
    difference = np.abs(after.astype(np.int16) - before).mean(axis=2)
    changed = difference > 0

    def mean(values: np.ndarray[Any, Any]) -> float:
        return float(values.mean()) if values.size else 0.0

    return Change(
        changed,
        mean(changed[region]),
        mean(changed[~region]),
        mean(difference[region]),
        mean(difference[~region]),
    )


@dataclass(frozen=True)
class Outcome:
    """How one planned turn ended.

    Attributes:
        editor: who was to edit.
        accepted: whether the turn is in the data set; False = dropped after every try.
        tries: tries made, at least 1.
        mean_inside: mean absolute change of the last try, in grey levels.
    """

    editor: str
    accepted: bool
    tries: int
    mean_inside: float


def summarize(outcomes: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Counts by editor (plain numbers): turns accepted, tries repeated, turns dropped, mean change of the accepted."""
    listed = list(outcomes)
    summary: dict[str, dict[str, float]] = {}
    for editor in sorted({outcome.editor for outcome in listed}):
        own = [outcome for outcome in listed if outcome.editor == editor]
        changes = [outcome.mean_inside for outcome in own if outcome.accepted]
        summary[editor] = {
            "accepted": len(changes),
            "retries": sum(outcome.tries - 1 for outcome in own),
            "dropped": len(own) - len(changes),
            "mean_change_inside": round(float(np.mean(changes)), 3) if changes else 0.0,
        }
    return summary
