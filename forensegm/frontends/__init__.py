"""Forensic front ends: fixed filters that show a network what an eye, or an ImageNet encoder, smooths away.

A front end turns pixels on the 8-bit scale (float32 Bx3xHxW, 0..255) into further channels of about unit range, which
the network sees beside RGB.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from forensegm.frontends.residual import HighPass, SRMFilters
from forensegm.lookup import lookup

FRONTENDS: dict[str, Callable[[], nn.Module | None]] = {
    "none": lambda: None,
    "srm": SRMFilters,
    "highpass": HighPass,
}

__all__ = ["FRONTENDS", "HighPass", "SRMFilters", "make_frontend"]


def make_frontend(name: str) -> nn.Module | None:
    """Return a front end by name (with its number of output channels as `.channels`), or None for "none".

    Raises:
        ValueError: an unknown name.
    """
    return lookup(FRONTENDS, name, what="front end")()
