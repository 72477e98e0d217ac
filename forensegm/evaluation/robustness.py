"""The same scores after the distortions of the real world: each image is decoded once and goes through every chain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forensegm.config import DistortConfig, EvaluateConfig
from forensegm.datasets import Dataset
from forensegm.distortions import parse_chain
from forensegm.evaluation.evaluate import (
    Progress,
    Reader,
    as_predictor,
    check_labels,
    new_collector,
    predict_distorted,
)
from forensegm.inference import Predictor


def robustness(
    model: Predictor | str | Path,
    dataset: Dataset,
    config: EvaluateConfig | None = None,
    distort: DistortConfig | None = None,
    *,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Score a model under each distortion chain, the clean image excepted.

    Authentic and edited images go through the same distortion. Scores are taken at the distorted size, the mask moved
    with the pixels. Thresholds stay those of the checkpoint.

    Returns:
        One dict per chain: name (the operations, for example "resize|jpeg"), level (their parameters, for example
        "0.5|70"), chain, and the keys pixel, image, editor_identity, authentic and undefined of metrics.json.

    Raises:
        ValueError: a chain that cannot be parsed, another label space, or no readable image.
    """
    config, distort = config or EvaluateConfig(), distort or DistortConfig()
    predictor = as_predictor(model, config)
    check_labels(predictor, dataset)
    chains = {chain: parse_chain(chain, trusted=True) for chain in distort.chains}
    collectors = {chain: new_collector(predictor, config) for chain in chains}
    reader = Reader(dataset, config.batch_size, config.on_error)
    done = 0
    for batch in reader.batches():
        for chain, collector in collectors.items():
            for sample, prediction in predict_distorted(predictor, batch, chain, seed=config.seed):
                collector.update(prediction, sample)
        done += len(batch)
        if progress:
            progress("robustness", done + len(reader.skipped), len(dataset), "")
    if not done:
        raise ValueError(f"Expected at least one readable image in data set '{dataset.name}', got none.")
    return [
        {
            "name": chains[chain].name,
            "level": chains[chain].level,
            "chain": chain,
            "images": done,
            **collector.compute(),
        }
        for chain, collector in collectors.items()
    ]
