"""Distortions in a row, written as one string: "resize(0.5)|jpeg(70)", "jpeg(50..95)" for a range to draw from."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from forensegm.distortions.ops import LIBRARIES, OPS, Op, Param, Value
from forensegm.lookup import lookup
from forensegm.sample import IGNORE, Image, Mask, check_image, check_mask, check_same_size, class_areas

logger = logging.getLogger(__name__)

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_STEP = re.compile(r"\s*(?P<name>[A-Za-z_][\w.]*(?::\w+)?)\s*(?:\((?P<values>[^()|]*)\))?\s*")
_RANGE = re.compile(rf"({_NUMBER})\s*\.\.\s*({_NUMBER})")


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included, to draw from."""

    low: float
    high: float

    def __str__(self) -> str:
        """As it is written in a chain: "50..95"."""
        return f"{text_of(self.low)}..{text_of(self.high)}"


@dataclass(frozen=True)
class Step:
    """One operation with its values, some of which may be ranges."""

    op: Op
    values: tuple[Value | Range, ...]

    @property
    def level(self) -> str:
        """The values as text, without those that equal their default."""
        shown = list(self.values)
        for param, value in reversed(list(zip(self.op.params, self.values, strict=True))):
            if param.default is None or value != param.default:
                break
            shown.pop()
        return ", ".join(text_of(value) for value in shown)

    def __str__(self) -> str:
        """As it is written in a chain: "jpeg(70)"."""
        return f"{self.op.name}({self.level})" if self.level else self.op.name


@dataclass(frozen=True)
class Chain:
    """Operations that are applied from left to right; `str(chain)` gives back the text it was parsed from.

    >>> chain = parse_chain("resize( 0.50 )|jpeg(70,4:2:0)")
    >>> str(chain), chain.name, chain.level
    ('resize(0.5)|jpeg(70)', 'resize|jpeg', '0.5|70')
    """

    steps: tuple[Step, ...]

    def __str__(self) -> str:
        """The chain in its shortest form; parsing it gives an equal chain."""
        return "|".join(str(step) for step in self.steps)

    @property
    def name(self) -> str:
        """The operations alone, for example "resize|jpeg"."""
        return "|".join(step.op.name for step in self.steps)

    @property
    def level(self) -> str:
        """The values alone, for example "0.5|70"."""
        return "|".join(step.level for step in self.steps)

    @property
    def drawn(self) -> bool:
        """Whether every value is a number or word, and no range is left to draw."""
        return not any(isinstance(value, Range) for step in self.steps for value in step.values)

    @property
    def scale(self) -> float:
        """Factor by which the sides of an image grow."""
        factor = 1.0
        for step in self._drawn_steps():
            if step.op.scale is not None:
                factor *= step.op.scale(*step.values)
        return factor

    def draw(self, rng: np.random.Generator) -> Chain:
        """Return the chain with a number for every range: uniform, whole where the parameter is, else 4 decimals."""
        steps = []
        for step in self.steps:
            pairs = zip(step.op.params, step.values, strict=True)
            steps.append(Step(step.op, tuple(draw_value(param, value, rng) for param, value in pairs)))
        return Chain(tuple(steps))

    def apply(
        self, image: Image, masks: Sequence[Mask] = (), *, rng: np.random.Generator
    ) -> tuple[Image, tuple[Mask, ...]]:
        """Distort an image and move masks of its size along; ranges must be drawn. Results share no memory with it."""
        moved = tuple(masks)
        for step in self._drawn_steps():
            image = step.op(image, *step.values, rng=rng)  # type: ignore[arg-type]
            if step.op.move_mask is not None:
                moved = tuple(step.op.move_mask(mask, *step.values) for mask in moved)
        return image, tuple(new.copy() if new is old else new for new, old in zip(moved, masks, strict=True))

    def record(self) -> list[dict[str, Any]]:
        """What is written beside results: per step the op, its parameters, their units, and the library's version."""
        return [
            {
                "op": step.op.name,
                "parameters": {
                    param.name: str(value) if isinstance(value, Range) else value
                    for param, value in zip(step.op.params, step.values, strict=True)
                },
                "units": {param.name: param.unit for param in step.op.params},
                "library": LIBRARIES[step.op.library]() if step.op.library in LIBRARIES else step.op.library,
            }
            for step in self.steps
        ]

    def _drawn_steps(self) -> tuple[Step, ...]:
        if not self.drawn:
            raise ValueError(f"Expected a chain without ranges, got '{self}'. Call draw(rng) first.")
        return self.steps


def parse_chain(text: str, *, trusted: bool = False) -> Chain:
    """Parse "op(value, ...)|op(...)".

    Args:
        text: operations of `OPS` with their values; a number may be a range "low..high", to be drawn later.
        trusted: whether the text is the user's own word, so that "pkg.mod:op(...)", naming an `Op`, is imported.

    Raises:
        ValueError: an unknown operation, a wrong number of values, or a value out of its range.
    """
    return Chain(tuple(parse_step(part, text, trusted=trusted) for part in text.split("|")))


def parse_step(part: str, chain: str, *, trusted: bool) -> Step:
    """Parse one "op(value, ...)" of a chain."""
    match = _STEP.fullmatch(part)
    if match is None:
        raise ValueError(
            f"Expected a distortion such as 'jpeg(70)' or 'resize(0.5)|jpeg(70)', got '{part.strip()}' in '{chain}'."
        )
    op = lookup(OPS, match["name"], what="distortion", trusted=trusted)
    if not isinstance(op, Op):
        raise ValueError(f"Expected the distortion '{match['name']}' to be an Op, got {op!r}.")
    if ":" in match["name"]:
        op = replace(op, name=match["name"])  # so that the chain's text can be parsed again
    written = match["values"] or ""
    values = [parse_value(word.strip()) for word in written.split(",")] if written.strip() else []
    lows = op.check([value.low if isinstance(value, Range) else value for value in values])
    highs = op.check([value.high if isinstance(value, Range) else value for value in values])
    for param, value in zip(op.params, values, strict=False):
        if isinstance(value, Range) and value.low > value.high:
            raise ValueError(f"Expected the range {param.name} of {op.name} to rise, got {value} in '{chain}'.")
    kept = [
        Range(float(low), float(high)) if index < len(values) and isinstance(values[index], Range) else low
        for index, (low, high) in enumerate(zip(lows, highs, strict=True))
    ]
    return Step(op, tuple(kept))


def parse_value(word: str) -> Value | Range:
    """Read a number, a range or a word."""
    if match := _RANGE.fullmatch(word):
        return Range(float(match[1]), float(match[2]))
    return float(word) if re.fullmatch(_NUMBER, word) else word


def text_of(value: Value | Range) -> str:
    """Shortest text that reads back as the same value."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def draw_value(param: Param, value: Value | Range, rng: np.random.Generator) -> Value:
    """Draw from a range; any other value is returned as it is."""
    if not isinstance(value, Range):
        return value
    if param.kind == "int":
        return int(rng.integers(int(value.low), int(value.high), endpoint=True))
    # Four decimals keep records readable, and are finer than any of these parameters can be felt.
    return min(max(round(float(rng.uniform(value.low, value.high)), 4), value.low), value.high)


@overload
def distort(image: Image, chain: str | Chain, *, mask: None = None, seed: int | np.random.Generator = 0) -> Image: ...
@overload
def distort(
    image: Image, chain: str | Chain, *, mask: Mask, seed: int | np.random.Generator = 0
) -> tuple[Image, Mask]: ...
def distort(
    image: Image, chain: str | Chain, *, mask: Mask | None = None, seed: int | np.random.Generator = 0
) -> Image | tuple[Image, Mask]:
    """Distort an image; a mask follows where pixels move, by nearest-exact, and stays as it is elsewhere.

    The same image, chain and seed give the same bits. Nothing shares memory with the input.

    Args:
        image: uint8 RGB HxWx3.
        chain: for example "resize(0.5)|jpeg(70)"; ranges such as "jpeg(50..95)" are drawn from `seed` first.
        mask: uint8 HxW. Ids that a resize leaves no pixel of are named in a log warning.
        seed: seed or generator for ranges and noise.

    Returns:
        The distorted image, or (image, mask) when a mask is given. A resize changes the size of both.

    Raises:
        ValueError: a chain that cannot be parsed, a wrong dtype or shape, or a mask of another size.

    >>> distort(np.zeros((4, 6, 3), np.uint8), "resize(0.5)|noise(2)").shape
    (2, 3, 3)
    """
    rng = np.random.default_rng(seed)
    steps = (parse_chain(chain) if isinstance(chain, str) else chain).draw(rng)
    check_image(image)
    if mask is None:
        return steps.apply(image, rng=rng)[0]
    check_same_size(image.shape[:2], check_mask(mask).shape, name="image")
    distorted, (moved,) = steps.apply(image, (mask,), rng=rng)
    if moved.shape != mask.shape and (lost := lost_ids(mask, moved)):
        logger.warning("%s left no pixel of mask id %s.", steps, ", ".join(map(str, lost)))
    return distorted, moved


def lost_ids(before: Mask, after: Mask) -> tuple[int, ...]:
    """Ids (255 excepted) that `before` has and `after` has not: regions too thin for a smaller mask."""
    gone = (class_areas(before) > 0) & (class_areas(after) == 0)
    return tuple(int(value) for value in np.flatnonzero(gone[:IGNORE]))
