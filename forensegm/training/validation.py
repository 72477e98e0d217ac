"""Validate after an epoch, and keep the checkpoint if it is the best one so far."""

from __future__ import annotations

import dataclasses
import logging
from pathlib import Path

from forensegm.checkpoint import save_checkpoint
from forensegm.evaluation import Evaluation, choose_thresholds, evaluate
from forensegm.inference.predictor import Predictor
from forensegm.training.card import model_card
from forensegm.training.metric import is_better, metric_value, tracked_figures
from forensegm.training.parts import CHECKPOINT
from forensegm.training.run import Run
from forensegm.training.tracking import Overlay

logger = logging.getLogger(__name__)


def validate(run: Run) -> dict[str, float | None]:
    """Evaluate the averaged weights on the validation split; return the figures under their names in the log.

    The thresholds that travel with a checkpoint are chosen here, on validation data and nowhere else.
    """
    config, name = run.config, run.config.train.metric
    run.average.sync(run.parts.model)
    evaluation = evaluate_average(run)
    thresholds = choose_thresholds(evaluation, source="validation")
    figures = tracked_figures(evaluation.metrics, run.parts.labels)
    value = metric_value(evaluation.metrics, name)
    if is_better(name, value, run.state.best["value"] if run.state.best else None):
        run.state.best = {
            "epoch": run.state.epoch,
            "step": run.state.step,
            "metric": name,
            "value": value,
            "thresholds": thresholds,
            "validation": figures,
        }
        keep_checkpoint(run)
    if value is None:
        logger.warning("%s is undefined on split '%s'.", name, config.data.val_split)
    run.tracker.overlay(run.state.step, overlays(run, evaluation))
    return {f"val/{key}": figure for key, figure in figures.items()}


def evaluate_average(run: Run) -> Evaluation:
    """Run the validation split through the averaged weights."""
    config = run.config
    predictor = Predictor(
        run.average.model,
        run.parts.labels,
        thresholds={"pixel": 0.5, "image": 0.5, "pooling": config.evaluate.pooling, "source": "not chosen yet"},
        device=str(run.accelerator.device),
        precision=config.train.precision,
    )
    options = dataclasses.replace(
        config.evaluate, split=config.data.val_split, bootstrap=0, examples=config.track.overlays
    )
    return evaluate(
        predictor,
        run.parts.val,
        options,
        progress=lambda _stage, done, total, info: run.progress("validate", done, total, info),
    )


def keep_checkpoint(run: Run) -> None:
    """Write the averaged weights as the run's checkpoint."""
    best = run.state.best or {}
    save_checkpoint(
        Path(run.config.train.out) / CHECKPOINT,
        run.average.model,
        labels=run.parts.labels,
        preprocessing={"crop": run.config.data.crop},
        thresholds=best["thresholds"],
        extra={
            "trained": {key: best[key] for key in ("epoch", "step", "metric", "value")},
            "validation": best["validation"],
            "config": run.config.to_dict(),
        },
        card=model_card(run.config, run.parts, best),
    )


def overlays(run: Run, evaluation: Evaluation) -> list[Overlay]:
    """Return the examples that the evaluation kept, for the trackers."""
    return [
        Overlay(
            id=example["id"],
            image=example["image"],
            truth=example["truth"],
            prediction=example["class_map"],
            labels=run.parts.labels,
        )
        for example in evaluation.examples
    ]
