"""What the report page says, as plain values for the templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forensegm.reports.curves import flatten
from forensegm.reports.numbers import format_value, is_number, pick
from forensegm.reports.scores import BY_KEY, CARDS, Finding, Metrics, finding, words
from forensegm.reports.tables import Cell, Section, Table

COUNTS = {
    "images": "images",
    "edited": "edited images",
    "authentic": "authentic images",
    "partial": "edited in part",
    "full": "edited everywhere",
    "empty": "edited nowhere",
    "photographs": "photographs",
    "groups": "photographs, one per scene",
    "turns": "edit turns",
    "dropped_turns": "edit turns dropped",
    "editors": "images by editor",
    "splits": "images by split",
}
ALIASES = {"scenes": "groups"}  # the builder's word; its groups are scenes
MOST_SKIPPED = 20


@dataclass
class Footnotes:
    """Numbers the reasons of undefined values in the order in which the page needs them."""

    reasons: list[str] = field(default_factory=list)

    def number(self, reason: str) -> int:
        """Return the number of a reason, from 1; the same reason keeps its number."""
        if reason not in self.reasons:
            self.reasons.append(reason)
        return self.reasons.index(reason) + 1


@dataclass(frozen=True)
class Card:
    """A headline score: the finding, and where value, interval and baseline lie on a bar of 0..100 %."""

    finding: Finding
    at: float | None
    start: float
    length: float
    baseline_at: float | None

    @property
    def verdict(self) -> str:
        """How the interval and the best trivial baseline lie to each other."""
        better = self.finding.beats_baselines
        if better is None or not self.finding.score.higher_is_better:
            return ""
        return "the whole interval lies above it" if better else "the interval reaches down to it"


def cards(metrics: Metrics) -> list[Card]:
    """The headline scores."""
    return [card(finding(metrics, BY_KEY[key])) for key in CARDS]


def card(one: Finding) -> Card:
    """Place a finding on its bar."""
    low, high = _percent(one.low), _percent(one.high)
    length = 0.0 if low is None or high is None else round(high - low, 2)
    return Card(one, _percent(one.value), low or 0.0, length, _percent(one.baseline_value))


def _percent(value: Any) -> float | None:
    return round(min(max(float(value), 0.0), 1.0) * 100, 2) if is_number(value) else None


def judged(metrics: Metrics) -> Mapping[str, Any]:
    """Counts of the images that were judged; `data` may describe the whole data set instead."""
    return metrics.get("evaluated") or metrics.get("data") or {}


def summary(metrics: Metrics) -> list[str]:
    """Sentences that say what was judged, and how maps were cut and pooled."""
    counts, sentences = judged(metrics), []
    if counts.get("images") is not None:
        groups = counts.get("groups", counts.get("photographs"))
        source = f" of {_count(groups, 'photograph')}" if groups is not None else ""
        known = [(counts.get(key), words(key)) for key in ("edited", "authentic")]
        parts = ", ".join(f"{format_value(value)} {name}" for value, name in known if value is not None)
        sentences.append(f"Judged on {_count(counts['images'], 'image')}{source}{f' ({parts})' if parts else ''}.")
    chain = metrics.get("chain")
    if chain and chain != "identity":
        sentences.append(f"Every image went through {chain} first.")
    thresholds = metrics.get("thresholds") or {}
    pooling = pick(metrics, "image.pooling") or thresholds.get("pooling")
    image = pick(metrics, "image.threshold")
    image = thresholds.get("image") if image is None else image
    if thresholds.get("pixel") is not None:
        sentences.append(f"A pixel counts as edited from a probability of {format_value(thresholds['pixel'])}.")
    if image is not None:
        how = f" (pooling: {pooling})" if pooling else ""
        sentences.append(f"An image counts as fake from a score of {format_value(image)}{how}.")
    if thresholds.get("source"):
        sentences.append(f"Thresholds come from {thresholds['source']}.")
    return sentences


def _count(number: Any, noun: str) -> str:
    return f"{format_value(number)} {noun}{'' if number == 1 else 's'}"


def limits(metrics: Metrics) -> list[str]:
    """What the numbers do not say, in plain words."""
    groups = judged(metrics).get("groups")
    few = f" Here there are {groups}: read every interval as a rough one." if is_number(groups) and groups < 20 else ""
    return [
        "The scores hold for these editors, these photographs and this encoding. Other editors, cameras, sizes or "
        "compressions can give other scores, usually lower ones.",
        f"Intervals cover the choice of photographs only, not the training seed and not another data set.{few}",
        "Edited probabilities and image scores are not calibrated: a score of 0.8 is no 80\u00a0% chance.",
        "A map marks where traces of an edit were recognized. It does not say what was changed, why, or by whom; and "
        "an unmarked image is not thereby shown to be authentic.",
        "Editor names are a choice among the editors of the training data: an unknown editor gets one of their names.",
        "No single verdict is evidence by itself. Let a person look at the map and at the image's origin.",
    ]


def counts_table(metrics: Metrics) -> Table | None:
    """Counts of the whole data set and of the judged images; None without counts."""
    data = metrics.get("data") or {}
    found = {
        "judged here": metrics.get("evaluated") or data,
        "whole data set": data if metrics.get("evaluated") else {},
    }
    columns = [
        (name, {ALIASES.get(key, key): value for key, value in counts.items()})
        for name, counts in found.items()
        if counts
    ]
    if not columns:
        return None
    keys = list(dict.fromkeys(key for _, counts in columns for key in counts))
    keys.sort(key=lambda key: list(COUNTS).index(key) if key in COUNTS else len(COUNTS))
    single, nested = [], []
    for key in keys:
        values = [counts.get(key) for _, counts in columns]
        if not any(isinstance(value, Mapping) for value in values):
            single.append([Cell(COUNTS.get(key, words(key))), *(_count_cell(value) for value in values)])
            continue
        parts = [value if isinstance(value, Mapping) else {} for value in values]
        names = list(dict.fromkeys(name for part in parts for name in part))
        rows = [[Cell(str(name)), *(_count_cell(part.get(name)) for part in parts)] for name in names]
        nested.append(Section(COUNTS.get(key, words(key)), rows))
    return Table("Data", ["count", *(name for name, _ in columns)], [Section("", single), *nested])


def _count_cell(value: Any) -> Cell:
    return Cell("" if value is None else format_value(value))


def environment_rows(environment: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Versions and settings as pairs of texts; nested ones with dotted names."""
    return [
        (key, ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else format_value(value))
        for key, value in flatten(environment).items()
    ]


def skipped_items(metrics: Metrics) -> tuple[list[tuple[str, str]], int]:
    """The first unreadable items with their reasons, and how many more there are."""
    items = [(str(item.get("id", "")), str(item.get("reason", ""))) for item in metrics.get("skipped") or []]
    return items[:MOST_SKIPPED], max(0, len(items) - MOST_SKIPPED)


def caption_rows(caption: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """An example's caption as pairs of texts."""
    return [(words(str(key)), format_value(value)) for key, value in caption.items()]
