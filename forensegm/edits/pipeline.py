"""Build a data set of multi-turn edits: find photographs, plan, edit, write. The same configuration, the same bytes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from typing import Any

from forensegm.config import EditConfig, plain
from forensegm.datasets.records import DatasetMeta, read_dataset_yaml
from forensegm.edits import folder
from forensegm.edits.build import Built, build_images
from forensegm.edits.check import check_config, read_shard
from forensegm.edits.found import Bases, find_bases, remember
from forensegm.edits.models_needed import models_of
from forensegm.edits.outcomes import summarize
from forensegm.edits.plans import ImagePlan, plan_images
from forensegm.edits.pool import worker_pool
from forensegm.edits.sources import Skipped
from forensegm.imageio import write_json
from forensegm.reports.contact_page import write_contact_page
from forensegm.sample import LabelSpace
from forensegm.version import __version__

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int, str], None]

LIBRARIES = ("numpy", "opencv-python", "pillow", "scikit-image", "scipy")  # other versions may give other bytes
MODEL_LIBRARIES = ("torch", "diffusers", "transformers")
WHO_AND_WHERE = ("out", "workers", "engine", "shard", "max_loaded")  # settings that do not change the data
THRESHOLDS = ("min_share_changed", "min_mean_change", "min_agreement", "max_outside", "quality_check", "retries")
NAME = "edits"  # of the data set: its folder may be moved
MOST_LISTED = 200  # dropped turns that audit.json lists and the contact sheet shows


@dataclass(frozen=True)
class BuildSummary:
    """What was built.

    Attributes:
        root: folder of the data set.
        counts: images, edited, authentic, partial, full, empty, turns, dropped_turns, photographs, scenes; editors
            (images whose mask holds each) and splits (images of each) by name. Of what is done, where not all is.
        skipped: photographs left out: (path, reason).
        audit: by editor: turns accepted, retries, turns dropped, reasons of rejected tries, medians of the change.
        finished: whether it is a data set; a shard that is not the last one leaves it unfinished.
        images_per_hour: measured over the images made in this run; None where none was.
    """

    root: Path
    counts: dict[str, Any]
    skipped: list[Skipped]
    audit: dict[str, dict[str, Any]]
    finished: bool = True
    images_per_hour: float | None = None


@dataclass
class Run:
    """What a run keeps count of while it goes on."""

    total: int
    made: int = 0
    began: float = field(default_factory=monotonic)
    failures: list[tuple[str, str, str]] = field(default_factory=list)  # in a row: image, editor, error

    @property
    def images_per_hour(self) -> float | None:
        """Images made per hour so far."""
        return 3600 * self.made / max(1e-9, monotonic() - self.began) if self.made else None


def build_edits(config: EditConfig, *, progress: Progress | None = None) -> BuildSummary:
    """Build a native data set of authentic and edited images.

    A folder that holds an unfinished build of the same settings is built on, from the images that are done; the data
    are those of an uninterrupted run. A finished one is left as it is. With more than one worker, a script calls this
    below `if __name__ == "__main__":`, like everything that starts processes.

    Args:
        config: what to build.
        progress: called as progress(stage, done, total, info) as the work goes on; stages are photographs and edits.

    Raises:
        ValueError: mistakes in the configuration (all are named), too few usable photographs, or an output folder
            that holds something else.
        FileNotFoundError: the folder of photographs does not exist.
        RuntimeError: a model cannot be loaded, an editor fails on everything, a worker process died, or the disk is
            full. What is done is kept.
    """
    check_config(config)
    root = Path(config.out).expanduser()
    settings = {key: value for key, value in plain(config).items() if key not in WHO_AND_WHERE}
    folder.check(root, settings)
    if folder.is_finished(root):
        logger.info("'%s' is built already. Delete it to build it again.", root)
        return _as_built(root, [])
    with worker_pool(config) as run:
        bases = find_bases(config, run, root, progress)
        plans = plan_images(bases.photos, bases.splits, config, captions=bases.captions)
        identity = {"libraries": _libraries(config), "pixels": _digest(bases)}
        if folder.is_finished(root):  # by another shard, while this one looked for photographs
            return _as_built(root, bases.skipped)
        folder.check_same(root, identity)
        folder.start(root, settings, identity, alone=not config.shard)
        remember(root, bases)
        done = folder.done(root)
        chunks = [one for one in _own_chunks(plans, config) if any(_name(plan) not in done for plan in one)]
        state = Run(total=sum(len(one) for one in chunks))
        ready = len(plans) - state.total if not config.shard else 0
        for built in run(partial(_build_chunk, config, root), chunks):
            _count_in(state, built, config, root)
            if progress:
                progress("edits", ready + state.made, ready + state.total, _speed(state))
    return _conclude(plans, bases, config, root, settings, identity, state)


def _as_built(root: Path, skipped: list[Skipped]) -> BuildSummary:
    """What a finished data set says of itself."""
    meta = read_dataset_yaml(root)
    return BuildSummary(root, meta.counts, skipped, meta.built["audit"])


def _name(plan: ImagePlan) -> str:
    return f"{plan.index:06d}"


def _own_chunks(plans: Sequence[ImagePlan], config: EditConfig) -> list[list[ImagePlan]]:
    """Plans in batches, those of one photograph next to each other, so that it is decoded once; this shard's of them.

    What is in a batch depends on the plans alone, never on shards, workers or what is done already.
    """
    by_photo: dict[str, list[ImagePlan]] = {}
    for plan in plans:
        by_photo.setdefault(plan.photo.name, []).append(plan)
    ordered = [plan for own in by_photo.values() for plan in own]
    chunks = [ordered[first : first + config.batch] for first in range(0, len(ordered), config.batch)]
    number, of = read_shard(config.shard)
    return chunks[number - 1 :: of]


def _build_chunk(config: EditConfig, root: Path, plans: Sequence[ImagePlan]) -> list[Built]:
    """Make a batch and mark its images as done; a batch that was interrupted is made again as a whole."""
    try:
        built = build_images(plans, config, root)
        folder.keep(root, built)
    except OSError as error:
        raise RuntimeError(
            f"Expected to read the photographs and to write to '{root}', got: {error}. What is done is kept; mend it, "
            "for example by freeing disk space, and run the same again to go on."
        ) from error
    return built


def _count_in(state: Run, built: Sequence[Built], config: EditConfig, root: Path) -> None:
    """Count finished images; raises RuntimeError after too many failed turns in a row."""
    state.made += len(built)
    for one in built:
        for outcome in one.outcomes:
            if not outcome.failed:
                state.failures.clear()
            else:
                state.failures.append((one.record.id, outcome.editor, outcome.error))
    if len(state.failures) >= config.stop_after:
        _give_up(root, state.failures, f"{len(state.failures)} turns in a row failed")


def _give_up(root: Path, failures: Sequence[tuple[str, str, str]], what: str) -> None:
    folder.forget(root, {image for image, _, _ in failures})
    image, editor, error = failures[-1]
    raise RuntimeError(
        f"Expected the editors to work, but {what}. The last one: '{editor}' on image {image}: {error}. The other "
        "images are kept; mend the editor and run the same again to go on."
    )


def _conclude(
    plans: Sequence[ImagePlan],
    bases: Bases,
    config: EditConfig,
    root: Path,
    settings: dict[str, Any],
    identity: dict[str, Any],
    state: Run,
) -> BuildSummary:
    """Finish the data set where every image is done; else say what there is."""
    done, built = folder.done(root), []
    finished = all(_name(plan) in done for plan in plans)
    try:
        built = [folder.read_part(root, name) for name in sorted(done)]
    except FileNotFoundError:  # another shard is finishing the data set
        done = set()
    if not done and folder.is_finished(root):
        return _as_built(root, bases.skipped)
    audit = summarize(outcome for one in built for outcome in one.outcomes)
    counts = _count(built, bases, config)
    summary = BuildSummary(root, counts, bases.skipped, audit, finished, state.images_per_hour)
    if finished:
        _refuse_useless_editors(built, root)
        _write_audit(built, summary, config)
        meta = _describe(summary, bases, settings, identity, config)
        folder.finish(root, [one.record for one in built], meta)
    return summary


def _refuse_useless_editors(built: Sequence[Built], root: Path) -> None:
    """Raise RuntimeError for an editor that failed whenever it was asked: its class would be empty."""
    for name in {outcome.editor for one in built for outcome in one.outcomes}:
        own = [(one.record.id, o.editor, o.error, o.failed) for one in built for o in one.outcomes if o.editor == name]
        if all(failed for *_, failed in own):
            _give_up(root, [(image, editor, error) for image, editor, error, _ in own], f"'{name}' failed every time")


def _speed(state: Run) -> str:
    """Images per hour so far, in words; empty before there are any."""
    return f"{state.images_per_hour:,.0f} images/hour" if state.images_per_hour else ""


def _count(built: Sequence[Built], bases: Bases, config: EditConfig) -> dict[str, Any]:
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
        "photographs": len(bases.photos),
        "scenes": len(bases.splits),
    }


def _write_audit(built: Sequence[Built], summary: BuildSummary, config: EditConfig) -> None:
    """Write audit.json and the contact sheet."""
    dropped = [
        {"id": one.record.id, "editor": turn.editor, "reasons": list(turn.reasons), "error": turn.error}
        for one in built
        for turn in one.outcomes
        if not turn.accepted
    ]
    strips = [
        {"id": one.record.id, "editor": turn.editor, "jpeg": turn.strip, **_caption(turn)}
        for one in built
        for turn in one.outcomes
        if turn.strip
    ]
    bad = [one for one in strips if one["kind"] == "dropped"][:MOST_LISTED]
    shown = [*bad, *(one for one in strips if one["kind"] == "accepted")]
    audit = {
        "thresholds": {name: getattr(config, name) for name in THRESHOLDS},
        "editors": summary.audit,
        "dropped_turns": len(dropped),
        "dropped": dropped[:MOST_LISTED],
        "skipped_photographs": len(summary.skipped),
    }
    write_json(summary.root / folder.AUDIT, audit)
    write_contact_page(summary.root / folder.CONTACT, summary.audit, title=NAME, strips=shown)


def _caption(turn: Any) -> dict[str, str]:
    if not turn.accepted:
        why = ", ".join(f"{reason} {count}" for reason, count in sorted(Counter(turn.reasons).items()))
        return {"kind": "dropped", "caption": f"dropped after {turn.tries} tries: {why}"}
    inside, similarity = turn.numbers["mean_inside"], turn.numbers["ssim_inside"]
    text = f"mean change {inside:.1f} grey levels" + (f", SSIM {similarity:.2f}" if similarity is not None else "")
    return {"kind": "accepted", "caption": text + (f", try {turn.tries}" if turn.tries > 1 else "")}


def _describe(
    summary: BuildSummary, bases: Bases, settings: dict[str, Any], identity: dict[str, Any], config: EditConfig
) -> DatasetMeta:
    """What `dataset.yaml` says. It names no folder of this machine but those in the settings, and no time."""
    return DatasetMeta(
        name=NAME,
        version="1",
        labels=LabelSpace(tuple(config.editors)),
        mask="ids",
        licence="; ".join(sorted({photo.licence for photo in [*bases.photos, *bases.captions]})),
        built={
            "by": f"forensegm {__version__}",
            "settings": settings,
            **identity,
            "audit": summary.audit,
            "skipped": len(summary.skipped),
        },
        counts=summary.counts,
    )


def _digest(bases: Bases) -> str:
    listed = "".join(photo.digest for photo in bases.photos) + "".join(one.captions[0] for one in bases.captions)
    return sha256(listed.encode()).hexdigest()[:16]


def _libraries(config: EditConfig) -> dict[str, str]:
    """Versions of what the images depend on."""
    found = {name: version(name) for name in LIBRARIES}
    if models_of(config):
        for name in MODEL_LIBRARIES:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                logger.debug("%s is not installed", name)
    return found
