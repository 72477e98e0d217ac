"""Inpainting with a model that has no inpainting pipeline: blended latents.

After every step the latents outside the mask are replaced by those of the image, noised to the step's level (Avrahami
et al., "Blended Latent Diffusion", SIGGRAPH 2023, algorithm 1 without its decoder refinement).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from forensegm.edits.editors.diffusion.fit import Padded
from forensegm.lookup import require


def encode_latents(pipeline: Any, batch: Sequence[Padded]) -> Any:
    """Latents of the images, as the denoiser takes them: the mean of the posterior, shifted and scaled."""
    torch = require("torch", extra="diffusion")
    pixels = np.stack([one.image for one in batch]).astype(np.float32) / 127.5 - 1
    vae = pipeline.vae
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).to(pipeline._execution_device, vae.dtype)
    with torch.inference_mode():
        latents = vae.encode(images).latent_dist.mode()
    shift = getattr(vae.config, "shift_factor", None) or 0.0
    return (latents - shift) * vae.config.scaling_factor


def latent_mask(batch: Sequence[Padded], latents: Any) -> Any:
    """1 where the edit is asked for, per latent cell."""
    torch = require("torch", extra="diffusion")
    regions = torch.from_numpy(np.stack([one.region for one in batch])[:, None].astype(np.float32))
    mask = torch.nn.functional.interpolate(regions, size=latents.shape[-2:], mode="nearest-exact")
    return mask.to(latents.device, latents.dtype)


def keep_outside(latents: Any, mask: Any, noise: Any) -> Callable[[Any, int, Any, dict[str, Any]], dict[str, Any]]:
    """Make the callback that puts the image's own latents back outside the mask after every step."""

    def callback(pipeline: Any, step: int, _timestep: Any, values: dict[str, Any]) -> dict[str, Any]:
        steps = pipeline.scheduler.timesteps
        own = latents
        if step + 1 < len(steps):
            own = pipeline.scheduler.add_noise(latents, noise, steps[step + 1 : step + 2].repeat(len(latents)))
        blended = mask * values["latents"] + (1 - mask) * own.to(values["latents"].dtype)
        return {"latents": blended.to(values["latents"].dtype)}

    return callback
