"""Run-length codes of masks, as COCO writes them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco_mask

from forensegm.imageio import MAX_PIXELS


def rle_encode(mask: NDArray[Any]) -> dict[str, Any]:
    """Run-length code of a bool mask HxW as COCO writes it: {"size": [height, width], "counts": text}."""
    if mask.ndim != 2:
        raise ValueError(f"Expected a mask of shape HxW, got {list(mask.shape)}.")
    code = coco_mask.encode(np.asfortranarray(mask, dtype=np.uint8))
    return {"size": [int(side) for side in code["size"]], "counts": code["counts"].decode("ascii")}


def rle_decode(code: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Bool mask HxW of a run-length code of `rle_encode`; raises ValueError for a broken one."""
    # pycocotools crashes on huge sizes, and leaves the pixels undefined that the runs do not reach: hence both checks.
    try:
        height, width = code["size"]
        if not (height > 0 and width > 0 and height * width <= MAX_PIXELS):
            raise ValueError(f"size {height}x{width}")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "__array__ implementation doesn't accept a copy keyword")  # pycocotools
            mask = coco_mask.decode({"size": [height, width], "counts": code["counts"].encode("ascii")})
        if coco_mask.encode(mask)["counts"] != code["counts"].encode("ascii"):
            raise ValueError("runs that do not fill the size")
    except Exception as error:
        raise ValueError(f"Expected a run-length code with size and counts, got a broken one ({error}).") from error
    return np.asarray(mask, dtype=np.bool_)
