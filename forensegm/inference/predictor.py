"""From images to predictions: numpy in and out, with the thresholds that travel with a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from forensegm.checkpoint import THRESHOLDS, load_checkpoint
from forensegm.config import Precision
from forensegm.imageio import read_image
from forensegm.inference.tiling import tile_starts, tiled
from forensegm.lookup import lookup
from forensegm.models import Segmenter
from forensegm.models.precision import DTYPES, resolve_device, resolve_precision
from forensegm.pooling import POOLINGS, dominant_editor, editor_scores, pool_mask
from forensegm.sample import Image, LabelSpace, Mask, check_image

# Before validation has chosen any: every class-wise probability of one half counts.
DEFAULT_THRESHOLDS = {"pixel": 0.5, "image": 0.5, "pooling": "topk_mean", "source": "default"}


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model says of one image.

    Attributes:
        edited_prob: probability that a pixel is edited, float32 HxW, 0..1.
        class_map: uint8 HxW, 0 = authentic, else the editor; edited where `edited_prob` reaches the pixel threshold.
        image_score: the map pooled into one score, the larger, the more likely fake.
        is_fake: whether the score reaches `image_threshold`.
        image_threshold: as above.
        pooling: how the score was pooled.
        editor: name of the editor with most flagged pixels; None where no pixel is flagged.
        editor_scores: pooled score by editor name.
        labels: names of the classes.
    """

    edited_prob: NDArray[np.float32]
    class_map: Mask
    image_score: float
    is_fake: bool
    image_threshold: float
    pooling: str
    editor: str | None
    editor_scores: dict[str, float]
    labels: LabelSpace


class Predictor:
    """Predict images with a model.

    Args:
        model: the network; it is moved to the device and put into evaluation mode.
        labels: names of its classes.
        thresholds: keys pixel, image, pooling, source; None = one half and "topk_mean".
        device: auto, cpu, cuda, cuda:N or mps.
        precision: auto, fp32, bf16 or fp16; probabilities are computed in float32 always.
        tile: longest side in pixels that the network sees at once; larger images are cut into tiles. 0 = no limit.
        overlap: pixels that neighbouring tiles share.

    Raises:
        ValueError: labels that do not fit, an unknown pooling, a device that is not there, or an overlap that is not
            below the tile.
    """

    def __init__(
        self,
        model: Segmenter,
        labels: LabelSpace,
        *,
        thresholds: dict[str, Any] | None = None,
        device: str = "auto",
        precision: Precision = "auto",
        tile: int = 1024,
        overlap: int = 128,
    ) -> None:
        """Move the model to its device."""
        if model.classes != labels.num_classes:
            raise ValueError(f"Expected a model of {labels.num_classes} classes, got one of {model.classes}.")
        if tile:
            tile_starts(tile, tile, overlap)
        self.device = resolve_device(device)
        self.precision = resolve_precision(precision, self.device)
        self.model = model.to(self.device).to(memory_format=torch.channels_last).eval()
        self.labels = labels
        self.thresholds = {**DEFAULT_THRESHOLDS, **(thresholds or {})}
        lookup(POOLINGS, self.thresholds["pooling"], what="pooling")
        self.tile, self.overlap = tile, overlap

    @classmethod
    def from_checkpoint(
        cls,
        folder: str | Path,
        *,
        device: str = "auto",
        precision: Precision = "auto",
        tile: int = 1024,
        overlap: int = 128,
        trusted_name: str | None = None,
    ) -> Self:
        """Load a checkpoint (see `forensegm.checkpoint.load_checkpoint` for what it raises)."""
        saved = load_checkpoint(folder, trusted_name=trusted_name)
        thresholds = {key: saved.thresholds[key] for key in THRESHOLDS}
        options: dict[str, Any] = {"device": device, "precision": precision, "tile": tile, "overlap": overlap}
        return cls(saved.model, saved.labels, thresholds=thresholds, **options)

    def __call__(self, image: Image | str | Path) -> Prediction:
        """Predict one image (uint8 RGB HxWx3 of any size, or its path)."""
        pixels = read_image(image) if isinstance(image, (str, Path)) else image
        return self.decide(self.class_probabilities([pixels])[0])

    def predict_batch(self, images: Sequence[Image]) -> list[Prediction]:
        """Predict several images; those of one size share a forward pass where they come one after the other."""
        return [self.decide(probabilities) for probabilities in self.class_probabilities(images)]

    def class_probabilities(self, images: Sequence[Image]) -> list[NDArray[np.float32]]:
        """Return class probabilities, float32 KxHxW, of each image (uint8 RGB HxWx3)."""
        runs = groupby((check_image(image) for image in images), key=lambda image: image.shape)
        return [probabilities for _, run in runs for probabilities in self.same_size(list(run))]

    def same_size(self, images: Sequence[Image]) -> list[NDArray[np.float32]]:
        """Return class probabilities of images of one size."""
        if self.tile and max(images[0].shape[:2]) > self.tile:
            return [tiled(image, self.one_tile, tile=self.tile, overlap=self.overlap) for image in images]
        batch = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)
        return list(self.probabilities(batch).cpu().numpy())

    def one_tile(self, image: Image) -> NDArray[np.float32]:
        """Return class probabilities of one image no larger than a tile."""
        batch = torch.from_numpy(np.ascontiguousarray(image)).permute(2, 0, 1)[None]
        return np.asarray(self.probabilities(batch)[0].cpu().numpy())

    @torch.inference_mode()
    def probabilities(self, images: Tensor) -> Tensor:
        """Return class probabilities (float32 BxKxHxW, on the device) of a batch.

        Args:
            images: Bx3xHxW, uint8 0..255 or float 0..1, on any device.
        """
        scale = 1.0 if images.is_floating_point() else 1 / 255
        inputs = images.to(self.device).float().mul(scale).contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, DTYPES[self.precision], enabled=self.precision != "fp32"):
            logits = self.model(inputs)
        return torch.softmax(logits.float(), dim=1)

    def decide(self, class_probs: NDArray[np.float32]) -> Prediction:
        """Turn class probabilities (float32 KxHxW) into a prediction, by the thresholds."""
        edited_prob = np.clip(1.0 - class_probs[0], 0.0, 1.0)
        flagged = edited_prob >= np.float32(self.thresholds["pixel"])
        class_map = np.where(flagged, class_probs[1:].argmax(axis=0) + 1, 0).astype(np.uint8)
        score = pool_mask(edited_prob, self.thresholds["pooling"])
        return Prediction(
            edited_prob=edited_prob,
            class_map=class_map,
            image_score=score,
            is_fake=score >= self.thresholds["image"],
            image_threshold=float(self.thresholds["image"]),
            pooling=self.thresholds["pooling"],
            editor=dominant_editor(class_map, self.labels),
            editor_scores=editor_scores(class_probs, self.labels, flagged=flagged),
            labels=self.labels,
        )
