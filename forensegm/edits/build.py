"""Make a batch of images of the data set side by side: all their turns, their files and their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from forensegm.config import EditConfig
from forensegm.datasets.records import Edit, Record, rle_encode
from forensegm.edits.audit import Change, measure_change, verdict
from forensegm.edits.canvas import Canvas, Donor, begin, write
from forensegm.edits.compose import compose
from forensegm.edits.contact import draw_strip
from forensegm.edits.editors import Editor, EditorOutput, EditTask, find_editor
from forensegm.edits.editors.running import Failure, load_editor, run_editor
from forensegm.edits.loading import ready
from forensegm.edits.outcomes import Outcome
from forensegm.edits.planners import PLANNERS, Planner, rule_planner
from forensegm.edits.plans import ImagePlan
from forensegm.edits.quality import quality_scorer
from forensegm.edits.regions import REGIONS
from forensegm.edits.view import PlanFailed, Proposer, TurnPlan, View, checked_plan
from forensegm.lookup import lookup
from forensegm.sample import image_label

STRIPS = 60  # images, spread over the data set, whose turns are kept for the contact sheet


@dataclass(frozen=True)
class Built:
    """One finished image: its record, and what the counts and the audit need to know.

    Attributes:
        record: its record; its files are written.
        coverage: empty, partial or full.
        editor_ids: the mask values of the editors that its mask holds.
        outcomes: how each planned turn ended.
    """

    record: Record
    coverage: str
    editor_ids: tuple[int, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(eq=False)
class Attempt:
    """One try of one turn of one image."""

    canvas: Canvas
    editor: Editor
    wish: TurnPlan
    donor: Donor

    def task(self) -> EditTask:
        """What the editor is given."""
        wish = self.wish
        rng = np.random.default_rng(wish.seed)
        return EditTask(
            self.canvas.layers.image, wish.region, rng, self.donor, wish.kind, wish.instruction, wish.prompt
        )


def build_images(plans: Sequence[ImagePlan], config: EditConfig, root: Path) -> list[Built]:
    """Make some images with all their turns and write their files; the result depends on the arguments alone.

    The images take their turns side by side: whatever one editor has to do next for all of them, it is asked for at
    once. Retries and turns of one image stay in order.
    """
    canvases = begin(plans, config)
    planner, proposers = _planner(config) if any(plan.editors for plan in plans) else (rule_planner, {})
    while pending := [one for one in canvases if not one.done]:
        for name in config.editors:
            tries = (_plan(one, config, planner, proposers) for one in pending if one.next_editor == name)
            attempts = [one for one in tries if one is not None]
            if attempts:
                _run(name, attempts, config)
    return [_finish(one, config, root) for one in canvases]


def _finish(canvas: Canvas, config: EditConfig, root: Path) -> Built:
    record = write(canvas, config, root)
    label = image_label(canvas.layers.mask)
    return Built(record, str(label.coverage), label.editors, tuple(canvas.outcomes))


def _plan(canvas: Canvas, config: EditConfig, planner: Planner, proposers: Mapping[str, Proposer]) -> Attempt | None:
    """Plan the next try of an image; None where the planner has no plan, which counts as a try."""
    editor = find_editor(canvas.next_editor)
    rng = np.random.default_rng((config.seed, canvas.plan.index, canvas.number, canvas.tries))
    layers = canvas.layers
    view = View(layers.image, config.region_area, rng, canvas.objects, canvas.plan.photo.captions)
    try:
        wish = checked_plan(planner(view, editor, proposers), layers.image)
    except PlanFailed as error:
        _reject(canvas, config, "planner", error=str(error))
        return None
    donor = Donor(canvas.plan.donors, layers.image.shape[:2], np.random.default_rng((wish.seed, 1)))
    return Attempt(canvas, editor, wish, donor)


def _planner(config: EditConfig) -> tuple[Planner, dict[str, Proposer]]:
    planner = ready(config.planner, lookup(PLANNERS, config.planner, what="planner", trusted=True), config)
    proposers = {
        name: ready(name, lookup(REGIONS, name, what="proposer of regions", trusted=True), config)
        for name in config.regions
    }
    return planner, proposers


def _run(name: str, attempts: Sequence[Attempt], config: EditConfig) -> None:
    """Let an editor make its tries, together where it takes several, and settle each."""
    editor, function = load_editor(name, config)
    tasks = [one.task() for one in attempts]
    batches = [tasks] if editor.load is not None else [[task] for task in tasks]
    outputs = [output for batch in batches for output in run_editor(function, batch)]
    for attempt, output in zip(attempts, outputs, strict=True):
        _settle(attempt, name, output, config)


def _settle(attempt: Attempt, name: str, output: EditorOutput | Failure, config: EditConfig) -> None:
    """Judge a try; an accepted one becomes the image's next turn."""
    canvas, wish = attempt.canvas, attempt.wish
    strip: Callable[..., str] = partial(draw_strip, wanted=canvas.plan.index % max(1, config.images // STRIPS) == 0)
    before = canvas.layers.image
    if isinstance(output, Failure):
        _reject(canvas, config, "failed", error=output.reason)
        return
    mode = config.composite or attempt.editor.composite
    try:
        composed = compose(before, output.image, wish.region, mode=mode, editor=name, fade=config.feather)
    except ValueError as error:
        _reject(canvas, config, "size", error=str(error))
        return
    after = composed.image
    change = measure_change(before, after, wish.region)
    reason = verdict(change, before, composed.whole, wish.region, config)
    numbers = change.numbers()
    if not reason and config.quality_check:
        numbers["quality"], enough = quality_scorer(config)(before, after, wish)
        reason = "" if enough else "quality"
    if reason:
        _reject(canvas, config, reason, strip=partial(strip, before, after, wish.region, wanted=True))
        return
    parameters = {"region": wish.proposer, **output.parameters}
    if attempt.donor.drawn:
        parameters["donors"] = attempt.donor.drawn
    if composed.how:
        parameters["registered"] = composed.how
    if config.feather and mode == "splice":
        parameters["feather"] = config.feather
    edit = _record(wish, change, numbers, parameters, turn=len(canvas.edits) + 1, name=name, mode=mode)
    canvas.accept(after, wish.region, edit, editor_id=config.editors.index(name) + 1)
    if config.intermediates:
        canvas.steps.append(after)
    canvas.outcomes.append(
        Outcome(name, True, canvas.tries + 1, numbers, tuple(canvas.reasons), strip=strip(before, after, wish.region))
    )
    canvas.next_turn()


def _reject(
    canvas: Canvas, config: EditConfig, reason: str, *, error: str = "", strip: Callable[[], str] | None = None
) -> None:
    """Count a rejected try; after the last one the turn is dropped, and the image goes on as it was."""
    name = canvas.next_editor
    canvas.reasons.append(reason)
    canvas.tries += 1
    if canvas.tries > config.retries:
        picture = strip() if strip else ""
        canvas.outcomes.append(Outcome(name, False, canvas.tries, {}, tuple(canvas.reasons), error, picture))
        canvas.next_turn()


def _record(
    wish: TurnPlan,
    change: Change,
    numbers: dict[str, Any],
    parameters: dict[str, Any],
    *,
    turn: int,
    name: str,
    mode: Any,
) -> Edit:
    return Edit(
        turn=turn,
        editor=name,
        kind=wish.kind,
        instruction=wish.instruction,
        seed=wish.seed,
        parameters={**parameters, "planner": wish.planner},
        composite=mode,
        mask=rle_encode(wish.region),
        changed_inside=round(change.share_inside, 6),
        changed_outside=round(change.share_outside, 6),
        changed_mask=rle_encode(change.changed),
        measured={name: value for name, value in numbers.items() if value is not None},
    )
