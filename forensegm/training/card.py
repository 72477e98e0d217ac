"""The model card that every checkpoint carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forensegm.config import Config
from forensegm.datasets import Dataset
from forensegm.training.parts import Parts

SCORES = {
    "edited IoU": "pixel.binary.iou_edited",
    "pixel F1": "pixel.binary.f1",
    "pixel AUC": "pixel.binary.auc",
    "mean IoU over editors": "pixel.editors.miou",
    "image AUC": "image.auc",
    "image accuracy": "image.accuracy",
    "editor identity, top 1": "editor_identity.top1",
    "area flagged on authentic images": "authentic.flagged_area_mean",
}

CARD = """# Model card

A segmentation network that marks edited pixels of a photograph and names the editor of each of them. One score per
image is pooled from its map.

- **Model:** {model}, front end: {frontend}, initial encoder weights: {weights}
- **Kept:** epoch {epoch} of {epochs}, by {metric} on validation data ({value})

## Data

Data set *{name}* (`{source}`).

| Split | Images | Photographs |
|---|---:|---:|
{splits}

Training crops of {crop}; augmentation: flips, rotation by 90 degrees: {rotate}, distortion with
probability {distort:g}.

## Label space

| Id | Class |
|---:|---|
{labels}
| 255 | ignore (left out of every loss and score) |

## Scores on validation data

| Score | Value |
|---|---:|
{scores}

Measured before the thresholds below were chosen, at 0.5 for pixels and images. The checkpoint itself was chosen on
these images, so they flatter. Judge it by `forensegm evaluate` on
photographs that neither training nor validation saw.

## Thresholds

A pixel counts as edited from {pixel:.4f}, an image as fake from {image:.4f} (pooling: {pooling}; from {thresholds}).

## Limits

- It knows the editors above only. The work of any other editor may be missed, or named as one of them.
- Strong recompression, resizing or blur weakens the traces it reads; measure it with `forensegm robustness`.
- A score is evidence for a human to weigh, not a proof that an image is fake or authentic.
"""


def model_card(config: Config, parts: Parts, best: Mapping[str, Any]) -> str:
    """Write the card of a checkpoint: data, label space, scores, thresholds and limits, as Markdown."""
    thresholds = best["thresholds"]
    return CARD.format(
        model=config.model.name,
        frontend=config.model.frontend,
        weights=config.model.weights,
        epoch=best["epoch"],
        epochs=config.train.epochs,
        metric=best["metric"],
        value=number(best["value"]),
        name=parts.train.name,
        source=config.data.source,
        splits="\n".join(
            [
                split_row(config.data.train_split, parts.train),
                split_row(config.data.val_split, parts.val),
            ]
        ),
        crop=f"{config.data.crop} x {config.data.crop} pixels" if config.data.crop else "whole images",
        rotate="yes" if config.augment.rotate90 else "no",
        distort=config.augment.distort,
        labels="\n".join(f"| {value} | {name} |" for value, name in enumerate(parts.labels.names)),
        scores="\n".join(f"| {name} | {number(best['validation'][key])} |" for name, key in SCORES.items()),
        pixel=thresholds["pixel"],
        image=thresholds["image"],
        pooling=thresholds["pooling"],
        thresholds=thresholds["source"],
    )


def split_row(name: str, dataset: Dataset) -> str:
    """One row of the data table."""
    return f"| {name} | {len(dataset)} | {len(set(dataset.groups))} |"


def number(value: float | None) -> str:
    """Three decimals, or "n/a" for an undefined score."""
    return "n/a" if value is None else f"{value:.3f}"
