"""How planned turns ended, and a summary over many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """How one planned turn ended.

    Attributes:
        editor: who was to edit.
        accepted: whether the turn is in the data set; False = dropped after every try.
        tries: tries made, at least 1.
        numbers: of the accepted try: mean_inside, mean_outside, ssim_inside, ssim_outside, agreement, quality.
        reasons: why each rejected try was rejected: unchanged, black, blurred, outside, elsewhere, size, quality,
            planner or failed.
        error: what an editor or a planner said when it failed last; empty where none did.
        strip: small JPEG of the turn for the contact sheet, base64; empty where none was kept.
    """

    editor: str
    accepted: bool
    tries: int
    numbers: dict[str, float | None]
    reasons: tuple[str, ...] = ()
    error: str = ""
    strip: str = ""

    @property
    def failed(self) -> bool:
        """Whether the turn was dropped because its editor raised on every try."""
        return not self.accepted and set(self.reasons) == {"failed"}


MEASURED = ("mean_inside", "mean_outside", "ssim_inside", "ssim_outside", "agreement", "quality")


def summarize(outcomes: Iterable[Outcome]) -> dict[str, dict[str, Any]]:
    """Per editor: turns accepted, tries repeated, turns dropped, why tries were rejected, medians of what changed."""
    listed = list(outcomes)
    return {
        name: _summary([one for one in listed if one.editor == name]) for name in sorted({o.editor for o in listed})
    }


def _summary(own: Sequence[Outcome]) -> dict[str, Any]:
    accepted = [one for one in own if one.accepted]
    reasons = Counter(reason for one in own for reason in one.reasons)
    medians = {}
    for name in MEASURED:
        values = [value for one in accepted if (value := one.numbers.get(name)) is not None]
        if values:
            medians[name] = round(float(np.median(values)), 4)
    errors = Counter(one.error for one in own if one.error)
    return {
        "accepted": len(accepted),
        "retries": sum(one.tries - 1 for one in own),
        "dropped": len(own) - len(accepted),
        "rejected_tries": dict(sorted(reasons.items())),
        "median": medians,
        **({"errors": dict(errors.most_common(3))} if errors else {}),
    }
