"""The optimizer's parameter groups and its learning rate at every step."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from forensegm.config import OptimConfig
from forensegm.models.segmenter import Segmenter


def lr_factor(step: int, *, total: int, warmup: int) -> float:
    """Learning rate of step `step` (counted from 0) as a factor of the peak, 0..1.

    It rises linearly to 1 over the first `warmup` steps and falls along a half cosine that would reach 0 at step
    `total`. It depends on the step alone, so that a resumed run needs nothing to restore.

    >>> [round(lr_factor(step, total=6, warmup=2), 3) for step in range(6)]
    [0.5, 1.0, 1.0, 0.854, 0.5, 0.146]
    """
    if step < warmup:
        return (step + 1) / warmup
    share = (step - warmup) / max(total - warmup, 1)
    return 0.5 * (1.0 + math.cos(math.pi * min(share, 1.0)))


def parameter_groups(model: Segmenter, config: OptimConfig) -> list[dict[str, Any]]:
    """Groups of the trained parameters: encoder and rest, each with and without weight decay; empty ones left out.

    Vectors (biases, and the scales and shifts of normalization layers) have no decay. `peak_lr` of a group is the
    learning rate that `set_lr` scales.
    """
    parts = (
        (model.encoder_parameters(), config.lr * config.encoder_lr_factor),
        (model.decoder_parameters(), config.lr),
    )
    groups = []
    for parameters, peak_lr in parts:
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        matrices = [parameter for parameter in trained if parameter.ndim > 1]
        vectors = [parameter for parameter in trained if parameter.ndim <= 1]
        for members, decay in ((matrices, config.weight_decay), (vectors, 0.0)):
            if members:
                groups.append({"params": members, "lr": peak_lr, "peak_lr": peak_lr, "weight_decay": decay})
    return groups


def make_optimizer(model: Segmenter, config: OptimConfig, *, device: torch.device) -> torch.optim.Optimizer:
    """AdamW over `parameter_groups`, fused where torch has the fused kernel."""
    return torch.optim.AdamW(parameter_groups(model, config), lr=config.lr, fused=device.type in ("cpu", "cuda"))


def set_lr(optimizer: torch.optim.Optimizer, factor: float) -> None:
    """Give every group `factor` times its peak learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = group["peak_lr"] * factor


class BufferSnapshot:
    """A copy of a module's buffers that a bad step can be undone with.

    A forward pass in training changes the running statistics of batch norms before anyone can see that its loss is
    not finite; skipping the optimizer alone leaves them poisoned.
    """

    def __init__(self, module: nn.Module) -> None:
        """Remember the buffers of `module` as they are."""
        self.live = group_by_dtype(module.buffers())
        self.kept = [[buffer.clone() for buffer in group] for group in self.live]

    def take(self) -> None:
        """Remember the buffers as they are."""
        for kept, live in zip(self.kept, self.live, strict=True):
            torch._foreach_copy_(kept, live)

    def restore(self) -> None:
        """Put the remembered values back."""
        for kept, live in zip(self.kept, self.live, strict=True):
            torch._foreach_copy_(live, kept)


def group_by_dtype(tensors: Iterable[torch.Tensor]) -> list[list[torch.Tensor]]:
    """Lists of tensors of one dtype each, which torch's foreach functions handle in one call."""
    groups: dict[torch.dtype, list[torch.Tensor]] = {}
    for tensor in tensors:
        groups.setdefault(tensor.dtype, []).append(tensor)
    return list(groups.values())
