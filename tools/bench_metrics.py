"""How fast pixel scores are, against scikit-learn and a plain numpy loop, on the same arrays in one run.

    python tools/bench_metrics.py [--images 8] [--size 1024] [--classes 9] [--repeats 7] [--out FILE]

The contenders take turns; medians and their ratios are printed and written to experiments/results/metrics.json.
"Everything" is `SegmentationMetrics`: binary scores at the threshold, AUC, AP, the confusion matrix of all classes and
one row per image. The plain loop computes F1, IoU and accuracy from boolean products per image; scikit-learn computes
one AUC per image. About two minutes on 2 cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import sklearn
from sklearn.metrics import roc_auc_score

from forensegm.metrics import ScoreHistogram, SegmentationMetrics, confusion_counts
from forensegm.pooling import pool_all
from forensegm.sample import LabelSpace

ROOT = Path(__file__).resolve().parents[1]
Item = tuple[np.ndarray, np.ndarray, np.ndarray]
Contender = Callable[[], object]


def make_items(count: int, *, size: int, classes: int) -> list[Item]:
    """Edited-probability, class map and truth of images with one edited region each, as a confident network gives."""
    rng = np.random.default_rng(0)
    items = []
    for number in range(count):
        target = np.zeros((size, size), dtype=np.uint8)
        top, left = rng.integers(0, size // 2, 2)
        target[top : top + size // 3, left : left + size // 2] = 1 + number % (classes - 1)
        logits = rng.normal(0, 3, target.shape) + np.where(target > 0, 4.0, -4.0)
        prob = (1 / (1 + np.exp(-logits))).astype(np.float32)
        guess = np.where(rng.random(target.shape) < 0.8, target, rng.integers(1, classes, target.shape))
        items.append((prob, np.where(prob >= 0.5, guess, 0).astype(np.uint8), target))
    return items


def everything(items: list[Item], labels: LabelSpace) -> SegmentationMetrics:
    """All scores of forensegm, computed to the end."""
    metrics = SegmentationMetrics(labels)
    for number, (prob, class_map, target) in enumerate(items):
        metrics.update(prob, class_map, target, id=str(number), group=str(number))
    metrics.compute()
    return metrics


def histogram(items: list[Item]) -> tuple[float | None, float | None]:
    """AUC, AP and the counts at the threshold alone."""
    pixels = ScoreHistogram(thresholds=[0.5])
    for prob, _, target in items:
        pixels.update(prob, target)
    pixels.counts_at(0.5)
    return pixels.auc(), pixels.average_precision()


def naive_scores(items: list[Item]) -> list[tuple[float, float, float]]:
    """F1, IoU and accuracy per image from float products, each with counts of its own, as evaluators often do."""
    scores = []
    for prob, _, target in items:
        flagged, edited = (prob >= 0.5).astype(np.float32), (target > 0).astype(np.float32)
        counts = []
        for _ in range(3):
            tp, fp = (flagged * edited).sum(), (flagged * (1 - edited)).sum()
            counts.append((tp, fp, ((1 - flagged) * edited).sum(), ((1 - flagged) * (1 - edited)).sum()))
        (tp, fp, fn, tn), n = counts[0], prob.size
        scores.append((2 * tp / (2 * tp + fp + fn), tp / (tp + fp + fn), (tp + tn) / n))
    return scores


def naive_confusion(items: list[Item], classes: int) -> np.ndarray:
    """Confusion matrix from one boolean product per pair of classes."""
    counts = np.zeros((classes, classes), dtype=np.int64)
    for _, class_map, target in items:
        for true in range(classes):
            for named in range(classes):
                counts[true, named] += np.count_nonzero((target == true) & (class_map == named))
    return counts


def take_turns(contenders: dict[str, Contender], *, repeats: int) -> dict[str, float]:
    """Median seconds of each contender; they run in turn, so that a busy moment hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, contender in contenders.items():
            started = time.perf_counter()
            contender()
            times[name].append(time.perf_counter() - started)
    return {name: statistics.median(values) for name, values in times.items()}


def machine() -> dict[str, object]:
    """What the numbers were measured on."""
    return {
        "cpu": cpu_name(),
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "opencv": cv2.__version__,
        "scikit-learn": sklearn.__version__,
    }


def cpu_name() -> str:
    """Model name of the processor, where the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def main() -> None:
    """Measure, check that the contenders agree, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--size", type=int, default=1024, help="side of the images in pixels")
    parser.add_argument("--classes", type=int, default=9, help="classes, the authentic one included")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results" / "metrics.json")
    options = parser.parse_args()
    labels = LabelSpace.opaque(options.classes - 1)
    items = make_items(options.images, size=options.size, classes=options.classes)
    contenders: dict[str, Contender] = {
        "everything": lambda: everything(items, labels),
        "histogram": lambda: histogram(items),
        "confusion": lambda: [confusion_counts(named, true, options.classes) for _, named, true in items],
        "pool_all": lambda: [pool_all(prob) for prob, _, _ in items],
        "naive_scores": lambda: naive_scores(items),
        "naive_confusion": lambda: naive_confusion(items, options.classes),
        "sklearn_auc": lambda: [roc_auc_score(target.ravel() > 0, prob.ravel()) for prob, _, target in items],
    }
    take_turns(contenders, repeats=1)
    seconds = take_turns(contenders, repeats=options.repeats)
    metrics = everything(items, labels)
    apart = max(abs(row["f1"] - scores[0]) for row, scores in zip(metrics.rows, naive_scores(items), strict=True))
    pooled = (
        np.concatenate([target.ravel() > 0 for *_, target in items]),
        np.concatenate([p.ravel() for p, *_ in items]),
    )
    result = {
        "images": options.images,
        "size": options.size,
        "classes": options.classes,
        "repeats": options.repeats,
        "milliseconds": {name: round(1000 * value, 2) for name, value in seconds.items()},
        "times_faster": {
            "histogram_than_sklearn_auc": round(seconds["sklearn_auc"] / seconds["histogram"], 1),
            "histogram_than_naive_scores_and_sklearn_auc": round(
                (seconds["naive_scores"] + seconds["sklearn_auc"]) / seconds["histogram"], 1
            ),
            "everything_than_naive_and_sklearn": round(
                (seconds["naive_scores"] + seconds["naive_confusion"] + seconds["sklearn_auc"]) / seconds["everything"],
                1,
            ),
            "confusion_than_naive_confusion": round(seconds["naive_confusion"] / seconds["confusion"], 1),
        },
        "differences": {
            "f1_per_image": float(apart),
            "confusion": int(np.abs(metrics.confusion - naive_confusion(items, options.classes)).max()),
            "pooled_auc": abs(float(roc_auc_score(*pooled)) - float(metrics.histogram.auc() or 0)),
        },
        "machine": machine(),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    for part in ("milliseconds", "times_faster", "differences"):
        print(f"{part.replace('_', ' ')}:")
        print("\n".join(f"  {name.replace('_', ' '):45s} {value:>10.3g}" for name, value in result[part].items()))
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
