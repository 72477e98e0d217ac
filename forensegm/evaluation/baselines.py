"""Trivial predictions that every score stands beside: a model that does not beat them has learnt nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensegm.evaluation.collect import Collector
from forensegm.inference import Prediction
from forensegm.sample import AUTHENTIC, IGNORE, LabelSpace, Sample

BASELINES = ("all_edited", "none", "majority_editor")


def majority_editor(truths: Sequence[Truth]) -> int:
    """The editor with most pixels of the data judged (an oracle: real use would not know it); 1 if there is none."""
    areas = np.zeros(256, dtype=np.int64)
    for truth in truths:
        areas[truth.values] += truth.counts
    return int(np.argmax(areas[AUTHENTIC + 1 : IGNORE])) + 1


def constant_prediction(name: str, hw: tuple[int, int], labels: LabelSpace, *, majority: int) -> Prediction:
    """The prediction of one baseline for an image of height and width `hw`.

    all_edited flags every pixel and names editor 1, none flags nothing, majority_editor flags every pixel and names
    the majority editor. Their image scores are constant, so that their AUC is one half.
    """
    edited = name != "none"
    editor = majority if name == "majority_editor" else 1
    return Prediction(
        edited_prob=np.full(hw, float(edited), dtype=np.float32),
        class_map=np.full(hw, editor if edited else AUTHENTIC, dtype=np.uint8),
        image_score=float(edited),
        is_fake=edited,
        image_threshold=0.5,
        pooling="mean",
        editor=labels.name_of(editor) if edited else None,
        editor_scores={},
        labels=labels,
    )


@dataclass(frozen=True)
class Truth:
    """What a constant prediction needs to know of a mask: how many pixels each value has, not where they lie."""

    id: str
    group: str
    values: NDArray[np.uint8]
    counts: NDArray[np.int64]

    def sample(self) -> Sample:
        """A sample of one row of pixels with the same counts: a constant prediction scores the same on it."""
        mask = np.repeat(self.values, self.counts)[None]
        return Sample(self.id, np.zeros((*mask.shape, 3), dtype=np.uint8), mask, group=self.group)


class BaselineCollector:
    """Scores of every baseline on the samples of one pass; of each mask only its pixel counts are kept."""

    def __init__(self, labels: LabelSpace) -> None:
        """Start without samples."""
        self.labels = labels
        self.truths: list[Truth] = []

    def update(self, sample: Sample) -> None:
        """Add one sample."""
        values, counts = np.unique(sample.mask, return_counts=True)
        self.truths.append(Truth(sample.id, sample.group, values, counts))

    def compute(self) -> dict[str, Any]:
        """Scores by baseline name, in the form of metrics.json."""
        majority = majority_editor(self.truths)
        scores = {name: self.score(name, majority) for name in BASELINES}
        scores["majority_editor"]["editor"] = self.labels.name_of(majority)
        return scores

    def score(self, name: str, majority: int) -> dict[str, Any]:
        """Scores of one baseline."""
        collector = Collector(self.labels, pixel_threshold=0.5, image_threshold=0.5, pooling="mean")
        for truth in self.truths:
            sample = truth.sample()
            collector.update(constant_prediction(name, sample.mask.shape, self.labels, majority=majority), sample)
        return collector.compute()
