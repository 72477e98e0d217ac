"""The whole main job on real photographs in a few minutes: edits, training, evaluation, robustness, report.

It only wires the public parts together; each stage is also a command of its own.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
import platform
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import forensegm
from forensegm.config import (
    Config,
    DataConfig,
    EditConfig,
    EvaluateConfig,
    ModelConfig,
    OptimConfig,
    TrackConfig,
    TrainConfig,
)
from forensegm.imageio import write_json, write_text_atomic

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int, str], None]

LONG, SHORT = 20, 12  # epochs; what each reaches: experiments/results/demo.md
MARKER = "demo.json"
PRODUCTS = ("checkpoint", "last", "wandb", "log.jsonl", "config.yaml", "metrics.json", "per_image.jsonl", "report.html")


@dataclass
class DemoConfig:
    """The demo.

    Attributes:
        out: folder that everything is written to.
        photos: folder of your own photographs; empty = those that installed packages ship.
        images: number of images to build, authentic ones included.
        size: side of an image in pixels.
        epochs: passes over the training images; 0 = 20 where the hardware computes in bf16, and 12 with twice the
            learning rate where it does not: that keeps the demo below 12 minutes on two cores.
        seed: everything drawn follows from it: edits, splits, training.
        wandb: auto (online when you are logged in, else offline), online, offline or off.
    """

    out: str = "runs/demo"
    photos: str = ""
    images: int = 640
    size: int = 256
    epochs: int = 0
    seed: int = 0
    wandb: str = "auto"


@dataclass
class DemoResult:
    """What the demo made.

    Attributes:
        out: the folder.
        metrics: content of metrics.json.
        skipped: (path, reason) of every photograph or image that could not be read.
    """

    out: Path
    metrics: dict[str, Any]
    skipped: list[tuple[str, str]]


def run_config(config: DemoConfig) -> Config:
    """Return the configuration of the whole run that the demo stands for."""
    out = Path(config.out)
    epochs, optim = (config.epochs, OptimConfig()) if config.epochs else fitting_schedule()
    return Config(
        edit=EditConfig(
            photos=config.photos, out=str(out / "data"), images=config.images, size=config.size, seed=config.seed
        ),
        data=DataConfig(source=f"native:{out / 'data'}", crop=config.size // 2, batch_size=16),
        model=ModelConfig(frontend="srm"),  # what it is worth: experiments/results/demo.md
        optim=optim,
        train=TrainConfig(out=str(out), epochs=epochs, seed=config.seed, validate_every=3),
        track=TrackConfig(wandb=config.wandb, name=f"demo-seed{config.seed}"),  # type: ignore[arg-type]
        evaluate=EvaluateConfig(split="test", seed=config.seed),
    )


def fitting_schedule() -> tuple[int, OptimConfig]:
    """Return the epochs, and the optimizer for them, that fit the demo's time on this machine."""
    from forensegm.models.precision import computes_in_bf16, resolve_device

    if computes_in_bf16(resolve_device("auto")):
        return LONG, OptimConfig()
    return SHORT, OptimConfig(lr=2 * OptimConfig().lr)


def run_demo(config: DemoConfig | None = None, *, progress: Progress | None = None) -> DemoResult:
    """Run the main job and write data/, checkpoint/, metrics.json and report.html to `config.out`.

    A second run with the same settings keeps the data set and does everything else again.

    Raises:
        FileNotFoundError: no such folder of photographs.
        ValueError: settings that cannot work, or an `out` that holds something else than a demo.
    """
    config = config or DemoConfig()
    run = run_config(config)
    out = prepare(config)
    built = forensegm.build_edits(run.edit, progress=progress)
    trained = forensegm.train(run, progress=progress)
    dataset = forensegm.open_dataset(run.data.source, split=run.evaluate.split)
    evaluation = forensegm.evaluate(trained.checkpoint, dataset, run.evaluate, progress=progress)
    metrics = evaluation.metrics
    metrics["distortions"] = forensegm.robustness(
        trained.checkpoint, dataset, run.evaluate, run.distort, progress=progress
    )
    metrics["evaluated"] = metrics["data"]
    metrics["data"] = built.counts
    write_results(out, run, evaluation, history=trained.history)
    return DemoResult(out, metrics, [*built.skipped, *evaluation.skipped])


def prepare(config: DemoConfig) -> Path:
    """Make the folder, or clear what an earlier demo left there; data of the same settings are kept."""
    out = Path(config.out)
    if out.exists() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise ValueError(f"Expected {out} to be empty or to hold an earlier demo, got other files. Name another --out.")
    settings = {**asdict(config), "out": ""}
    if (out / MARKER).is_file():
        earlier = json.loads((out / MARKER).read_text(encoding="utf-8"))
        same_data = all(earlier.get(key) == settings[key] for key in ("photos", "images", "size", "seed"))
        for name in PRODUCTS if same_data else (*PRODUCTS, "data"):
            remove(out / name)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / MARKER, settings)
    return out


def remove(path: Path) -> None:
    """Remove a file or a folder if it exists."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_results(out: Path, run: Config, evaluation: Any, *, history: list[dict[str, Any]]) -> None:
    """Write metrics.json, per_image.jsonl and report.html, and add the test scores to the model card."""
    from forensegm.evaluation import write_evaluation
    from forensegm.reports import metrics_markdown

    labels = ["authentic", *run.edit.editors]
    photos = run.edit.photos or "the photographs that scikit-image and scikit-learn ship"
    intro = (
        f"Multi-turn edits of {photos}, made with {len(run.edit.editors)} offline editors; {run.model.name} trained on "
        "some photographs and judged here on others that it never saw."
    )
    notes = [
        "Classical editors stand in for diffusion models here: these scores say nothing about diffusion edits.",
        "Intervals are 95 % bootstrap intervals; the unit that is resampled stands beside them.",
    ]
    report = {"intro": intro, "training": history, "environment": environment(), "notes": notes}
    write_evaluation(out, evaluation, labels=labels, title="forensegm demo", report=report)
    card = out / "checkpoint" / "MODEL_CARD.md"
    scores = metrics_markdown(evaluation.metrics)
    text = card.read_text(encoding="utf-8").rstrip()
    write_text_atomic(card, f"{text}\n\n## Scores on unseen photographs (split {run.evaluate.split})\n\n{scores}\n")


def environment() -> dict[str, str]:
    """Return the versions that a figure depends on."""
    packages = ("torch", "segmentation-models-pytorch", "numpy", "opencv-python", "pillow")
    versions = {name: importlib.metadata.version(name) for name in packages}
    return {"forensegm": forensegm.__version__, "python": platform.python_version(), **versions}
