"""Build a data set of multi-turn edits: find photographs, plan, edit, write. The same configuration, the same bytes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from forensegm.config import EditConfig, plain
from forensegm.datasets.records import DatasetMeta
from forensegm.datasets.split import assign_groups
from forensegm.edits import folder
from forensegm.edits.audit import summarize
from forensegm.edits.build import Built, build_image
from forensegm.edits.check import check_config
from forensegm.edits.planners import ImagePlan, plan_images
from forensegm.edits.pool import Run, worker_pool
from forensegm.edits.sources import SOURCES, Photo, Skipped, probe, sift
from forensegm.sample import LabelSpace
from forensegm.version import __version__

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int, str], None]

CHUNK = 8  # images of one photograph that a worker makes in a row: the photograph is decoded once for them
LIBRARIES = ("numpy", "opencv-python", "pillow", "scikit-image", "scipy")  # other versions may give other bytes


@dataclass(frozen=True)
class BuildSummary:
    """What was built.

    Attributes:
        root: folder of the data set.
        counts: images, edited, authentic, partial, full, empty, turns, dropped_turns, photographs, scenes; editors
            (images whose mask holds each) and splits (images of each) by name.
        skipped: photographs left out: (path, reason).
        audit: by editor: turns accepted, retries, turns dropped, mean change inside the region in grey levels.
    """

    root: Path
    counts: dict[str, Any]
    skipped: list[Skipped]
    audit: dict[str, dict[str, float]]


def build_edits(config: EditConfig, *, progress: Progress | None = None) -> BuildSummary:
    """Build a native data set of authentic and edited crops of photographs.

    A folder that holds a build of the same settings, finished or not, is built again, to the same bytes; its
    `dataset.yaml` goes first and comes last, so that nothing half-written looks finished. With more than one worker,
    a script calls this below `if __name__ == "__main__":`, like everything that starts processes.

    Args:
        config: what to build.
        progress: called as progress(stage, done, total, info) as the work goes on; stages are photographs and edits.

    Raises:
        ValueError: mistakes in the configuration (all are named), too few usable photographs, or an output folder
            that holds something else.
        FileNotFoundError: the folder of photographs does not exist.
        RuntimeError: an editor failed, or a worker process died.
    """
    check_config(config)
    root = Path(config.out).expanduser()
    settings = {key: value for key, value in plain(config).items() if key not in ("out", "workers")}
    folder.check(root, settings)
    with worker_pool(config.workers) as run:
        photos, skipped = _find_photos(config, run, progress)
        splits = assign_groups(sorted({photo.scene for photo in photos}), config.split, seed=config.seed)
        plans = plan_images(photos, splits, config)
        folder.start(root, settings)
        built: list[Built] = []
        for chunk in run(partial(_build_chunk, config, root), _chunks(plans)):
            built += chunk
            if progress:
                progress("edits", len(built), len(plans), "")
    built.sort(key=lambda one: one.record.id)
    audit = summarize(outcome for one in built for outcome in one.outcomes)
    summary = BuildSummary(root, _count(built, photos, config), skipped, audit)
    folder.finish(root, [one.record for one in built], _describe(summary, photos, config, settings))
    return summary


def _find_photos(config: EditConfig, run: Run, progress: Progress | None) -> tuple[list[Photo], list[Skipped]]:
    """Usable photographs, each decoded completely once; raises ValueError where they are too few for the splits."""
    listed = SOURCES["folder" if config.photos else "packaged"](config.photos)
    probed: dict[str, Photo | Skipped] = {}
    for name, found in run(partial(_probe, config.size), listed):
        probed[name] = found
        if progress:
            progress("photographs", len(probed), len(listed), "")
    photos, skipped = sift(probed[photo.name] for photo in listed)
    for path, reason in skipped:
        logger.warning("Skipped %s: %s", path, reason)
    scenes = len({photo.scene for photo in photos})
    needed = sum(share > 0 for share in config.split)
    if scenes < needed:
        where = f"in '{config.photos}'" if config.photos else "among those of the installed packages"
        examples = "".join(f" Left out: {path} ({reason})." for path, reason in skipped[:3])
        raise ValueError(
            f"Expected at least {needed} usable photographs {where}, one for each split to fill, got {scenes} in "
            f"{len(listed)} image files.{examples} Add photographs, or lower edit.size."
        )
    return photos, skipped


def _probe(min_side: int, photo: Photo) -> tuple[str, Photo | Skipped]:
    return photo.name, probe(photo, min_side=min_side)


def _chunks(plans: Sequence[ImagePlan]) -> list[list[ImagePlan]]:
    """Plans by photograph, at most `CHUNK` at a time."""
    by_photo: dict[str, list[ImagePlan]] = {}
    for plan in plans:
        by_photo.setdefault(plan.photo.name, []).append(plan)
    return [own[first : first + CHUNK] for own in by_photo.values() for first in range(0, len(own), CHUNK)]


def _build_chunk(config: EditConfig, root: Path, plans: Sequence[ImagePlan]) -> list[Built]:
    return [build_image(plan, config, root) for plan in plans]


def _count(built: Sequence[Built], photos: Sequence[Photo], config: EditConfig) -> dict[str, Any]:
    """Counts by what the masks say, not by what was planned."""
    coverage = Counter(one.coverage for one in built)
    editors = Counter(editor_id for one in built for editor_id in one.editor_ids)
    splits = Counter(one.record.split for one in built)
    turns = [outcome for one in built for outcome in one.outcomes]
    return {
        "images": len(built),
        "edited": coverage["partial"] + coverage["full"],
        "authentic": coverage["empty"],
        "partial": coverage["partial"],
        "full": coverage["full"],
        "empty": coverage["empty"],
        "turns": sum(turn.accepted for turn in turns),
        "dropped_turns": sum(not turn.accepted for turn in turns),
        "editors": {name: editors[number] for number, name in enumerate(config.editors, start=1)},
        "splits": {split: splits[split] for split in ("train", "val", "test")},
        "photographs": len(photos),
        "scenes": len({photo.scene for photo in photos}),
    }


def _describe(
    summary: BuildSummary, photos: Sequence[Photo], config: EditConfig, settings: dict[str, Any]
) -> DatasetMeta:
    """What `dataset.yaml` says. It names no folder of this machine but the one in the settings, and no time."""
    pixels = sha256("".join(photo.digest for photo in photos).encode()).hexdigest()[:16]
    return DatasetMeta(
        name="edits",
        version="1",
        labels=LabelSpace(tuple(config.editors)),
        mask="ids",
        licence="; ".join(sorted({photo.licence for photo in photos})),
        built={
            "by": f"forensegm {__version__}",
            "settings": settings,
            "libraries": {name: version(name) for name in LIBRARIES},
            "pixels": pixels,
            "audit": summary.audit,
            "skipped": len(summary.skipped),
        },
        counts=summary.counts,
    )
