"""Everything that can be wrong with an edit configuration, told at once and before any work."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np

from forensegm.config import EditConfig
from forensegm.edits.compose import COMPOSITES
from forensegm.edits.editors import find_editor
from forensegm.imageio import encode_image
from forensegm.lookup import lookup
from forensegm.sample import LabelSpace

MIN_SIZE = 32  # below it superpixels and objects mean nothing


def check_config(config: EditConfig) -> None:
    """Raise one ValueError that names every mistake in the configuration; return if there is none."""
    problems = [*_numbers(config), *_editors(config), *_folders(config)]
    try:
        encode_image(np.zeros((8, 8, 3), np.uint8), config.codec)
    except ValueError as error:
        problems.append(f"edit.codec: {error}")
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
        (config.size >= MIN_SIZE, f"edit.size: Expected at least {MIN_SIZE} pixels, got {config.size}."),
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
