"""Which number format a device computes in."""

from __future__ import annotations

import torch

from forensegm.config import Precision

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}

# Instructions of a CPU that compute in bf16, by the names of torch's queries.
CPU_BF16 = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")


def resolve_device(device: str) -> torch.device:
    """Return the device: "auto" is a GPU where there is one, else the CPU; ValueError for one that is not there."""
    if device == "auto":
        kind = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device(kind)
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"Expected a device that is there, got '{device}': {reason}") from error
    return found


def resolve_precision(precision: Precision, device: torch.device) -> str:
    """Return fp32, bf16 or fp16; "auto" is bf16 where the hardware computes in it, and fp32 elsewhere.

    Emulated bf16 is slower than fp32, so that being able to run it is not enough.
    """
    if precision != "auto":
        return precision
    return "bf16" if computes_in_bf16(device) else "fp32"


def computes_in_bf16(device: torch.device) -> bool:
    """Whether the hardware has instructions for bf16."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "cpu":  # the queries are torch's own and private: a torch without them says no
        return any(getattr(torch.cpu, name, bool)() for name in CPU_BF16)
    return False
