"""The moving average of the weights: what is validated, saved and used."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from forensegm.models.segmenter import Segmenter


class WeightAverage:
    """A copy of a model whose parameters follow the trained ones as an exponential moving average.

    The decay is min(`decay`, (1 + n) / (10 + n)) at the n-th update, as in TensorFlow's ExponentialMovingAverage, so
    that the random start is forgotten quickly. Buffers (batch-norm statistics) are copied, not averaged.

    Args:
        model: the trained model; it is copied, and never referred to again.
        decay: 0 <= decay < 1; 0 = no average, only a copy made by `sync`.
    """

    def __init__(self, model: Segmenter, *, decay: float) -> None:
        """Copy the model."""
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay
        self.updates = 0

    @torch.no_grad()
    def update(self, source: nn.Module) -> None:
        """Move the average towards the parameters of `source`; to be called after every step."""
        if self.decay == 0.0:
            return
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        average = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        average(list(self.model.parameters()), list(source.parameters()), self.updates)

    @torch.no_grad()
    def sync(self, source: nn.Module) -> None:
        """Copy the buffers of `source`, and without an average the parameters too; to be called before use."""
        pairs = list(zip(self.model.buffers(), source.buffers(), strict=True))
        if self.decay == 0.0:
            pairs += list(zip(self.model.parameters(), source.parameters(), strict=True))
        for mine, other in pairs:
            mine.copy_(other)
