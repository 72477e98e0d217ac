"""Load a pipeline of diffusers, and put it where it computes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forensegm.edits.editors.diffusion.devices import best_device, torch_dtype
from forensegm.lookup import require

logger = logging.getLogger(__name__)

NO_LIMIT = 100_000  # tokenizers without a limit state a huge one
DENOISERS = ("unet", "transformer")


def load_pipeline(kind: str, model: str, options: Mapping[str, Any]) -> Any:
    """Load a pipeline by class name from a folder or a hub.

    Args:
        kind: class in diffusers.
        model: folder that `save_pretrained` wrote, or hub id.
        options: device, dtype, offload, compile, local_files_only.

    Raises:
        RuntimeError: diffusers is missing, or lacks the class.
        ValueError: offloading without an accelerator.
        OSError: no such model.
    """
    diffusers = require("diffusers", extra="diffusion")
    if not hasattr(diffusers, kind):
        raise RuntimeError(f"Expected diffusers to have {kind}, got version {diffusers.__version__}. Update it.")
    for library in (diffusers, require("transformers", extra="diffusion")):
        quieten(library)
    path = Path(model).expanduser()
    device = best_device(str(options["device"]))
    pipeline = getattr(diffusers, kind).from_pretrained(
        str(path) if path.exists() else model,
        dtype=torch_dtype(str(options["dtype"]), device),
        local_files_only=bool(options["local_files_only"]),
    )
    pipeline.set_progress_bar_config(disable=True)
    _place(pipeline, device, str(options["offload"]))
    if options["compile"]:
        _compile(pipeline)
    return pipeline


def quieten(library: Any) -> None:
    """Keep a library's own progress bars and advice out of the build's."""
    library.utils.logging.disable_progress_bar()
    library.utils.logging.set_verbosity_error()


def _place(pipeline: Any, device: str, offload: str) -> None:
    if offload == "none":
        pipeline.to(device)
        return
    if device == "cpu":
        raise ValueError(
            f"Expected an accelerator to offload from, got the CPU. Set edit.offload to none, not {offload}."
        )
    if offload == "model":
        pipeline.enable_model_cpu_offload(device=device)
    else:
        pipeline.enable_sequential_cpu_offload(device=device)


def _compile(pipeline: Any) -> None:
    torch = require("torch", extra="diffusion")
    for name in DENOISERS:
        part = getattr(pipeline, name, None)
        if part is not None:
            setattr(pipeline, name, torch.compile(part))


def cell_of(pipeline: Any) -> int:
    """Pixels per latent cell and side."""
    names = ("vae_scale_factor", "movq_scale_factor")
    return next((int(getattr(pipeline, name)) for name in names if getattr(pipeline, name, None)), 8)


def cut_words(pipeline: Any, prompt: str, *, limit: int = 0) -> tuple[str, dict[str, int]]:
    """Return the prompt as the pipeline will read it, and how many tokens each of its tokenizers has to leave out.

    A prompt that is too long for every tokenizer is cut at a word, so that what is read is what the record says; where
    one tokenizer holds it all, the pipeline cuts for the others. `limit` holds for tokenizers that state none.
    """
    parts = getattr(pipeline, "components", {})
    tokenizers = {
        name: (part, int(most))
        for name, part in parts.items()
        if name.startswith("tokenizer") and part is not None and (most := _limit(part, limit))
    }
    left = {name: _too_many(part, prompt) for name, part in tokenizers.items()}
    if left and all(left.values()):
        words = prompt.split()
        while len(words) > 1 and all(_too_many(part, " ".join(words)) for part in tokenizers.values()):
            words.pop()
        prompt = " ".join(words)
    return prompt, {name: count for name, count in left.items() if count}


def _limit(tokenizer: Any, limit: int) -> int:
    own = getattr(tokenizer, "model_max_length", 0)
    return int(own) if 0 < own < NO_LIMIT else limit


def _too_many(tokenizer: tuple[Any, int], prompt: str) -> int:
    part, most = tokenizer
    return max(0, len(part(prompt, truncation=False)["input_ids"]) - most)
