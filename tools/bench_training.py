"""What the training loop costs over a bare forward, backward and step of the same model on the same batches.

    python tools/bench_training.py [--steps 40] [--model smp:unet/tf_efficientnet_lite0] [--crop 256] [--batch 8]

Steps of both kinds alternate; the median of the ratio within a pair counts. The loop's side is `train_epoch` itself on
batches held in memory: schedule, clipping, moving average, finiteness check with buffer snapshot, log line, wandb and
progress call. The bare side is forward under the same autocast, loss, backward and the same fused AdamW. One epoch
with the real loader shows the share of time spent waiting for data. Results go to experiments/results/training.json.
About two minutes on 2 cores.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from forensegm.config import Config
from forensegm.datasets.records import DatasetMeta, Record, write_dataset_yaml, write_records
from forensegm.imageio import write_image, write_json, write_mask
from forensegm.sample import LabelSpace
from forensegm.training.batches import to_device
from forensegm.training.loop import train_epoch
from forensegm.training.parts import build_parts
from forensegm.training.run import Run, silent, start
from forensegm.training.schedule import make_optimizer

ROOT = Path(__file__).resolve().parents[1]
WARMUP = 3


def write_data(root: Path, *, count: int, side: int) -> str:
    """Write `count` images of noise with a square edit, and two to validate on; return the data source."""
    rng = np.random.default_rng(0)
    records = []
    for number in range(count + 2):
        mask = np.zeros((side, side), dtype=np.uint8)
        mask[side // 4 : side // 2, side // 4 : side // 2] = 1 + number % 6
        name = f"{number:03d}"
        write_image(root / "images" / f"{name}.png", rng.integers(0, 256, (side, side, 3), dtype=np.uint8))
        write_mask(root / "masks" / f"{name}.png", mask)
        records.append(
            Record(
                id=name,
                image=f"images/{name}.png",
                mask=f"masks/{name}.png",
                turns=None,
                split="train" if number < count else "val",
                group=name,
                size=[side, side],
                base="photo",
                codec={"codec": "PNG", "quality": None, "subsampling": None},
                source={"name": "noise"},
                edits=[],
            )
        )
    write_dataset_yaml(root, DatasetMeta("noise", "1", LabelSpace.opaque(6), "ids", "CC0-1.0", {}, {}))
    write_records(root, records)
    return f"native:{root}"


def bare_step(run: Run) -> Callable[[dict], None]:
    """A plain step on a copy of the run's model, with the same precision and optimizer."""
    device = run.accelerator.device
    model = run.average.model.train().requires_grad_(True)
    optimizer = make_optimizer(model, run.config.optim, device=device)
    scaler = torch.amp.GradScaler(device.type, enabled=run.accelerator.mixed_precision == "fp16")

    def step(batch: dict) -> None:
        images, masks = to_device(batch, device)
        with run.accelerator.autocast():
            logits = model(images)
        loss = run.parts.loss(logits.float(), masks)["total"]
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        loss.item()

    return step


def timed(action: Callable[[], object], device: torch.device) -> float:
    """Seconds of one call, the device's work included."""
    started = time.perf_counter()
    action()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started


def interleave(run: Run, *, steps: int) -> dict[str, float]:
    """Median seconds of a loop step and of a bare step, taken in turn on the same batches, and of their ratio."""
    device = run.accelerator.device
    batches = list(run.loader)
    bare = bare_step(run)
    times: dict[str, list[float]] = {"loop": [], "bare": []}
    for number in range(steps + WARMUP):
        batch = batches[number % len(batches)]
        run.loader = [batch]
        pair = [("loop", lambda: train_epoch(run, 0)), ("bare", lambda batch=batch: bare(batch))]
        for name, action in pair if number % 2 else pair[::-1]:
            seconds = timed(action, device)
            if number >= WARMUP:
                times[name].append(seconds)
    loop, plain = (statistics.median(times[name]) for name in ("loop", "bare"))
    # The two of a pair ran one after the other, so that other load on the machine falls on both alike.
    ratio = statistics.median(a / b for a, b in zip(times["loop"], times["bare"], strict=True))
    return {"loop_seconds": loop, "bare_seconds": plain, "loop_over_bare": ratio, "steps": steps}


def cpu_name() -> str:
    """The processor's name where Linux tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def machine(device: torch.device) -> dict[str, object]:
    """What the numbers were measured on."""
    return {
        "device": torch.cuda.get_device_name() if device.type == "cuda" else cpu_name(),
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--model", default="smp:unet/tf_efficientnet_lite0")
    parser.add_argument("--crop", type=int, default=256)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results" / "training.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config = Config()
        config.data.source = write_data(Path(folder) / "data", count=4 * options.batch, side=options.crop + 64)
        config.data.batch_size, config.data.crop, config.data.workers = options.batch, options.crop, options.workers
        config.model.name, config.model.weights = options.model, "none"
        config.train.out, config.train.precision = str(Path(folder) / "run"), options.precision
        config.track.wandb = "offline"
        run = start(config, build_parts(config), progress=silent)
        real = train_epoch(run, 0)
        result = {
            "model": options.model,
            "crop": options.crop,
            "batch": options.batch,
            "precision": run.accelerator.mixed_precision.replace("no", "fp32"),
            "workers": options.workers,
            "images_per_second": real["train/images_per_second"],
            "data_wait": real["train/data_wait"],
            **interleave(run, steps=options.steps),
            "machine": machine(run.accelerator.device),
        }
        run.tracker.finish()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_json(options.out, result)
    print(f"loop {1000 * result['loop_seconds']:.1f} ms, bare {1000 * result['bare_seconds']:.1f} ms per step")
    print(
        f"ratio {result['loop_over_bare']:.3f}, data wait {100 * result['data_wait']:.0f} %, written to {options.out}"
    )


if __name__ == "__main__":
    main()
