"""Networks of segmentation-models-pytorch: "smp:ARCHITECTURE/ENCODER"."""

from __future__ import annotations

import difflib
from typing import Any

import segmentation_models_pytorch as library
import timm
import torch
from segmentation_models_pytorch.encoders import encoders
from torch import nn

from forensegm.lookup import unknown_name
from forensegm.models.segmenter import Network
from forensegm.models.weights import load_encoder

# SMP's encoders shrink an image by at most this factor; some architectures accept less, none needs more.
STRIDE = 32
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def encoder_names() -> list[str]:
    """Encoders of SMP's own; what it takes from timm goes by timm's name."""
    return sorted({name.removeprefix("timm-") for name in encoders})


def names() -> list[str]:
    """Return every "architecture/encoder"; any other timm network is an encoder as well, by its timm name."""
    return [f"{arch}/{encoder}" for arch in library.MODEL_ARCHITECTURES_MAPPING for encoder in encoder_names()]


def build(name: str, *, classes: int, channels: int, weights: str) -> Network:
    """Build "architecture/encoder" with `channels` input channels, RGB first.

    Raises:
        ValueError: an unknown half of the name, or two halves that do not go together.
    """
    arch, _, short = name.partition("/")
    if not short:
        raise ValueError(f"Expected smp:ARCHITECTURE/ENCODER, for example smp:unet/resnet18, got 'smp:{name}'.")
    if arch not in library.MODEL_ARCHITECTURES_MAPPING:
        raise unknown_name(arch, library.MODEL_ARCHITECTURES_MAPPING, what="architecture of smp")
    encoder = full_name(short)
    try:
        module = library.create_model(arch, encoder, encoder_weights=None, in_channels=channels, classes=classes)
    except (ValueError, NotImplementedError, KeyError, TypeError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ValueError(
            f"Expected architecture '{arch}' and encoder '{short}' to go together, got: {reason}"
        ) from error
    mean, std = statistics(encoder)
    origin = load_encoder(module.encoder, encoder, weights=weights)
    if arch == "pspnet" and not torch.is_inference_mode_enabled():  # what is made in that mode is never trained
        freeze_unused(module, channels=channels)
    return Network(module, stride=STRIDE, mean=mean, std=std, origin=origin, encoder=module.encoder)


def freeze_unused(module: nn.Module, *, channels: int) -> None:
    """Take what no output depends on out of training: PSPNet reads three of an encoder's five stages, SMP keeps all.

    Training in several processes waits for a gradient of every parameter that is trained.
    """
    module.eval()
    parameters = list(module.parameters())
    with torch.enable_grad():
        outputs = module(torch.zeros(1, channels, 2 * STRIDE, 2 * STRIDE))
        gradients = torch.autograd.grad(outputs.sum(), parameters, allow_unused=True)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.requires_grad_(gradient is not None)
    module.train()


def full_name(encoder: str) -> str:
    """SMP's name of an encoder: its own, or "tu-NAME" for one of timm's; raises ValueError for an unknown one."""
    if encoder in encoders and not encoder.startswith("timm-"):
        return encoder
    timm_name = encoder.removeprefix("timm-").removeprefix("tu-")
    if timm.is_model(timm_name):
        return f"tu-{timm_name}"
    if f"timm-{timm_name}" in encoders:
        return f"timm-{timm_name}"
    close = difflib.get_close_matches(encoder, timm.list_models(), n=2)  # of more than a thousand: never all of them
    raise unknown_name(encoder, {*encoder_names(), *close}, what="encoder of smp")


def statistics(encoder: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation that the encoder's ImageNet weights were trained with."""
    if encoder.startswith("tu-"):
        config = timm.get_pretrained_cfg(encoder.removeprefix("tu-"))
        return (config.mean, config.std) if config else (IMAGENET_MEAN, IMAGENET_STD)
    settings: dict[str, dict[str, Any]] = encoders[encoder].get("pretrained_settings") or {}
    first = settings.get("imagenet") or next(iter(settings.values()), {})
    return tuple(first.get("mean", IMAGENET_MEAN)), tuple(first.get("std", IMAGENET_STD))
