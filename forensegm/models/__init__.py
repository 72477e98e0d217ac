"""Build segmentation networks by name: `create_model("smp:unet/tf_efficientnet_lite0", classes=8)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

from torch import nn

from forensegm.frontends import make_frontend
from forensegm.lookup import import_part, unknown_name
from forensegm.models import smp
from forensegm.models.segmenter import Network, Segmenter

__all__ = ["SOURCES", "Segmenter", "Source", "create_model", "list_models"]


@dataclass(frozen=True)
class Source:
    """Where networks of one library come from.

    Attributes:
        build: build(name, classes=, channels=, weights=, options=) -> Network, `name` without the prefix of the source.
        names: the names that `build` takes.
    """

    build: Callable[..., Network]
    names: Callable[[], list[str]]


SOURCES: dict[str, Source] = {"smp": Source(smp.build, smp.names)}

# Normalization of a network of the user's own, whose statistics are not known: to -1..1.
OWN_STRIDE, OWN_MEAN, OWN_STD = 32, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)


def create_model(
    name: str,
    *,
    classes: int,
    weights: str = "imagenet",
    frontend: str = "none",
    options: Mapping[str, Any] | None = None,
    trusted: bool = False,
) -> Segmenter:
    """Build a network that takes images in 0..1 of any size and returns logits at that size.

    Args:
        name: "source:name" (see `list_models`), or with `trusted` "pkg.mod:fn" of your own: it is called as
            fn(classes=, channels=, **options) and returns a module from float Bx(channels)xHxW, normalized to -1..1,
            with H and W multiples of 32, to logits Bx(classes)xHxW.
        classes: number of classes, the authentic one included.
        weights: initial weights of the encoder: "imagenet", "none" (random), or the path of a .safetensors file or
            state dict of the encoder.
        frontend: name of a forensic front end whose channels stand beside RGB (see `forensegm.frontends`).
        options: further arguments of the network, as its library (or your function) calls them.
        trusted: whether `name` is the user's own word, so that "pkg.mod:fn" may be imported.

    Raises:
        ValueError: an unknown name, fewer than two classes, or weights that do not fit.
        FileNotFoundError: no such file of weights.
        RuntimeError: weights that would have to be downloaded, where no hub is reachable.

    >>> create_model("smp:unet/resnet18", classes=3, weights="none").classes
    3
    """
    if classes < 2:
        raise ValueError(f"Expected at least 2 classes (authentic and one editor), got {classes}.")
    filters = make_frontend(frontend)
    channels = 3 + (int(filters.channels) if filters is not None else 0)  # type: ignore[arg-type]
    source, _, rest = name.partition(":")
    if source in SOURCES:
        network = SOURCES[source].build(
            rest, classes=classes, channels=channels, weights=weights, options=options or {}
        )
    elif trusted and rest.isidentifier():
        network = own_network(name, classes=classes, channels=channels, options=options or {})
    elif rest.isidentifier():
        raise ValueError(
            f"{unknown_name(source, SOURCES, what='model source')} A function of your own is imported only where you "
            f"name it yourself (of a checkpoint: pass trusted_name={name})."
        )
    elif rest:
        raise unknown_name(source, SOURCES, what="model source")
    else:
        raise ValueError(f"Expected a model as source:name, for example smp:unet/resnet18, got '{name}'.")
    spec = {
        "name": name,
        "classes": classes,
        "frontend": frontend,
        "weights": network.origin,
        "options": dict(options or {}),
    }
    return Segmenter(network, spec=spec, frontend=filters)


def own_network(name: str, *, classes: int, channels: int, options: Mapping[str, Any]) -> Network:
    """Build the network of a user's function."""
    module = import_part(name, what="model")(classes=classes, channels=channels, **options)
    if not isinstance(module, nn.Module):
        raise ValueError(f"Expected '{name}' to return a torch module, got {type(module).__name__}.")
    return Network(module, stride=OWN_STRIDE, mean=OWN_MEAN, std=OWN_STD, origin="as the function made them")


def list_models(pattern: str = "*") -> list[str]:
    """Return the names of all built-in networks that match a pattern such as "smp:unet/*", sorted."""
    names = [f"{prefix}:{name}" for prefix, source in SOURCES.items() for name in source.names()]
    return sorted(name for name in names if fnmatch(name, pattern))
