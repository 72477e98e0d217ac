"""Where a model computes, and in what precision."""

from __future__ import annotations

from typing import Any

from forensegm.lookup import require


def best_device(name: str) -> str:
    """Resolve "auto" to cuda, mps or cpu, whichever there is; any other name is returned as it is."""
    torch = require("torch", extra="diffusion")
    if name != "auto":
        return name
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def torch_dtype(name: str, device: str) -> Any:
    """Resolve a precision; auto is bf16 on an accelerator and fp32 on the CPU, where it is exact on every machine."""
    torch = require("torch", extra="diffusion")
    table = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    return table[name] if name != "auto" else (torch.float32 if device == "cpu" else torch.bfloat16)
