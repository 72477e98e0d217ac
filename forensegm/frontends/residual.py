"""Noise residuals: what remains of each pixel after its neighbours have predicted it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

# The three kernels of Zhou et al., "Learning Rich Features for Image Manipulation Detection" (CVPR 2018), out of the
# thirty of Fridrich and Kodovsky, "Rich Models for Steganalysis of Digital Images" (TIFS 2012).
SRM_KERNELS = (
    (4.0, ((0, 0, 0, 0, 0), (0, -1, 2, -1, 0), (0, 2, -4, 2, 0), (0, -1, 2, -1, 0), (0, 0, 0, 0, 0))),
    (12.0, ((-1, 2, -2, 2, -1), (2, -6, 8, -6, 2), (-2, 8, -12, 8, -2), (2, -6, 8, -6, 2), (-1, 2, -2, 2, -1))),
    (2.0, ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 1, -2, 1, 0), (0, 0, 0, 0, 0), (0, 0, 0, 0, 0))),
)
# Residuals are truncated at this many grey levels (the rich models truncate at 2 or 3): traces are small, edges large.
TRUNCATION = 3.0


class Residual(nn.Module):
    """Filter each colour channel with the same kernels, truncate, and scale to -1..1.

    Args:
        kernels: float Kxkxk, k odd; each sums to zero.
    """

    kernels: Tensor

    def __init__(self, kernels: Tensor) -> None:
        """Keep the kernels as a buffer that is not saved: the name of the front end gives them."""
        super().__init__()
        self.register_buffer("kernels", kernels[:, None], persistent=False)
        self.channels = 3 * len(kernels)

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the residuals of `pixels` (float Bx3xHxW, 0..255): float BxCxHxW in -1..1."""
        batch, colours, height, width = pixels.shape
        radius = self.kernels.shape[-1] // 2
        padded = functional.pad(pixels, (radius,) * 4, mode="replicate")
        single = padded.reshape(batch * colours, 1, height + 2 * radius, width + 2 * radius)
        residual = functional.conv2d(single, self.kernels).reshape(batch, self.channels, height, width)
        return residual.clamp(-TRUNCATION, TRUNCATION) / TRUNCATION


class SRMFilters(Residual):
    """Three SRM kernels on each colour: nine channels."""

    def __init__(self) -> None:
        """Build the kernels of `SRM_KERNELS`, each divided by its norm as in the source."""
        kernels = [torch.tensor(kernel, dtype=torch.float32) / norm for norm, kernel in SRM_KERNELS]
        super().__init__(torch.stack(kernels))


class HighPass(Residual):
    """Each pixel less the mean of its eight neighbours: three channels."""

    def __init__(self) -> None:
        """Build the kernel."""
        kernel = torch.full((3, 3), -1 / 8)
        kernel[1, 1] = 1.0
        super().__init__(kernel[None])
