"""An editor that only goes through an autoencoder: the trace of latent diffusion without any new content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from forensegm.edits.editors.base import BatchFunction, Editor, EditorOutput, EditTask
from forensegm.edits.editors.diffusion.fit import pad

# Standard deviation of the noise that is added inside the region, as a factor of the latents' own. Up to a third the
# content stays what it was; 0 is the bare round trip.
LARGEST_NOISE = 0.33
ABOUT = "Autoencoder round trip with noise on the latents in the region: the trace of latent diffusion alone"
DEFAULTS: dict[str, Any] = {"model": "madebyollin/taesd", "noise": LARGEST_NOISE}


def edit(autoencoder: Any, options: Mapping[str, Any], tasks: Sequence[EditTask]) -> list[EditorOutput]:
    """Encode, disturb the latents inside the region by a drawn amount of noise, decode."""
    return [_edit(autoencoder, options, task) for task in tasks]


def _edit(autoencoder: Any, options: Mapping[str, Any], task: EditTask) -> EditorOutput:
    import torch

    cell = autoencoder.multiple
    padded = pad(task.image, task.region, multiple=cell, smallest=cell, cell=cell)
    noise = float(task.rng.uniform(0, float(options["noise"])))
    seed = int(task.rng.integers(2**31))
    device = options["device"]
    images = torch.from_numpy(padded.image.astype(np.float32) / 255).permute(2, 0, 1)[None].to(device)
    with torch.inference_mode():
        latents = autoencoder.encode(images)
        inside = torch.from_numpy(padded.region[::cell, ::cell].astype(np.float32)).to(device)
        drawn = torch.randn(latents.shape, generator=torch.Generator("cpu").manual_seed(seed)).to(device)
        decoded = autoencoder.decode(latents + noise * latents.std() * inside * drawn)
    image = (decoded[0].permute(1, 2, 0) * 255).round().to(torch.uint8).cpu().numpy()
    parameters = {"autoencoder": autoencoder.name, "noise": round(noise, 4), "pipeline_seed": seed}
    return EditorOutput(padded.cut(image)[0], {"model": options["model"], **parameters})


def load(options: Mapping[str, Any]) -> BatchFunction:
    """Load the autoencoder that `options["model"]` names; raises as `load_autoencoder` does."""
    from forensegm.autoencoder import load_autoencoder
    from forensegm.edits.editors.diffusion.devices import best_device

    device = best_device(str(options["device"]))
    return partial(edit, load_autoencoder(options["model"], device=device), {**options, "device": device})


AUTOENCODER = Editor(kinds=("change",), load=load, defaults=DEFAULTS, models=("model",), about=ABOUT)
