"""Networks of segmentation-models-pytorch: "smp:ARCHITECTURE/ENCODER"."""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Mapping, Sequence
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
# Shorter sides leave nothing to pool: PAN halves a map of 1/16 three times more.
MINIMUM = {"pan": 128}
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

# Encoders, by the beginning of their names, that SMP refuses in an architecture: what cannot be dilated, and what has
# no first stage at half size.
UNDILATED = ("densenet", "inception", "vgg", "xception")
REFUSED = {"deeplabv3": UNDILATED, "deeplabv3plus": UNDILATED, "pan": UNDILATED} | dict.fromkeys(
    ("linknet", "unetplusplus"), ("mit_",)
)
# Architectures that do not read all of what their encoder computes.
PARTLY_UNUSED = ("dpt", "pspnet", "unetplusplus")
# Ways to ask timm for a network of one image size to take others: its vision transformers, and its Swin ones.
ANY_SIZE: tuple[dict[str, Any], ...] = ({"dynamic_img_size": True}, {"strict_img_size": False}, {})
DOES_NOT_FIT = (ValueError, NotImplementedError, KeyError, TypeError, RuntimeError, AssertionError, IndexError)


def encoder_names() -> list[str]:
    """Encoders of SMP's own; what it takes from timm goes by timm's name."""
    return sorted({name.removeprefix("timm-") for name in encoders})


def names() -> list[str]:
    """Return every "architecture/encoder" of SMP's own; other timm networks are encoders as well, by their timm names.

    DPT takes vision transformers alone, of which SMP has none of its own: timm's of patches of 8, 16 and 32 are listed.
    """
    transformers = [
        name for size in (8, 16, 32) for name in timm.list_models(f"vit_*_patch{size}_*", exclude_filters="*relpos*")
    ]
    pairs = [f"dpt/{encoder}" for encoder in transformers]
    for arch in library.MODEL_ARCHITECTURES_MAPPING:
        if arch != "dpt":
            pairs += [f"{arch}/{name}" for name in encoder_names() if not name.startswith(REFUSED.get(arch, ()))]
    return pairs


def build(name: str, *, classes: int, channels: int, weights: str, options: Mapping[str, Any] | None = None) -> Network:
    """Build "architecture/encoder" with `channels` input channels, RGB first, and SMP's further arguments.

    Raises:
        ValueError: an unknown half of the name, or two halves or arguments that do not go together.
    """
    arch, _, short = name.partition("/")
    if not short:
        raise ValueError(f"Expected smp:ARCHITECTURE/ENCODER, for example smp:unet/resnet18, got 'smp:{name}'.")
    if arch not in library.MODEL_ARCHITECTURES_MAPPING:
        raise unknown_name(arch, library.MODEL_ARCHITECTURES_MAPPING, what="architecture of smp")
    encoder = full_name(short)
    try:
        module = bare_module(arch, encoder, channels=channels, classes=classes, options=options or {})
    except DOES_NOT_FIT as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        given = f" and model.options {dict(options)}" if options else ""
        raise ValueError(
            f"Expected architecture '{arch}' and encoder '{short}'{given} to go together, got: {reason}"
        ) from error
    mean, std = statistics(encoder)
    pretrained = module.get_submodule("encoder")
    origin = load_encoder(pretrained, encoder, weights=weights)
    if arch in PARTLY_UNUSED and not torch.is_inference_mode_enabled():  # what is made in that mode is never trained
        freeze_unused(module, channels=channels)
    return Network(
        module, stride=STRIDE, mean=mean, std=std, origin=origin, encoder=pretrained, minimum=MINIMUM.get(arch, 0)
    )


def bare_module(arch: str, encoder: str, *, channels: int, classes: int, options: Mapping[str, Any]) -> nn.Module:
    """Build SMP's module with random weights, for images of any size."""
    config = timm.get_pretrained_cfg(encoder.removeprefix("tu-")) if encoder.startswith("tu-") else None
    fixed = config is not None and config.fixed_input_size
    fixed_here = {"in_channels": channels, "classes": classes, "encoder_weights": None}
    check_options(arch, options, taken=("encoder_name", *fixed_here))
    attempts = ANY_SIZE if fixed else ({},)
    for further in attempts:
        try:
            with warnings.catch_warnings():
                # Both are about how SMP is called here, and no concern of the user.
                warnings.filterwarnings("ignore", message="`timm-` encoders are deprecated")
                warnings.filterwarnings("ignore", message="Encoder does not have prefix tokens")
                module: nn.Module = library.create_model(arch, encoder, **fixed_here, **options, **further)
            break
        except TypeError:
            if further is attempts[-1]:
                raise
    if fixed:
        check_any_size(module, channels=channels)
    return module


def check_options(arch: str, options: Mapping[str, Any], *, taken: Sequence[str]) -> None:
    """Raise ValueError for arguments that SMP's class does not name: it would swallow them."""
    known = inspect.signature(library.MODEL_ARCHITECTURES_MAPPING[arch].__init__).parameters
    free = [name for name, part in known.items() if name not in ("self", *taken) and part.kind is not part.VAR_KEYWORD]
    for name in options:
        if name not in free:
            raise unknown_name(name, free, what=f"argument of smp:{arch} that is yours to set")


def check_any_size(module: nn.Module, *, channels: int) -> None:
    """Raise an error unless a network that was made for one size also takes a long, narrow image."""
    module.eval()
    with torch.inference_mode():
        images = torch.zeros(1, channels, STRIDE, 15 * STRIDE)
        logits = module(images)
    if logits.shape[-2:] != images.shape[-2:]:
        raise ValueError(f"an encoder that takes images of one size only (its own stride does not divide {STRIDE})")
    module.train()


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
