"""Another framework's loader, timed in its own environment for tools/bench_data.py; it imports nothing of forensegm.

    python tools/peer_loaders.py imdlbenco|mmseg FOLDER

Each line of standard input, {"mode": "train" | "eval", "codec": "jpeg" | "png", "workers": N}, is answered by a line
with the seconds and the number of images of one pass over FOLDER (images/CODEC, masks, CODEC.json).
"""

from __future__ import annotations

import json
import logging
import sys
import time
import types
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

CROP, BATCH = 512, 8


def imdlbenco(folder: Path, mode: str, codec: str) -> Any:
    """IMDLBenCo's `JsonDataset` as its training scripts make it: padded for evaluation; for training crop and flip."""
    import albumentations
    from IMDLBenCo.datasets import JsonDataset

    if mode == "eval":
        return JsonDataset(str(folder / f"{codec}.json"), is_padding=True, output_size=(1024, 1024))
    both = albumentations.Compose(
        [albumentations.RandomCrop(CROP, CROP), albumentations.HorizontalFlip(), albumentations.VerticalFlip()]
    )
    size = (CROP, CROP)
    return JsonDataset(str(folder / f"{codec}.json"), is_padding=True, output_size=size, common_transforms=both)


def mmseg(folder: Path, mode: str, codec: str) -> Any:
    """mmsegmentation's `BaseSegDataset` with its standard pipelines, less the resizing."""
    without_compiled_operators()
    from mmengine.registry import init_default_scope
    from mmseg.datasets import BaseSegDataset

    init_default_scope("mmseg")
    logging.disable(logging.WARNING)
    crop = [{"type": "RandomCrop", "crop_size": (CROP, CROP)}, {"type": "RandomFlip", "prob": 0.5}]
    return BaseSegDataset(
        data_prefix={"img_path": str(folder / "images" / codec), "seg_map_path": str(folder / "masks")},
        img_suffix=".jpg" if codec == "jpeg" else ".png",
        seg_map_suffix=".png",
        metainfo={"classes": ("authentic", "edited")},
        pipeline=[
            {"type": "LoadImageFromFile"},
            {"type": "LoadAnnotations"},
            *(crop if mode == "train" else []),
            {"type": "PackSegInputs"},
        ],
    )


def without_compiled_operators() -> None:
    """Let mmcv-lite, which ships no compiled operators, be imported: loading uses none of them."""
    stand_in = types.ModuleType("mmcv._ext")
    stand_in.__spec__ = ModuleSpec("mmcv._ext", loader=None)

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_args, **_options: None

    stand_in.__getattr__ = missing  # type: ignore[method-assign]
    sys.modules["mmcv._ext"] = stand_in


def one_pass(dataset: Any, workers: int) -> tuple[float, int]:
    """Seconds and images of one pass with a fresh `DataLoader`, once its workers have started."""
    from torch.utils.data import DataLoader

    loader = DataLoader(dataset, batch_size=BATCH, num_workers=workers, shuffle=True, collate_fn=as_it_is(dataset))
    images = 0
    started = time.perf_counter()
    for batch in loader:
        images += len(batch["inputs"] if "inputs" in batch else batch["image"])
    return time.perf_counter() - started, images


def as_it_is(dataset: Any) -> Any:
    """mmengine's own collation, or PyTorch's."""
    if type(dataset).__module__.startswith("mmseg"):
        from mmengine.dataset import pseudo_collate

        return pseudo_collate
    return None


def main() -> None:
    """Answer line by line."""
    import torch

    build = {"imdlbenco": imdlbenco, "mmseg": mmseg}[sys.argv[1]]
    torch.set_num_threads(1)
    answers, sys.stdout = sys.stdout, sys.stderr  # the libraries print
    for line in sys.stdin:
        asked = json.loads(line)
        dataset = build(Path(sys.argv[2]), asked["mode"], asked["codec"])
        seconds, images = one_pass(dataset, asked["workers"])
        print(json.dumps({"seconds": seconds, "images": images}), file=answers, flush=True)


if __name__ == "__main__":
    main()
