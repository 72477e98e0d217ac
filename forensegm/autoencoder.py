"""Latent autoencoders: the trace that every latent diffusion editor leaves, and a way to launder traces of others.

`load_autoencoder` takes a folder that diffusers saved (`AutoencoderTiny` or `AutoencoderKL`; a hub id where a hub is
reachable), or a folder or prefix of two safetensors files, `..encoder.safetensors` and `..decoder.safetensors`, of
FLUX.2's tiny autoencoder TAEF2 (github.com/madebyollin/taesd, MIT).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from forensegm.lookup import require

WIDTH = 64  # channels of every layer of TAEF2
LATENTS = 32  # its latent channels
POOL_GROUPS = 4


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """An image autoencoder with one interface for all kinds.

    Attributes:
        encode: float images in [0, 1], B x 3 x H x W with sides divisible by `multiple`, to latents B x C x h x w.
        decode: latents to float images, B x 3 x H x W, clipped to [0, 1].
        multiple: pixels per latent cell and side.
        name: where it is from, without folders of this machine.
    """

    encode: Callable[[Tensor], Tensor]
    decode: Callable[[Tensor], Tensor]
    multiple: int
    name: str


def load_autoencoder(source: str, *, device: str | torch.device = "cpu") -> Autoencoder:
    """Load an autoencoder in evaluation mode, weights only.

    Args:
        source: folder or hub id of a diffusers `AutoencoderTiny` or `AutoencoderKL`; or folder, or prefix such as
            weights/taef2_, of the two TAEF2 files.
        device: where it computes.

    Raises:
        FileNotFoundError: the source looks like a path and nothing is there.
        ValueError: weights that do not fit, or another class of autoencoder.
    """
    pair = _taef2_files(source)
    if pair:
        return _taef2(*pair, device=device)
    if not Path(source).expanduser().exists() and (source.startswith((".", "/", "~")) or source.count("/") != 1):
        raise FileNotFoundError(
            f"Expected an autoencoder at '{source}': a folder that diffusers saved, or two files "
            f"{source}encoder.safetensors and {source}decoder.safetensors. Got neither."
        )
    return _from_diffusers(source, device=device)


class PooledBlock(nn.Module):
    """Three 3x3 convolutions with a skip; where `pooled`, after a branch that is normalized over the whole frame."""

    def __init__(self, *, pooled: bool) -> None:
        """Build the block; its parameter names are those of the published files."""
        super().__init__()
        self.conv = nn.Sequential(_conv(), nn.ReLU(), _conv(), nn.ReLU(), _conv())
        self.pool: nn.Module | None = None
        if pooled:
            self.pool = nn.Sequential(
                nn.Conv2d(WIDTH, 4 * WIDTH, 1, bias=False),
                nn.GroupNorm(POOL_GROUPS, 4 * WIDTH),
                nn.ReLU(),
                nn.Conv2d(4 * WIDTH, WIDTH, 1, bias=False),
            )

    def forward(self, features: Tensor) -> Tensor:
        """Features B x 64 x h x w in and out."""
        if self.pool is not None:
            features = features + self.pool(features)
        return torch.relu(self.conv(features) + features)


class SoftClamp(nn.Module):
    """Keep latents within -3..3."""

    def forward(self, latents: Tensor) -> Tensor:
        """Any shape in and out."""
        return 3.0 * torch.tanh(latents / 3.0)


def taef2_encoder() -> nn.Sequential:
    """Build TAEF2's encoder: three times down by 2, three blocks each; the coarsest ones are pooled."""
    layers: list[nn.Module] = [nn.Conv2d(3, WIDTH, 3, padding=1), PooledBlock(pooled=False)]
    for stage in range(3):
        layers.append(nn.Conv2d(WIDTH, WIDTH, 3, stride=2, padding=1, bias=False))
        layers += [PooledBlock(pooled=stage == 2) for _ in range(3)]
    return nn.Sequential(*layers, nn.Conv2d(WIDTH, LATENTS, 3, padding=1))


def taef2_decoder() -> nn.Sequential:
    """Build TAEF2's decoder: the mirror of the encoder, without a pooled block but in the first three."""
    layers: list[nn.Module] = [SoftClamp(), nn.Conv2d(LATENTS, WIDTH, 3, padding=1), nn.ReLU()]
    for stage in range(3):
        layers += [PooledBlock(pooled=stage == 0) for _ in range(3)]
        layers += [nn.Upsample(scale_factor=2), nn.Conv2d(WIDTH, WIDTH, 3, padding=1, bias=False)]
    return nn.Sequential(*layers, PooledBlock(pooled=False), nn.Conv2d(WIDTH, 3, 3, padding=1))


def _conv() -> nn.Conv2d:
    return nn.Conv2d(WIDTH, WIDTH, 3, padding=1)


def _taef2_files(source: str) -> tuple[Path, Path] | None:
    """The two files, where `source` is their folder or the beginning of their names."""
    path = Path(source).expanduser()
    candidates = [path / "taef2_", path / ""] if path.is_dir() else [path]
    for prefix in candidates:
        start = f"{prefix}/" if prefix == path and path.is_dir() else str(prefix)
        encoder, decoder = Path(f"{start}encoder.safetensors"), Path(f"{start}decoder.safetensors")
        if encoder.is_file() and decoder.is_file():
            return encoder, decoder
    return None


def _taef2(encoder_file: Path, decoder_file: Path, *, device: str | torch.device) -> Autoencoder:
    encoder, decoder = taef2_encoder(), taef2_decoder()
    for module, path in ((encoder, encoder_file), (decoder, decoder_file)):
        try:
            module.load_state_dict(load_file(path))
        except Exception as error:  # safetensors and torch raise different classes
            reason = str(error).splitlines()[0]
            raise ValueError(f"Expected the weights of TAEF2's tiny autoencoder in '{path}', got: {reason}") from error
        module.eval().requires_grad_(False).to(device)
    return Autoencoder(encoder, lambda latents: decoder(latents).clamp(0, 1), multiple=8, name="taef2")


def _from_diffusers(source: str, *, device: str | torch.device) -> Autoencoder:
    diffusers = require("diffusers", extra="diffusion")
    known = {"AutoencoderTiny": diffusers.AutoencoderTiny, "AutoencoderKL": diffusers.AutoencoderKL}
    path = Path(source).expanduser()
    location = str(path) if path.exists() else source
    try:
        kind = diffusers.AutoencoderKL.load_config(location)["_class_name"]
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise FileNotFoundError(f"Expected an autoencoder that diffusers saved at '{source}', got: {reason}") from error
    if kind not in known:
        raise ValueError(f"Expected {' or '.join(known)} at '{source}', got {kind}.")
    model = known[kind].from_pretrained(location).eval().requires_grad_(False).to(device)
    multiple = 2 ** (len(_blocks(model.config)) - 1)
    if kind == "AutoencoderTiny":
        return Autoencoder(
            lambda images: cast("Tensor", model.encode(2 * images - 1).latents),
            lambda latents: (model.decode(latents).sample / 2 + 0.5).clamp(0, 1),
            multiple=multiple,
            name=kind,
        )
    return Autoencoder(  # the mean of the posterior, so that the same image always gives the same latents
        lambda images: cast("Tensor", model.encode(2 * images - 1).latent_dist.mode()),
        lambda latents: (model.decode(latents).sample / 2 + 0.5).clamp(0, 1),
        multiple=multiple,
        name=kind,
    )


def _blocks(config: Any) -> tuple[int, ...]:
    """Output channels per resolution: one more resolution than there are halvings."""
    return tuple(getattr(config, "encoder_block_out_channels", None) or config.block_out_channels)
