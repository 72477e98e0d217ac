"""Items as tensors, and batches of them: padded, never resized, since resizing destroys traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
import torch

from forensegm.sample import IGNORE


class Item(TypedDict, total=False):
    """What indexing a `TorchDataset` gives.

    Attributes:
        image: uint8 3xHxW; missing for a broken item.
        mask: uint8 HxW; likewise.
        id: of the item.
        index: its number in the data set.
        error: only for a broken item: what is wrong, in one line.
    """

    image: torch.Tensor
    mask: torch.Tensor
    id: str
    index: int
    error: str


class Batch(TypedDict):
    """What `collate` gives.

    Attributes:
        images: uint8 Bx3xHxW, padded right and bottom with 0; None where every item is broken.
        masks: uint8 BxHxW, padded with 255 (ignore); None likewise.
        sizes_hw: height and width of each image before padding.
        ids: of the B images.
        indices: their numbers in the data set.
        errors: (id, message) of each broken item.
    """

    images: Any
    masks: Any
    sizes_hw: list[tuple[int, int]]
    ids: list[str]
    indices: list[int]
    errors: list[tuple[str, str]]


def collate(items: Sequence[Item]) -> Batch:
    """Pad items to their largest height and width and stack them; broken ones are listed under errors.

    Images are in memory as channels last, which is how they were decoded and what convolutions are fast on.
    """
    good = [item for item in items if "error" not in item]
    sizes = [(item["mask"].shape[0], item["mask"].shape[1]) for item in good]
    images = masks = None
    if good:
        height, width = max(h for h, _ in sizes), max(w for _, w in sizes)
        # NumPy copies these small pieces in one thread; PyTorch wakes its pool for each, which costs far more.
        pixels = np.zeros((len(good), height, width, 3), dtype=np.uint8)
        labels = np.full((len(good), height, width), IGNORE, dtype=np.uint8)
        for row, (item, (h, w)) in enumerate(zip(good, sizes, strict=True)):
            pixels[row, :h, :w] = item["image"].permute(1, 2, 0).numpy()
            labels[row, :h, :w] = item["mask"].numpy()
        images, masks = torch.from_numpy(pixels).permute(0, 3, 1, 2), torch.from_numpy(labels)
    return {
        "images": images,
        "masks": masks,
        "sizes_hw": sizes,
        "ids": [item["id"] for item in good],
        "indices": [item["index"] for item in good],
        "errors": [(item["id"], item["error"]) for item in items if "error" in item],
    }
