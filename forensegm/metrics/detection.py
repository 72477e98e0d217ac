"""Image-level scores: real or fake from one score per image, and which editor made a fake one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensegm.lookup import unknown_name
from forensegm.metrics import reasons, scores
from forensegm.metrics.confusion import Counts
from forensegm.metrics.curves import OBJECTIVES, CountArray, ap_of_counts, auc_of_counts, best_entry
from forensegm.metrics.reasons import split_reasons
from forensegm.sample import LabelSpace

Row = dict[str, Any]


class DetectionMetrics:
    """Image-level scores of one pass over a data set.

    An image is judged fake where its score is at least `threshold`. Identity is judged on truly fake images whose
    dominant editor is known, whatever the verdict: a forced choice. A missed fake without a named editor is judged by
    its best `editor_scores`, and counts as wrong where there are none.

    Args:
        labels: the label space of the editors.
        threshold: image score at and above which an image counts as fake.

    Attributes:
        rows: one dict of plain JSON types per image, in the order of the updates: id, group, score, fake (None where it
            is not known), predicted_fake, editor (as predicted, or None), identity (the editor it is judged by, or
            None) and target_editor (or None), editors by name.

    Raises:
        ValueError: a threshold that is not a number.
    """

    def __init__(self, labels: LabelSpace, *, threshold: float = 0.5) -> None:
        """Start without images."""
        if math.isnan(threshold):
            raise ValueError("Expected the image threshold to be a number, got nan.")
        self.labels = labels
        self.threshold = float(threshold)
        self.rows: list[Row] = []

    def update(
        self,
        score: float,
        fake: bool | None,
        *,
        editor: str | int | None = None,
        target_editor: str | int | None = None,
        editor_scores: Mapping[str, float] | None = None,
        id: str,
        group: str,
    ) -> None:
        """Add one image.

        Args:
            score: the larger, the more likely fake.
            fake: the truth, None where it is not known (the image then enters no score).
            editor: predicted editor, by name or id; None where the map names none.
            target_editor: true dominant editor, by name or id; None where there is none or it is not known.
            editor_scores: pooled score by editor name, for the forced choice where `editor` is None.
            id: name of the image, unique in the data set.
            group: the photograph it comes from.

        Raises:
            ValueError: a score that is not finite, or an editor outside the label space. The message names the image.
        """
        try:
            value = float(score)
            if not math.isfinite(value):
                raise ValueError(f"Expected a finite image score, got {value}.")
            named = self.editor_name(editor)
            row = {
                "score": value,
                "fake": None if fake is None else bool(fake),
                "predicted_fake": value >= self.threshold,
                "editor": named,
                "identity": named or self.forced_choice(editor_scores or {}),
                "target_editor": self.editor_name(target_editor),
            }
        except ValueError as error:
            raise ValueError(f"Image '{id}': {error}") from error
        self.rows.append({"id": id, "group": group, **row})

    def editor_name(self, editor: str | int | None) -> str | None:
        """Name of an editor given by name or id."""
        if editor is None:
            return None
        class_id = self.labels.id_of(editor) if isinstance(editor, str) else int(editor)
        if class_id == 0:
            raise ValueError("Expected an editor or None, got the authentic class.")
        return self.labels.name_of(class_id)

    def forced_choice(self, editor_scores: Mapping[str, float]) -> str | None:
        """Editor of the highest score, on a tie the first of the label space; None without scores."""
        ordered = sorted(editor_scores, key=self.labels.id_of)
        return self.editor_name(max(ordered, key=lambda name: editor_scores[name], default=None))

    def merge(self, other: DetectionMetrics) -> None:
        """Add the images of another instance; raises ValueError where its labels or threshold differ."""
        mine, theirs = (self.labels, self.threshold), (other.labels, other.threshold)
        if mine != theirs:
            raise ValueError(f"Expected metrics of the same labels and threshold, got {mine} and {theirs}.")
        self.rows.extend(other.rows)

    def compute(self) -> dict[str, Any]:
        """Return every score as a nested dict of plain numbers.

        Keys: image (auc, ap, accuracy, balanced_accuracy, f1, precision, recall, threshold, n, n_fake, n_unknown),
        editor_identity (top1, macro_f1: the mean over the editors in the truth, n), and undefined: reason by path of
        each None.
        """
        undefined: dict[str, str] = {}
        return {
            "image": self.image(undefined),
            "editor_identity": self.editor_identity(undefined),
            "undefined": undefined,
        }

    def image(self, undefined: dict[str, str]) -> dict[str, Any]:
        """Scores of fake against authentic images."""
        known = [row for row in self.rows if row["fake"] is not None]
        values, fake = [row["score"] for row in known], [row["fake"] for row in known]
        counts = verdict_counts(known)
        one_class = reasons.ONE_IMAGE_CLASS if known else reasons.NO_IMAGE
        no_fake = reasons.NO_FAKE if known else reasons.NO_IMAGE
        judged = {
            "auc": (roc_auc(values, fake), one_class),
            "ap": (average_precision(values, fake), one_class),
            "accuracy": (scores.accuracy(counts), reasons.NO_IMAGE),
            "balanced_accuracy": (scores.balanced_accuracy(counts), one_class),
            "f1": (scores.f1(counts), no_fake),
            "precision": (scores.precision(counts), reasons.NO_IMAGE_FLAGGED),
            "recall": (scores.recall(counts), no_fake),
        }
        return {
            **split_reasons("image", judged, undefined),
            "threshold": self.threshold,
            "n": len(known),
            "n_fake": sum(fake),
            "n_unknown": len(self.rows) - len(known),
        }

    def editor_identity(self, undefined: dict[str, str]) -> dict[str, Any]:
        """How often the dominant editor of a fake image is named."""
        pairs = identity_pairs(self.rows)
        judged = {
            "top1": (identity_top1(pairs), reasons.NO_IDENTITY),
            "macro_f1": (identity_macro_f1(pairs), reasons.NO_IDENTITY),
        }
        return {**split_reasons("editor_identity", judged, undefined), "n": len(pairs)}


def verdict_counts(rows: Sequence[Row]) -> Counts:
    """Counts of judged-fake against fake images; rows of unknown truth are left out."""
    pairs = [(row["fake"], row["predicted_fake"]) for row in rows]
    return Counts(*(pairs.count(pair) for pair in ((False, False), (False, True), (True, False), (True, True))))


def identity_pairs(rows: Sequence[Row]) -> list[tuple[str, str | None]]:
    """True and named editor of each image that identity is judged on."""
    return [(row["target_editor"], row["identity"]) for row in rows if row["fake"] and row["target_editor"] is not None]


def identity_top1(pairs: Sequence[tuple[str, str | None]]) -> float | None:
    """Share of pairs (true, named) that agree; None without pairs."""
    return scores.ratio(sum(truth == named for truth, named in pairs), len(pairs))


def identity_macro_f1(pairs: Sequence[tuple[str, str | None]]) -> float | None:
    """F1 of each editor in the truth, averaged over them; None without pairs."""
    values = []
    for editor in sorted({truth for truth, _ in pairs}):
        true, named = [truth == editor for truth, _ in pairs], [name == editor for _, name in pairs]
        tp = sum(a and b for a, b in zip(true, named, strict=True))
        values.append(scores.f1(Counts(0, sum(named) - tp, sum(true) - tp, tp)))
    return scores.mean_of_defined(values)


def roc_auc(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """Area under the ROC curve, ties counting one half; None where there is one class only.

    Args:
        scores: finite numbers, any shape.
        labels: bools or 0 and 1 of the same shape.

    Raises:
        ValueError: different shapes, scores that are not finite, or other labels.

    >>> roc_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    _, negatives, positives = counts_by_score(scores, labels)
    return auc_of_counts(negatives, positives)


def average_precision(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """Average precision, as scikit-learn defines it; None where there is one class only. Arguments as in `roc_auc`."""
    _, negatives, positives = counts_by_score(scores, labels)
    return ap_of_counts(negatives, positives)


def best_threshold(scores: ArrayLike, labels: ArrayLike, *, objective: str = "balanced_accuracy") -> float | None:
    """Threshold t whose verdicts `score >= t` are best by balanced_accuracy, f1 or iou, found exactly.

    It lies in the middle between two neighbouring scores (at the lowest score where flagging everything is best). Of
    equally good ones the highest, which flags fewest. Arguments as in `roc_auc`.

    Returns:
        The threshold, or None where there is one class only.

    >>> best_threshold([0.1, 0.4, 0.6, 0.8], [0, 0, 1, 1])
    0.5
    """
    if objective not in OBJECTIVES:
        raise unknown_name(objective, OBJECTIVES, what="objective")
    distinct, negatives, positives = counts_by_score(scores, labels)
    best = best_entry(negatives, positives, objective)
    if best is None:
        return None
    upper = float(distinct[best])
    if best == 0:
        return upper
    lower = float(distinct[best - 1])
    middle = lower / 2 + upper / 2
    return middle if lower < middle <= upper else upper


def counts_by_score(scores: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], CountArray, CountArray]:
    """Distinct scores, ascending, and how many negatives and positives have each."""
    values, truth = np.asarray(scores, dtype=np.float64).reshape(-1), np.asarray(labels).reshape(-1)
    if values.shape != truth.shape:
        raise ValueError(f"Expected one label per score, got {truth.size} labels and {values.size} scores.")
    if not np.isfinite(values).all():
        raise ValueError(f"Expected finite scores, got {values[~np.isfinite(values)][0]}.")
    fake = truth.astype(bool)
    if (fake != truth).any():
        raise ValueError(f"Expected labels to be bools or 0 and 1, got {truth[fake != truth][0]}.")
    distinct, entry = np.unique(values, return_inverse=True)
    positives = np.bincount(entry[fake], minlength=distinct.size).astype(np.int64)
    return distinct, np.bincount(entry, minlength=distinct.size).astype(np.int64) - positives, positives
