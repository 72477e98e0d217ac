"""What a build would take, before any of it is made: models, disk, time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from forensegm.config import EditConfig
from forensegm.edits.build import build_images
from forensegm.edits.check import check_config
from forensegm.edits.editors import OFFLINE, find_editor
from forensegm.edits.found import find_bases
from forensegm.edits.models_needed import NeededModel, models_of
from forensegm.edits.plans import ImagePlan, plan_images
from forensegm.edits.pool import available_cores, worker_pool
from forensegm.edits.sources import Skipped

TRIED = 12  # images made for the estimate, with offline editors, in a folder that is thrown away


@dataclass(frozen=True)
class Estimate:
    """What a build would take.

    Attributes:
        images: to be made, by split.
        turns: planned turns by editor.
        bases: base images by kind: photo and the generators' names.
        models: that would be loaded.
        megabytes: disk, from images tried; intermediate images included.
        seconds_per_image: of one process for all but the models: regions, offline editors, audit, writing; measured.
        workers: processes that would run.
        tflop: compute of all edits and generated bases at native size, in TFLOP; 0 where it is not known.
        uncounted: editors that need a model whose compute is not known.
        skipped: photographs left out: (path, reason).
    """

    images: dict[str, int]
    turns: dict[str, int]
    bases: dict[str, int]
    models: list[NeededModel]
    megabytes: float
    seconds_per_image: float
    workers: int
    tflop: float
    uncounted: list[str]
    skipped: list[Skipped]

    @property
    def images_per_hour(self) -> float:
        """Images per hour of everything but the models."""
        return 3600 * self.workers / self.seconds_per_image


def estimate(config: EditConfig) -> Estimate:
    """Plan a build, and try a few of its images with editors that need no model. Nothing is kept.

    Raises:
        ValueError: mistakes in the configuration, or too few usable photographs.
        FileNotFoundError: the folder of photographs does not exist.
    """
    check_config(config)
    with worker_pool(replace(config, engine="local")) as run:
        bases = find_bases(config, run, Path(config.out).expanduser(), None)
    plans = plan_images(bases.photos, bases.splits, config, captions=bases.captions)
    turns = Counter(name for plan in plans for name in plan.editors)
    models = models_of(config)
    stand_in = replace(
        config,
        editors=list(OFFLINE),
        planner="rules",
        regions=[name for name in config.regions if name != "grounded_sam"] or ["shapes"],
        options={},
        quality_check=False,
    )
    tried = [one for one in plans if not one.generator][:TRIED]
    tried = [
        replace(one, editors=tuple(list(OFFLINE)[(one.index + n) % len(OFFLINE)] for n in range(len(one.editors))))
        for one in tried
    ]
    seconds, megabytes = _try(tried, stand_in) if tried else (0.0, 0.0)
    calls = turns + Counter(plan.generator for plan in plans if plan.generator)
    costs = {name: find_editor(name).cost for name in calls}
    needs = {name for name in calls if find_editor(name).load is not None}
    return Estimate(
        images=dict(Counter(plan.split for plan in plans)),
        turns=dict(turns),
        bases=dict(Counter(plan.generator or "photo" for plan in plans)),
        models=models,
        megabytes=megabytes * len(plans),
        seconds_per_image=max(seconds, 1e-6),
        workers=config.workers or (1 if models else available_cores()),
        tflop=sum(costs[name] * count for name, count in calls.items()),
        uncounted=sorted(name for name in needs if not costs[name]),
        skipped=bases.skipped,
    )


def _try(plans: list[ImagePlan], config: EditConfig) -> tuple[float, float]:
    """Seconds and megabytes per image."""
    with TemporaryDirectory() as name:
        root = Path(name)
        began = monotonic()
        build_images(plans, config, root)
        seconds = monotonic() - began
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    return seconds / len(plans), size / 1e6 / len(plans)
