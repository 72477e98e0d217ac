"""Segmentation losses behind one masking rule: ignored pixels are taken out before any loss sees them.

So every term is a mean over valid pixels only, whatever stands under the ignored ones (even inf or NaN), and a batch
without a valid pixel has a loss of exactly 0 with zero gradients. segmentation-models-pytorch's own `ignore_index` is
not used: some of its losses give NaN then, others divide by the ignored pixels too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Protocol

import torch
import torch.nn.functional as F
from segmentation_models_pytorch.losses import MULTICLASS_MODE, FocalLoss, LovaszLoss
from torch import Tensor

from forensegm.lookup import lookup
from forensegm.sample import IGNORE

Loss = Callable[[Tensor, Tensor], dict[str, Tensor]]
PixelLoss = Callable[[Tensor, Tensor], Tensor]
TOTAL = "total"


class LossOptions(Protocol):
    """What a loss reads of `forensegm.config.LossConfig`."""

    @property
    def terms(self) -> Mapping[str, float]:
        """Weight of each term by name."""

    @property
    def authentic_weight(self) -> float:
        """Weight of class 0."""

    @property
    def label_smoothing(self) -> float:
        """Label smoothing of the cross-entropy term."""


def make_loss(config: LossOptions, num_classes: int) -> Loss:
    """Build the loss of a run.

    Args:
        config: a `forensegm.config.LossConfig`. Its terms are names of `LOSSES`, or "pkg.mod:fn" of the user's own: a
            function like those in the table, taking (config, num_classes) and returning any ordinary segmentation
            loss: it gets the N > 0 valid pixels as one image, logits 1xCx1xN float32 and targets 1x1xN int64.
        num_classes: number of classes C, the authentic one included.

    Returns:
        A function of logits (BxCxHxW, any float type) and targets (uint8 BxHxW: class ids or 255 = ignored) that
        returns each term (unweighted) and "total", the weighted sum, as float32 scalars, also under autocast. Without
        a valid pixel all are exactly 0, and backward gives zero gradients.

    Raises:
        ValueError: an unknown term, a weight that is negative or not finite, no positive weight, or a smoothing
            outside [0, 1); when called: shapes that do not fit, or a target that is neither a class nor 255.
    """
    check_options(config)
    terms = {
        name: (weight, lookup(LOSSES, name, what="loss term", trusted=True)(config, num_classes))
        for name, weight in config.terms.items()
    }

    def loss(logits: Tensor, targets: Tensor) -> dict[str, Tensor]:
        with torch.autocast(logits.device.type, enabled=False):
            pixels, classes = valid_pixels(logits, targets, num_classes)
            if classes.numel() == 0:
                values = {name: pixels.sum() for name in terms}  # the sum of nothing: 0, still in the graph
            else:
                values = {name: term(pixels, classes) for name, (_, term) in terms.items()}
            total = sum((weight * values[name] for name, (weight, _) in terms.items()), start=pixels.new_zeros(()))
            return {**values, TOTAL: total}

    return loss


def check_options(config: LossOptions) -> None:
    """Raise ValueError for options that no loss can be built from."""
    weights = dict(config.terms)
    bad = [f"{name}: {weight}" for name, weight in weights.items() if not 0 <= weight < math.inf]
    if bad or TOTAL in weights or not any(weights.values()):
        got = ", ".join(bad) or ("a term called total" if TOTAL in weights else "no positive weight")
        raise ValueError(f"Expected loss terms with weights of 0 or more, at least one above 0, got {got}.")
    if not 0 <= config.authentic_weight < math.inf:
        raise ValueError(f"Expected authentic_weight to be 0 or more, got {config.authentic_weight}.")
    if not 0 <= config.label_smoothing < 1:
        raise ValueError(f"Expected label_smoothing to be in [0, 1), got {config.label_smoothing}.")


def valid_pixels(logits: Tensor, targets: Tensor, num_classes: int) -> tuple[Tensor, Tensor]:
    """The one masking rule: all pixels that are not 255, as one image that is one pixel high.

    Returns:
        Logits 1xCx1xN (float32) and targets 1x1xN (int64). Classes stay ahead of pixels as they are in `logits`: the
        other order, which losses often flatten to, made cross-entropy 4 times slower here.

    Raises:
        ValueError: logits that are not BxCxHxW, targets that are not uint8 BxHxW of the same size, or an id of C..254.
    """
    fits = logits.ndim == 4 and targets.shape == (logits.shape[0], *logits.shape[2:])
    if not fits or logits.shape[1] != num_classes or targets.dtype != torch.uint8:
        raise ValueError(
            f"Expected logits Bx{num_classes}xHxW and uint8 targets BxHxW, got logits {list(logits.shape)} and "
            f"{str(targets.dtype).removeprefix('torch.')} targets {list(targets.shape)}."
        )
    pixels, classes = logits.float().movedim(1, 0).flatten(1), targets.flatten()
    index = (classes != IGNORE).nonzero().squeeze(1)
    if index.numel() < classes.numel():
        pixels, classes = pixels.index_select(1, index), classes.index_select(0, index)
    if classes.numel() and (largest := int(classes.max())) >= num_classes:
        raise ValueError(f"Expected targets of 0..{num_classes - 1} or {IGNORE}, got {largest}.")
    return pixels[None, :, None], classes.long()[None, None]


def class_weights(config: LossOptions, num_classes: int) -> list[float]:
    """Weight of each class: `authentic_weight` for class 0, 1 for every editor."""
    return [config.authentic_weight, *[1.0] * (num_classes - 1)]


def cross_entropy(config: LossOptions, num_classes: int) -> PixelLoss:
    """Cross-entropy: sum of w[y] * -log p[y] over sum of w[y], the weighted mean of torch's `cross_entropy`.

    With label smoothing as torch defines it. Where only classes of weight 0 occur, the mean is over nothing: 0.
    """
    weights = class_weights(config, num_classes)

    def term(logits: Tensor, targets: Tensor) -> Tensor:
        if config.authentic_weight == 0 and not targets.any():
            return logits[:0].sum()
        weight = logits.new_tensor(weights)
        return F.cross_entropy(logits, targets, weight, label_smoothing=config.label_smoothing)

    return term


def focal(config: LossOptions, num_classes: int) -> PixelLoss:
    """Focal loss with gamma 2 (arXiv 1708.02002), each class against the rest, as SMP's `FocalLoss`.

    For each class, the mean over valid pixels of (1 - q)^2 * -log q, q being the sigmoid probability of the truth;
    then the mean over classes, weighted by class. It reads each logit by itself, while maps are read out by softmax:
    use it beside cross-entropy.
    """
    loss: PixelLoss = FocalLoss(MULTICLASS_MODE, gamma=2.0, class_weights=class_weights(config, num_classes))
    return loss


def dice(config: LossOptions, num_classes: int) -> PixelLoss:  # noqa: ARG001
    """Soft Dice loss over the batch: 1 - 2 sum(p t) / sum(p + t) for each class that occurs, p by softmax.

    Classes that do not occur count as 0 in the mean over all classes. The values are those of SMP's `DiceLoss`, which
    took 3 times longer here: it builds its one-hot targets in int64.
    """

    def term(logits: Tensor, targets: Tensor) -> Tensor:
        prob = logits.softmax(1)[0, :, 0]
        truth = targets[0] == torch.arange(num_classes, device=targets.device)[:, None]
        pixels = truth.sum(1)
        score = 2 * (prob * truth).sum(1) / (prob.sum(1) + pixels).clamp_min(1e-7)
        return ((1 - score) * (pixels > 0)).mean()

    return term


def lovasz(config: LossOptions, num_classes: int) -> PixelLoss:  # noqa: ARG001
    """Lovasz-softmax (arXiv 1705.08790), a surrogate of the IoU, mean over the classes that occur, as SMP's."""
    loss: PixelLoss = LovaszLoss(MULTICLASS_MODE)
    return loss


LOSSES: dict[str, Callable[[LossOptions, int], PixelLoss]] = {
    "cross_entropy": cross_entropy,
    "focal": focal,
    "dice": dice,
    "lovasz": lovasz,
}
