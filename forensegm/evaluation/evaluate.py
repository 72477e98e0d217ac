"""One pass over a data set: read each image once, distort it, predict it, score it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from forensegm.config import EvaluateConfig
from forensegm.datasets import Dataset
from forensegm.distortions import distort, parse_chain
from forensegm.evaluation.baselines import BaselineCollector
from forensegm.evaluation.collect import Collector
from forensegm.evaluation.intervals import intervals
from forensegm.inference import Prediction, Predictor
from forensegm.lookup import lookup
from forensegm.pooling import POOLINGS
from forensegm.sample import LabelSpace, Sample

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int, str], None]
CLEAN = "identity"


@dataclass
class Evaluation:
    """What one pass found.

    Attributes:
        metrics: the content of metrics.json (see `forensegm.evaluation.write`).
        rows: one dict per image with its counts and scores; per_image.jsonl.
        examples: images with truth and prediction, for the report.
        skipped: (id, reason) of every item that could not be read.
        collector: the streaming scores behind `metrics`, to choose thresholds from.
    """

    metrics: dict[str, Any]
    rows: list[dict[str, Any]]
    examples: list[dict[str, Any]]
    skipped: list[tuple[str, str]]
    collector: Collector


@dataclass
class Reader:
    """Samples of a data set in batches of one size; unreadable items are skipped and named, or raise."""

    dataset: Dataset
    batch_size: int
    on_error: str
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def samples(self) -> Iterator[Sample]:
        """Yield every readable sample in order."""
        for index in range(len(self.dataset)):
            try:
                yield self.dataset[index]
            except (ValueError, OSError) as error:
                if self.on_error == "raise":
                    raise
                self.skipped.append((self.dataset.ids[index], str(error)))
                logger.warning("Skipped %s: %s", self.dataset.ids[index], error)

    def batches(self) -> Iterator[list[Sample]]:
        """Yield runs of neighbouring samples of equal size, at most `batch_size` long."""
        batch: list[Sample] = []
        for sample in self.samples():
            if batch and (len(batch) == self.batch_size or sample.mask.shape != batch[0].mask.shape):
                yield batch
                batch = []
            batch.append(sample)
        if batch:
            yield batch


def as_predictor(model: Predictor | str | Path, config: EvaluateConfig) -> Predictor:
    """Take a predictor as it is, or load one from a checkpoint folder."""
    if isinstance(model, Predictor):
        return model
    return Predictor.from_checkpoint(model, precision=config.precision)


def check_labels(predictor: Predictor, dataset: Dataset) -> LabelSpace:
    """Return the common label space; raises ValueError where model and data name other editors."""
    if predictor.labels != dataset.labels:
        raise ValueError(
            f"Expected data set '{dataset.name}' to have the checkpoint's editors "
            f"{', '.join(predictor.labels.editors)}, got {', '.join(dataset.labels.editors)}. "
            "Evaluate on data of the same label space, in the same order."
        )
    return predictor.labels


def new_collector(predictor: Predictor, config: EvaluateConfig) -> Collector:
    """Return an empty collector with the thresholds that travel with the predictor; an unknown pooling raises here."""
    lookup(POOLINGS, config.pooling, what="pooling")
    same_pooling = predictor.thresholds["pooling"] == config.pooling
    return Collector(
        predictor.labels,
        pixel_threshold=predictor.thresholds["pixel"],
        image_threshold=predictor.thresholds["image"] if same_pooling else 0.5,
        pooling=config.pooling,
    )


def predict_distorted(
    predictor: Predictor, batch: Sequence[Sample], chain: str, *, seed: int
) -> Iterator[tuple[Sample, Prediction]]:
    """Yield each sample as distorted by `chain`, its mask with it, and its prediction.

    The noise of an image is drawn from (seed, its id), so that it does not depend on the batch it falls in.
    """
    if chain != CLEAN:
        batch = [distorted(sample, chain, seed=seed) for sample in batch]
    yield from zip(batch, predictor.predict_batch([sample.image for sample in batch]), strict=True)


def distorted(sample: Sample, chain: str, *, seed: int) -> Sample:
    """Return the sample with its image and mask after `chain`."""
    digest = np.frombuffer(sample.id.encode(), dtype=np.uint8).tolist()
    rng = np.random.default_rng(np.random.SeedSequence([seed, *digest]))
    image, mask = distort(sample.image, parse_chain(chain, trusted=True), mask=sample.mask, seed=rng)
    return Sample(sample.id, image, mask, group=sample.group, meta=sample.meta)


def evaluate(
    model: Predictor | str | Path,
    dataset: Dataset,
    config: EvaluateConfig | None = None,
    *,
    chain: str = CLEAN,
    progress: Progress | None = None,
) -> Evaluation:
    """Score a model on a data set, with trivial baselines and bootstrap intervals beside it.

    Args:
        model: a predictor, or the folder of a checkpoint.
        dataset: what to evaluate on; its label space must be the model's.
        config: see `forensegm.config.EvaluateConfig`.
        chain: distortion that every image goes through first, for example "jpeg(70)".
        progress: called as progress(stage, done, total, info).

    Raises:
        ValueError: another label space, an empty data set, or (on_error="raise") an unreadable item.
    """
    config = config or EvaluateConfig()
    predictor = as_predictor(model, config)
    labels = check_labels(predictor, dataset)
    collector, baselines = new_collector(predictor, config), BaselineCollector(labels)
    reader = Reader(dataset, config.batch_size, config.on_error)
    wanted = example_ids(dataset, config.examples)
    examples: list[dict[str, Any]] = []
    done = 0
    for batch in reader.batches():
        for sample, prediction in predict_distorted(predictor, batch, chain, seed=config.seed):
            collector.update(prediction, sample)
            baselines.update(sample)
            if sample.id in wanted:
                examples.append(example(sample, prediction))
        done += len(batch)
        if progress:
            progress("evaluate", done + len(reader.skipped), len(dataset), "")
    if not done:
        raise ValueError(f"Expected at least one readable image in data set '{dataset.name}', got none.")
    rows = collector.rows
    metrics = {
        "data": data_counts(rows, labels),
        **collector.compute(),
        "chain": chain,
        "thresholds": dict(predictor.thresholds),
        "distortions": [],
        "baselines": baselines.compute(),
        "intervals": intervals(rows, config),
        "skipped": [{"id": item, "reason": reason} for item, reason in reader.skipped],
    }
    return Evaluation(metrics, rows, examples, reader.skipped, collector)


def example_ids(dataset: Dataset, count: int) -> set[str]:
    """Return ids to show: photographs take turns, so that each is seen before one is seen again."""
    by_group: dict[str, list[str]] = {}
    for name, group in zip(dataset.ids, dataset.groups, strict=True):
        by_group.setdefault(group, []).append(name)
    turns = zip_longest(*by_group.values())
    return set(islice((name for turn in turns for name in turn if name is not None), count))


def example(sample: Sample, prediction: Prediction) -> dict[str, Any]:
    """Return one entry of the report's examples (see `forensegm.reports.write_report`)."""
    truth = sample.label
    kind = "authentic" if not truth.fake else "edited"
    right = truth.fake == prediction.is_fake
    names = [prediction.labels.name_of(value) for value in truth.editors]
    return {
        "id": sample.id,
        "kind": kind if right else ("false alarm" if kind == "authentic" else "missed"),
        "image": sample.image,
        "truth": sample.mask,
        "class_map": prediction.class_map,
        "edited_prob": prediction.edited_prob,
        "image_score": prediction.image_score,
        "caption": {
            "score": prediction.image_score,
            "threshold": prediction.image_threshold,
            "verdict": "fake" if prediction.is_fake else "authentic",
            "predicted editor": prediction.editor if prediction.is_fake and prediction.editor else "none",
            "true editors": ", ".join(names) or "none",
        },
    }


def data_counts(rows: Sequence[dict[str, Any]], labels: LabelSpace) -> dict[str, Any]:
    """Count images by coverage and by editor."""
    coverage = [row["coverage"] for row in rows]
    return {
        "images": len(rows),
        "edited": coverage.count("partial") + coverage.count("full"),
        "authentic": coverage.count("empty"),
        **{name: coverage.count(name) for name in ("partial", "full", "empty")},
        "groups": len({row["group"] for row in rows}),
        "editors": {name: sum(labels.id_of(name) in row["editors_present"] for row in rows) for name in labels.editors},
    }
