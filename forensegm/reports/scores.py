"""The scores that reports show: their names in words, and each with its interval and its best trivial baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forensegm.reports.numbers import format_value, has, is_number, pick, reason_for

Metrics = Mapping[str, Any]


@dataclass(frozen=True)
class Score:
    """A score of metrics.json.

    Attributes:
        key: its path in metrics.json.
        label: its name in words.
        group: the heading it stands under.
        about: what it means, in one sentence.
        percent: whether it is shown in percent.
        higher_is_better: false for alarms on authentic images.
    """

    key: str
    label: str
    group: str
    about: str
    percent: bool = False
    higher_is_better: bool = True

    def text(self, value: Any) -> str:
        """Write a value of this score."""
        return format_value(value, percent=self.percent)


POOLED = "Pixels, pooled over images"
PER_IMAGE = "Pixels, mean over images"
EDITORS = "Pixels, by editor"
IMAGE = "Images, real or fake"
IDENTITY = "Editor of the image"
AUTHENTIC = "Authentic images"

SCORES: tuple[Score, ...] = (
    Score(
        "pixel.binary.iou_edited",
        "edited IoU",
        POOLED,
        "Of all pixels that are edited or flagged, the share that is both.",
    ),
    Score("pixel.binary.f1", "F1", POOLED, "Harmonic mean of precision and recall over all pixels."),
    Score("pixel.binary.precision", "precision", POOLED, "Share of the flagged pixels that are edited."),
    Score("pixel.binary.recall", "recall", POOLED, "Share of the edited pixels that are flagged."),
    Score(
        "pixel.binary.auc",
        "AUC",
        POOLED,
        "Chance that a random edited pixel has a higher probability than a random authentic one.",
    ),
    Score("pixel.binary.ap", "average precision", POOLED, "Area under the precision-recall curve of the pixels."),
    Score("pixel.binary.iou_authentic", "authentic IoU", POOLED, "The same IoU for the authentic class."),
    Score("pixel.binary.miou", "mean IoU", POOLED, "Mean of edited and authentic IoU."),
    Score("pixel.binary.mcc", "MCC", POOLED, "Matthews correlation of flagged and edited; 0 is chance."),
    Score("pixel.binary.per_image.f1_mean", "F1", PER_IMAGE, "F1 of each image that has one, averaged."),
    Score("pixel.binary.per_image.iou_mean", "IoU", PER_IMAGE, "Edited IoU of each image that has one, averaged."),
    Score("pixel.editors.miou", "mean IoU", EDITORS, "IoU of each editor's own pixels, averaged over the editors."),
    Score(
        "image.auc", "image AUC", IMAGE, "Chance that a random edited image scores higher than a random authentic one."
    ),
    Score("image.ap", "average precision", IMAGE, "Area under the precision-recall curve of the images."),
    Score("image.accuracy", "accuracy", IMAGE, "Share of the images judged right at the threshold."),
    Score(
        "image.balanced_accuracy",
        "balanced accuracy",
        IMAGE,
        "Mean of the accuracies on edited and on authentic images.",
    ),
    Score("image.f1", "F1", IMAGE, "Harmonic mean of precision and recall over images, fake as the positive class."),
    Score(
        "editor_identity.top1",
        "editor identity",
        IDENTITY,
        "Share of the truly edited images whose dominant editor is named right.",
    ),
    Score("editor_identity.macro_f1", "macro F1", IDENTITY, "F1 of each editor, averaged over the editors."),
    Score(
        "authentic.flagged_area_mean",
        "flagged area on authentic",
        AUTHENTIC,
        "Share of an authentic image that is flagged wrongly, averaged; lower is better.",
        True,
        False,
    ),
    Score(
        "authentic.flagged_over_5_percent",
        "images with over 5 % flagged",
        AUTHENTIC,
        "Share of the authentic images with more than 5 % of their pixels flagged; lower is better.",
        True,
        False,
    ),
)
BY_KEY: dict[str, Score] = {score.key: score for score in SCORES}

CARDS = ("pixel.binary.iou_edited", "image.auc", "editor_identity.top1", "authentic.flagged_area_mean")
CURVES = ("pixel.binary.iou_edited", "image.auc", "editor_identity.top1")
COMPARED = (
    "pixel.binary.iou_edited",
    "pixel.binary.f1",
    "pixel.editors.miou",
    "image.auc",
    "image.accuracy",
    "editor_identity.top1",
    "authentic.flagged_area_mean",
)
SHORT = {
    "pixel.binary.f1": "pixel F1",
    "pixel.editors.miou": "editor mIoU",
    "image.accuracy": "image accuracy",
    "authentic.flagged_area_mean": "flagged on authentic",
}

UNITS = {"group": "photographs", "item": "images"}
BASELINES = {"all_edited": "all edited", "none": "none edited", "majority_editor": "majority editor"}


@dataclass(frozen=True)
class Finding:
    """One score as found on the data.

    Attributes:
        score: which score.
        value: number, or None where it is undefined.
        reason: why it is undefined; empty otherwise.
        low: lower end of the 95 % interval, or None.
        high: its upper end.
        unit: what was resampled, for example "12 photographs"; empty without an interval.
        baseline: name of the best trivial baseline; empty where none has the score.
        baseline_value: its value.
    """

    score: Score
    value: Any
    reason: str = ""
    low: float | None = None
    high: float | None = None
    unit: str = ""
    baseline: str = ""
    baseline_value: float | None = None

    @property
    def value_text(self) -> str:
        """The value as it is shown."""
        return self.score.text(self.value)

    @property
    def interval_text(self) -> str:
        """The interval as it is shown; empty where there is none."""
        return f"{self.score.text(self.low)} to {self.score.text(self.high)}" if self.low is not None else ""

    @property
    def baseline_text(self) -> str:
        """The best trivial baseline as it is shown; empty where there is none."""
        return f"{self.score.text(self.baseline_value)} ({self.baseline})" if self.baseline else ""

    @property
    def beats_baselines(self) -> bool | None:
        """Whether the whole interval lies on the better side of every trivial baseline; None where unknown."""
        if self.low is None or self.high is None or self.baseline_value is None:
            return None
        if self.score.higher_is_better:
            return self.low > self.baseline_value
        return self.high < self.baseline_value


def words(name: str) -> str:
    """A key of metrics.json in words.

    >>> words("all_edited")
    'all edited'
    """
    return name.replace("_", " ")


def finding(metrics: Metrics, score: Score) -> Finding:
    """Gather value, interval and best trivial baseline of a score."""
    value = pick(metrics, score.key)
    name, baseline = best_baseline(metrics, score)
    trivial: dict[str, Any] = {"baseline": BASELINES.get(name, words(name)), "baseline_value": baseline}
    if not is_number(value):
        return Finding(score, None, reason=reason_for(metrics, score.key), **trivial)
    interval = (metrics.get("intervals") or {}).get(score.key) or {}
    low, high = interval.get("low"), interval.get("high")
    if not (is_number(low) and is_number(high)):
        return Finding(score, value, **trivial)
    return Finding(score, value, low=float(low), high=float(high), unit=resampled(interval), **trivial)


def best_baseline(metrics: Metrics, score: Score) -> tuple[str, float | None]:
    """Return name and value of the trivial baseline that does best at a score; ("", None) where none has it."""
    values = {name: pick(scores, score.key) for name, scores in (metrics.get("baselines") or {}).items()}
    known = {name: float(value) for name, value in values.items() if is_number(value)}
    if not known:
        return "", None
    best = (max if score.higher_is_better else min)(known, key=lambda name: known[name])
    return best, known[best]


def resampled(interval: Mapping[str, Any]) -> str:
    """What an interval resampled, in words: "12 photographs"."""
    unit, count = str(interval.get("unit", "")), interval.get("units")
    name = UNITS.get(unit, unit)
    return f"{format_value(count)} {name}" if count is not None and name else name


def findings(metrics: Metrics) -> list[Finding]:
    """Every known score that `metrics` holds, in order."""
    return [finding(metrics, score) for score in SCORES if has(metrics, score.key)]
