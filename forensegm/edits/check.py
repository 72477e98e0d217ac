"""Everything that can be wrong with an edit configuration, told at once and before any work."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

import numpy as np

from forensegm.config import EditConfig
from forensegm.edits.compose import COMPOSITES
from forensegm.edits.editors import find_editor
from forensegm.edits.loading import NeedsModel, options_of
from forensegm.edits.planners import PLANNERS
from forensegm.edits.quality import SCORER
from forensegm.edits.regions import REGIONS
from forensegm.imageio import encode_image
from forensegm.lookup import lookup
from forensegm.sample import LabelSpace

MIN_SIZE = 32  # below it superpixels and objects mean nothing


def check_config(config: EditConfig) -> None:
    """Raise one ValueError that names every mistake in the configuration; return if there is none."""
    problems = [*_numbers(config), *_thresholds(config), *_editors(config), *_parts(config), *_bases(config)]
    problems += [*_codecs(config), *_folders(config), *_shard(config)]
    if len(problems) == 1:
        raise ValueError(problems[0])
    if problems:
        listed = " ".join(f"({number}) {problem}" for number, problem in enumerate(problems, start=1))
        raise ValueError(f"Expected a usable edit configuration, got {len(problems)} mistakes. {listed}")


def _numbers(config: EditConfig) -> list[str]:
    turns, (smallest, largest), split = config.turns, config.region_area, config.split
    needed = max(1, sum(share > 0 for share in split))
    rules = (
        (
            config.images >= needed,
            f"edit.images: Expected at least {needed}, one for each split to fill, got {config.images}.",
        ),
        (
            config.size == 0 or config.size >= MIN_SIZE,
            f"edit.size: Expected at least {MIN_SIZE} pixels, or 0 for whole images, got {config.size}.",
        ),
        (0 <= config.authentic_share <= 1, f"edit.authentic_share: Expected 0..1, got {config.authentic_share}."),
        (
            0 < len(turns) < 255 and all(math.isfinite(f) and f >= 0 for f in turns) and sum(turns) > 0,
            f"edit.turns: Expected frequencies of 1, 2, ... turns, none negative and not all 0, got {list(turns)}.",
        ),
        (
            0 < smallest <= largest < 1,
            f"edit.region_area: Expected 0 < smallest <= largest < 1, got {smallest} and {largest}.",
        ),
        (
            len(split) == 3 and all(share >= 0 for share in split) and math.isclose(sum(split), 1, abs_tol=1e-6),
            f"edit.split: Expected three shares of 0..1 with a sum of 1, got {list(split)}.",
        ),
        (config.seed >= 0, f"edit.seed: Expected 0 or more, got {config.seed}."),
        (config.workers >= 0, f"edit.workers: Expected 0 (one per core) or more, got {config.workers}."),
    )
    return [message for holds, message in rules if not holds]


def _thresholds(config: EditConfig) -> list[str]:
    shares = ("min_share_changed", "min_agreement", "generated_share")
    problems = [
        f"edit.{name}: Expected 0..1, got {getattr(config, name)}."
        for name in shares
        if not 0 <= getattr(config, name) <= 1
    ]
    for name, least in (("min_mean_change", 0), ("max_outside", 0), ("retries", 0), ("feather", 0), ("max_loaded", 0)):
        if not getattr(config, name) >= least:
            problems.append(f"edit.{name}: Expected {least} or more, got {getattr(config, name)}.")
    for name in ("batch", "stop_after"):
        if getattr(config, name) < 1:
            problems.append(f"edit.{name}: Expected 1 or more, got {getattr(config, name)}.")
    unknown = sorted(set(config.shares) - set(config.editors))
    if unknown:
        problems.append(f"edit.shares: Expected names of edit.editors, got {', '.join(unknown)}.")
    shares_given = [config.shares.get(name, 1.0) for name in config.editors]
    if config.shares and (any(not share >= 0 for share in shares_given) or not sum(shares_given) > 0):
        problems.append(f"edit.shares: Expected frequencies, none negative and not all 0, got {config.shares}.")
    return problems


def _parts(config: EditConfig) -> list[str]:
    """Planner, proposers and options: names that exist, options that the part has."""
    problems: list[str] = []
    parts: dict[str, object] = {}
    for field, names, table, what in (
        ("planner", [config.planner], PLANNERS, "planner"),
        ("regions", config.regions, REGIONS, "proposer of regions"),
    ):
        for name in names:
            try:
                parts[name] = lookup(cast("Mapping[str, object]", table), name, what=what, trusted=True)
            except ValueError as error:
                problems.append(f"edit.{field}: {error}")
    if not config.regions:
        problems.append("edit.regions: Expected at least one proposer of regions, got none.")
    for name in config.editors:
        with suppress(ValueError):  # reported by _editors
            editor = find_editor(name)
            parts[name] = NeedsModel(editor.load, editor.defaults) if editor.load else None
    if config.quality_check:
        parts["quality"] = SCORER
    for name in config.options:
        if name not in parts:
            problems.append(f"edit.options: Expected options of parts that are used, got some of '{name}'.")
            continue
        try:
            options_of(name, parts[name], config)
        except (ValueError, TypeError) as error:
            problems.append(f"edit.options: {error}")
    return problems


def _bases(config: EditConfig) -> list[str]:
    problems = []
    if config.generated_share and not (config.captions and config.generators):
        problems.append("edit.generated_share: Expected edit.captions and edit.generators beside it, got none.")
    if config.captions and not config.generated_share:
        problems.append("edit.captions: Expected a share of generated images in edit.generated_share, got 0.")
    if config.generated_share + config.authentic_share > 1 + 1e-9:
        problems.append(
            "edit.generated_share: Expected it and edit.authentic_share to be at most 1 together, got more."
        )
    if config.photos == "none" and not (config.generated_share == 1 and config.authentic_share == 0):
        problems.append("edit.photos: Expected generated_share 1 and authentic_share 0 with 'none', got others.")
    for name in config.generators:
        if name not in config.editors:
            problems.append(f"edit.generators: Expected names of edit.editors, got '{name}': its pixels need a label.")
            continue
        with suppress(ValueError):
            if find_editor(name).load_generator is None:
                problems.append(f"edit.generators: Expected editors with a text-to-image model, got '{name}'.")
    return problems


def _codecs(config: EditConfig) -> list[str]:
    problems = []
    for index, codec in enumerate(config.codecs or [config.codec]):
        try:
            kind, _, quality = codec.partition(":")
            low, dots, high = quality.partition("..")
            ends = [f"{kind}:{low}", f"{kind}:{high}"] if dots and config.codecs else [codec]
            for one in ends:
                encode_image(np.zeros((8, 8, 3), np.uint8), one)
            if dots and config.codecs and int(low) > int(high):
                problems.append(f"edit.codecs: Expected the lower quality first, got '{codec}'.")
        except ValueError as error:
            problems.append(f"edit.codec{'s' if config.codecs else ''}: {error}")
        if config.codecs and not list(config.codecs.values())[index] > 0:
            problems.append(f"edit.codecs: Expected frequencies above 0, got {config.codecs[codec]} of '{codec}'.")
    return problems


def _shard(config: EditConfig) -> list[str]:
    try:
        read_shard(config.shard)
    except ValueError as error:
        return [f"edit.shard: {error}"]
    return []


def read_shard(text: str) -> tuple[int, int]:
    """Read "i/n" with i of 1..n; empty = the whole.

    >>> read_shard("2/8"), read_shard("")
    ((2, 8), (1, 1))
    """
    number, slash, of = text.partition("/") if text else ("1", "/", "1")
    if not slash or not number.isdecimal() or not of.isdecimal() or not 1 <= int(number) <= int(of):
        raise ValueError(f"Expected i/n with i of 1..n, for example 3/8, got '{text}'.")
    return int(number), int(of)


def _editors(config: EditConfig) -> list[str]:
    problems = []
    for name in config.editors:
        try:
            lookup(COMPOSITES, find_editor(name).composite, what="composition")
        except ValueError as error:
            problems.append(f"edit.editors: {error}")
    doubled = sorted(name for name, count in Counter(config.editors).items() if count > 1)
    try:
        LabelSpace(tuple(dict.fromkeys(config.editors)))
    except ValueError as error:
        problems.append(f"edit.editors: {error}")
    if doubled:
        problems.append(f"edit.editors: Expected each editor once, got {', '.join(doubled)} more than once.")
    return problems


def _folders(config: EditConfig) -> list[str]:
    if not config.out:
        return ["edit.out: Expected a folder to write to, got an empty name."]
    if config.photos:
        photos, out = (Path(folder).expanduser().resolve() for folder in (config.photos, config.out))
        if out == photos or photos in out.parents:
            return [
                f"edit.out: Expected a folder outside the photographs, got '{config.out}' inside '{config.photos}'. "
                "The next build would take its images for photographs."
            ]
    return []
