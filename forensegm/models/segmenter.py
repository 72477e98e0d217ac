"""One wrapper around every network: normalization inside, any image size, logits at the size of the input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Network:
    """A bare network as its source built it.

    Attributes:
        module: from normalized float BxCxHxW, H and W multiples of `stride`, to logits BxKxHxW.
        stride: what H and W must be multiples of.
        mean: per RGB channel, of images in 0..1.
        std: per RGB channel.
        origin: where the initial weights come from, in words.
        encoder: the part that is pretrained; None = there is no such part.
        minimum: shortest side that the module takes, a multiple of `stride`.
    """

    module: nn.Module
    stride: int
    mean: Sequence[float]
    std: Sequence[float]
    origin: str
    encoder: nn.Module | None = None
    minimum: int = 0


class Segmenter(nn.Module):
    """A segmentation network that takes plain images.

    Padding to the stride is on the right and at the bottom, with repeated border pixels (a reflection needs more pixels
    than a small image has); what it gives is cut off, so that it enters no loss and no score.

    Args:
        network: the bare network.
        spec: what rebuilds the architecture: plain JSON types (name, classes, frontend, weights).
        frontend: forensic front end, or None.

    Attributes:
        classes: number of classes.
        stride: what sides are padded to a multiple of.
        minimum: what shorter sides are padded to.
        spec: as given.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, network: Network, *, spec: dict[str, Any], frontend: nn.Module | None = None) -> None:
        """Put the parts together."""
        super().__init__()
        self.spec = dict(spec)
        self.classes = int(spec["classes"])
        self.stride, self.minimum = network.stride, network.minimum
        self.network = network.module
        self.frontend = frontend
        self.register_buffer("mean", torch.tensor(network.mean, dtype=torch.float32).view(1, -1, 1, 1))
        self.register_buffer("std", torch.tensor(network.std, dtype=torch.float32).view(1, -1, 1, 1))
        own = {id(parameter) for parameter in network.encoder.parameters()} if network.encoder is not None else set()
        # By name, which a copy keeps.
        self._encoder_names = {name for name, parameter in self.named_parameters() if id(parameter) in own}

    def forward(self, images: Tensor) -> Tensor:
        """Return logits (BxKxHxW) of images (float32 Bx3xHxW in 0..1), any H and W from 1 up.

        Raises:
            ValueError: the network returned something else than logits at the size of its input.
        """
        height, width = images.shape[-2:]
        bottom, right = (missing(side, stride=self.stride, minimum=self.minimum) for side in (height, width))
        if tracing() or bottom or right:  # a trace is for other sizes too
            images = functional.pad(images, (0, right, 0, bottom), mode="replicate")
        inputs = (images - self.mean) / self.std
        if self.frontend is not None:
            # Residuals are fractions of a grey level: half precision would round them away before they are filtered.
            with torch.autocast(images.device.type, enabled=False):
                inputs = torch.cat([inputs, self.frontend(images.float() * 255)], dim=1)
        logits: Tensor = self.network(inputs)
        expected = (len(images), self.classes, *images.shape[-2:])
        if logits.shape != expected:
            raise ValueError(
                f"Expected the network '{self.spec['name']}' to return logits of shape {list(expected)}, one per class "
                f"and pixel, got {list(logits.shape)}."
            )
        return logits[..., :height, :width]

    def encoder_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of the pretrained part."""
        return (parameter for name, parameter in self.named_parameters() if name in self._encoder_names)

    def decoder_parameters(self) -> Iterator[nn.Parameter]:
        """Yield all other parameters."""
        return (parameter for name, parameter in self.named_parameters() if name not in self._encoder_names)


def missing(side: Any, *, stride: int, minimum: int) -> Any:
    """Pixels to add to a side, so that it is a multiple of `stride` and at least `minimum`."""
    if tracing():  # sides are tensors then, and a comparison would become a constant
        return torch.maximum(-side % stride, minimum - side)
    return max(-side % stride, minimum - side)


def tracing() -> bool:
    """Whether the network is being traced for export."""
    return bool(torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]
