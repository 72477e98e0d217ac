"""Diffusion editors: an `Editor` for every row of the table. Nothing of diffusers is imported before one is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from forensegm.edits.editors.base import BatchFunction, Editor, EditorOutput, EditTask, Generate
from forensegm.edits.editors.diffusion.fit import Padded, pad
from forensegm.edits.editors.diffusion.methods import METHODS, pixels
from forensegm.edits.editors.diffusion.pipelines import cell_of, cut_words, load_pipeline
from forensegm.edits.editors.diffusion.table import ABSENT, DIFFUSION, Row
from forensegm.lookup import require

__all__ = ["ABSENT", "DIFFUSION", "Row", "diffusion_editor", "diffusion_editors"]


def diffusion_editors() -> dict[str, Editor]:
    """Make the editors of the table, by name."""
    return {name: diffusion_editor(row) for name, row in DIFFUSION.items()}


def diffusion_editor(row: Row) -> Editor:
    """Make an editor of a row: of the table's, or of your own for any other model of the same methods."""
    defaults: dict[str, Any] = {
        "model": row.model,
        "steps": row.steps,
        "guidance": row.guidance,
        "call": dict(row.call),
    }
    if row.prior:
        defaults |= {"prior": row.prior, "prior_steps": 25}
    if row.text_pipeline:
        defaults |= {"text_model": row.text_model, "text_side": row.side}
    return Editor(
        kinds=row.kinds,
        composite=row.composite,
        reads=True,
        load=partial(_load, row),
        load_generator=partial(_load_generator, row) if row.text_pipeline else None,
        defaults=defaults,
        models=("model", "prior") if row.prior else ("model",),
        about=row.about,
        cost=row.cost,
    )


def _load(row: Row, options: Mapping[str, Any]) -> BatchFunction:
    pipeline = load_pipeline(row.pipeline, options["model"], options)
    if row.prior:
        pipeline = (load_pipeline("KandinskyV22PriorPipeline", options["prior"], options), pipeline)
    return partial(edit_batch, pipeline, row, options)


def edit_batch(pipeline: Any, row: Row, options: Mapping[str, Any], tasks: Sequence[EditTask]) -> list[EditorOutput]:
    """Edit several images; those of one padded size go through the pipeline together, where it takes several."""
    main = pipeline[-1] if isinstance(pipeline, tuple) else pipeline
    reader = pipeline[0] if isinstance(pipeline, tuple) else pipeline
    grid = {"multiple": row.multiple, "smallest": row.smallest, "cell": cell_of(main)}
    padded = [pad(one.image, one.region, **grid) for one in tasks]
    limit = int(options["call"].get("max_sequence_length", 0))
    wishes = [cut_words(reader, _wish(row, one), limit=limit) for one in tasks]
    seeds = [int(one.rng.integers(2**31)) for one in tasks]
    dtype = str(main.dtype).removeprefix("torch.")
    outputs: dict[int, EditorOutput] = {}
    for group in _groups(padded, together=row.batched):
        batch, prompts = [padded[one] for one in group], [wishes[one][0] for one in group]
        own = [seeds[one] for one in group]
        pictures = METHODS[row.method](pipeline, row, batch, prompts, own, options)
        for one, picture in zip(group, pictures, strict=True):
            image, how = padded[one].cut(pixels(picture))
            made = _parameters(row, options, padded[one], wishes[one], seeds[one], how, dtype)
            outputs[one] = EditorOutput(image, made)
    return [outputs[one] for one in range(len(tasks))]


def _wish(row: Row, task: EditTask) -> str:
    """Instruction editors get the order; fillers what is to be seen, or the order where nobody said that."""
    return task.instruction if row.method == "instruct" else task.prompt or task.instruction


def _groups(padded: Sequence[Padded], *, together: bool) -> list[list[int]]:
    if not together:
        return [[one] for one in range(len(padded))]
    sizes: dict[tuple[int, ...], list[int]] = {}
    for index, one in enumerate(padded):
        sizes.setdefault(one.image.shape, []).append(index)
    return list(sizes.values())


def _parameters(
    row: Row,
    options: Mapping[str, Any],
    padded: Padded,
    wish: tuple[str, dict[str, int]],
    seed: int,
    how: str,
    dtype: str,
) -> dict[str, Any]:
    """Everything that made the edit, for the record."""
    prompt, left_out = wish
    parameters = {
        "model": options["model"],
        "pipeline": row.pipeline,
        "method": row.method,
        "steps": options["steps"],
        "guidance": options["guidance"],
        "call": options["call"],
        "prompt": prompt,
        "pipeline_seed": seed,
        "padded_to": list(padded.image.shape[:2]),
        "dtype": dtype,
    }
    if row.prior:
        parameters["prior"] = options["prior"]
    if left_out:
        parameters["tokens_left_out"] = left_out
    if how:
        parameters["registered"] = how
    return parameters


def _load_generator(row: Row, options: Mapping[str, Any]) -> Generate:
    pipeline = load_pipeline(row.text_pipeline, options["text_model"], options)
    return partial(_generate, pipeline, row, options)


def _generate(
    pipeline: Any, row: Row, options: Mapping[str, Any], wishes: Sequence[tuple[str, int]]
) -> list[EditorOutput]:
    torch = require("torch", extra="diffusion")
    side, outputs = int(options["text_side"]), []
    for text, seed in wishes:
        prompt, left_out = cut_words(pipeline, text)
        extra = {"use_resolution_binning": False} if "use_resolution_binning" in row.call else {}
        picture = pipeline(
            prompt=prompt,
            height=side,
            width=side,
            num_inference_steps=int(options["steps"]),
            guidance_scale=float(options["guidance"]),
            generator=torch.Generator("cpu").manual_seed(seed),
            **extra,
        ).images[0]
        parameters = {"model": options["text_model"], "pipeline": row.text_pipeline, "steps": options["steps"]}
        parameters |= {"guidance": options["guidance"], "prompt": prompt, "seed": seed, "tokens_left_out": left_out}
        outputs.append(EditorOutput(pixels(picture), parameters))
    return outputs
