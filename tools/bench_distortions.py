"""Time our distortions against torchvision's v2 functional ones on the same arrays, and print ratios.

    python tools/bench_distortions.py [--sizes 512 1024] [--threads 1] [--repeats 30] [--out FILE.json]

Runs are interleaved (one of ours, one of theirs, again), so that whatever else the machine does meets both, and medians
are compared. A ratio above 1 means that ours is faster. One thread is what a loader worker has.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
import torchvision
import torchvision.transforms.v2.functional as theirs
from skimage import data

from forensegm.distortions import parse_chain
from forensegm.distortions.ops import LIBRARIES
from forensegm.sample import Image

RESULTS = Path(__file__).resolve().parents[1] / "experiments" / "results" / "distortions.json"

# Our chain, and the torchvision call that does the same work on a uint8 tensor 3xHxW.
PAIRS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "jpeg(90)": lambda image: theirs.jpeg(image, 90),
    "jpeg(50)": lambda image: theirs.jpeg(image, 50),
    "resize(0.75)": lambda image: resized(image, 0.75),
    "resize(0.5)": lambda image: resized(image, 0.5),
    "resize(1.5)": lambda image: resized(image, 1.5),
    "blur(1)": lambda image: theirs.gaussian_blur(image, [7, 7], [1.0]),
    "blur(2)": lambda image: theirs.gaussian_blur(image, [13, 13], [2.0]),
}


def resized(image: torch.Tensor, factor: float) -> torch.Tensor:
    """Antialiased bilinear to shrink, bicubic to enlarge: torchvision's nearest to ours."""
    mode = theirs.InterpolationMode.BILINEAR if factor < 1 else theirs.InterpolationMode.BICUBIC
    size = [round(side * factor) for side in image.shape[1:]]
    return theirs.resize(image, size, interpolation=mode, antialias=True)


def photograph(size: int) -> Image:
    """A square photograph of scikit-image, mirrored to the size asked for."""
    image = data.astronaut()
    while image.shape[0] < size:
        image = np.concatenate([image, image[::-1]])
        image = np.concatenate([image, image[:, ::-1]], axis=1)
    return np.ascontiguousarray(image[:size, :size])


def interleaved(calls: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Median time of each call in milliseconds; every round runs all of them once."""
    times = np.empty((repeats + 2, len(calls)))
    for row in times:
        for index, call in enumerate(calls):
            start = time.perf_counter()
            call()
            row[index] = time.perf_counter() - start
    return [float(value) for value in np.median(times[2:], axis=0) * 1000]


def compare(chain_text: str, image: Image, repeats: int) -> dict[str, Any]:
    """Time one pair on one image, and say how far apart their results are."""
    chain, call, rng = parse_chain(chain_text), PAIRS[chain_text], np.random.default_rng(0)
    tensor = torch.from_numpy(image).permute(2, 0, 1).contiguous()
    ours_ms, theirs_ms = interleaved([lambda: chain.apply(image, rng=rng), lambda: call(tensor)], repeats)
    difference = chain.apply(image, rng=rng)[0].astype(int) - call(tensor).permute(1, 2, 0).numpy()
    return {
        "chain": chain_text,
        "side": image.shape[0],
        "ours_ms": round(ours_ms, 3),
        "torchvision_ms": round(theirs_ms, 3),
        "ratio": round(theirs_ms / ours_ms, 2),
        "mean_difference": round(float(np.abs(difference).mean()), 3),
    }


def machine(threads: int) -> dict[str, Any]:
    """What the numbers were taken on."""
    return {
        "processor": cpu_name(),
        "cores": os.cpu_count(),
        "threads": threads,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
        **{name: version() for name, version in LIBRARIES.items()},
    }


def cpu_name() -> str:
    """Model name of the processor, where Linux tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def main() -> None:
    """Run all pairs and print one table."""
    parser = argparse.ArgumentParser(description="Time our distortions against torchvision's.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024], help="sides of the square test images")
    parser.add_argument("--threads", type=int, default=1, help="threads of OpenCV and torch")
    parser.add_argument("--repeats", type=int, default=30, help="rounds that the medians are taken over")
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON file to write the results to")
    args = parser.parse_args()
    cv2.setNumThreads(args.threads)
    torch.set_num_threads(args.threads)
    rows = [compare(chain, photograph(size), args.repeats) for size in args.sizes for chain in PAIRS]
    described = machine(args.threads)
    print(", ".join(f"{name}: {value}" for name, value in described.items()))
    print("\n| distortion | side | ours, ms | torchvision, ms | torchvision / ours | mean difference |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({"machine": described, "rows": rows}, indent=2) + "\n")
    print(f"\nWrote {args.out}")


if __name__ == "__main__":
    main()
