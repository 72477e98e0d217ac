"""A vision-language model through transformers: an image and a question in, a text out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from PIL import Image as PillowImage

from forensegm.edits.editors.diffusion.devices import best_device, torch_dtype
from forensegm.lookup import require
from forensegm.sample import Image

DEFAULTS: dict[str, Any] = {"model": "Qwen/Qwen2.5-VL-7B-Instruct", "max_new_tokens": 256, "tries": 3}


@dataclass(frozen=True, eq=False)
class VisionLanguage:
    """A loaded model.

    Attributes:
        model: of transformers, for image-text-to-text.
        processor: that belongs to it.
        max_new_tokens: longest answer.
        tries: answers asked for before giving up.
    """

    model: Any
    processor: Any
    max_new_tokens: int
    tries: int

    def ask(self, images: Sequence[Image], question: str, *, seed: int | None = None) -> str:
        """Return the model's answer; with a `seed` it is sampled, without one the likeliest words are taken."""
        torch = require("torch", extra="diffusion")
        pictures = [{"type": "image", "image": PillowImage.fromarray(image)} for image in images]
        messages = [{"role": "user", "content": [*pictures, {"type": "text", "text": question}]}]
        inputs = self.processor.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        ).to(self.model.device)
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(seed or 0)
            tokens = self.model.generate(**inputs, max_new_tokens=self.max_new_tokens, do_sample=seed is not None)
        answer = tokens[:, inputs["input_ids"].shape[1] :]
        return str(self.processor.batch_decode(answer, skip_special_tokens=True)[0])


def load_vision_language(options: Mapping[str, Any]) -> VisionLanguage:
    """Load model and processor; raises RuntimeError where transformers is missing, OSError where the model is."""
    place = (str(options["device"]), str(options["dtype"]), bool(options["local_files_only"]))
    model, processor = _load_once(str(options["model"]), *place)
    return VisionLanguage(model, processor, int(options["max_new_tokens"]), int(options["tries"]))


@lru_cache(maxsize=1)  # planner and quality check share one
def _load_once(name: str, device: str, dtype: str, local_files_only: bool) -> tuple[Any, Any]:
    transformers = require("transformers", extra="diffusion")
    device = best_device(device)
    model = transformers.AutoModelForImageTextToText.from_pretrained(
        name, dtype=torch_dtype(dtype, device), local_files_only=local_files_only
    )
    processor = transformers.AutoProcessor.from_pretrained(name, local_files_only=local_files_only)
    return model.eval().to(device), processor


def read_json(answer: str, keys: Sequence[str]) -> dict[str, Any]:
    """Read an answer that has to be one JSON object with exactly these keys; a code fence around it is allowed.

    Raises:
        ValueError: anything else, in words that tell why.

    >>> read_json('```json\\n{"score": 7}\\n```', ["score"])
    {'score': 7}
    """
    text = answer.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json").strip()
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Expected one JSON object, got {' '.join(text.split())[:80]!r}.") from error
    if not isinstance(values, dict) or sorted(values) != sorted(keys):
        found = sorted(values) if isinstance(values, dict) else type(values).__name__
        raise ValueError(f"Expected a JSON object with the keys {', '.join(keys)}, got {found}.")
    return values
