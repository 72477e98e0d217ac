"""Whether a class can be told without looking at the picture: from its codec, quality, subsampling or size alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forensegm.datasets.scan import ItemFacts
from forensegm.sample import LabelSpace

# A rule that lifts the balanced accuracy by this share of what lies between chance and 1 spoils an experiment.
LIFT = 0.3
SIGNIFICANCE = 0.05
PERMUTATIONS = 999
WITHIN_CODEC = ("quality", "subsampling")  # which follow from the codec where every codec has one value
GRIDS = (64, 16, 8)  # to whose multiples editors crop: latents, chroma and JPEG blocks


@dataclass(frozen=True)
class Confound:
    """A property that tells a class.

    Attributes:
        target: what it tells: "authentic or edited", or "the editor".
        by: the property.
        balanced_accuracy: of the rule, 0..1.
        chance: of a rule that knows nothing, 0..1.
        p_value: share of shuffled data sets on which the rule does as well.
        examples: how many images of each class have each value, for the commonest values.
    """

    target: str
    by: str
    balanced_accuracy: float
    chance: float
    p_value: float
    examples: Mapping[str, Mapping[str, int]]


def find_confounds(facts: Sequence[ItemFacts], labels: LabelSpace, *, seed: int = 0) -> list[Confound]:
    """Return the properties that tell authentic from edited images, or one editor from another.

    The rule guesses the commonest class among the other images of the same value, so that values which are unique (as
    file sizes are) tell nothing; its mean recall over classes is compared with the same on shuffled classes.

    Args:
        facts: of the data set; unreadable items are passed over.
        labels: its label space.
        seed: of the shuffling.
    """
    readable = [item for item in facts if not item.error and item.label is not None and item.label.fake is not None]
    edited = [item for item in readable if item.label is not None and item.label.dominant is not None]
    questions: list[tuple[str, list[ItemFacts], list[str]]] = [
        (
            "authentic or edited",
            readable,
            ["edited" if item.label and item.label.fake else "authentic" for item in readable],
        ),
        ("the editor", edited, [labels.name_of(item.label.dominant or 0) for item in edited if item.label]),
    ]
    found = []
    for target, items, classes in questions:
        by_codec = 0.0
        for by, values in properties(items).items():
            confound = try_rule(values, classes, target=target, by=by, rng=np.random.default_rng(seed))
            if confound is None or (by in WITHIN_CODEC and confound.balanced_accuracy <= by_codec):
                continue
            by_codec = confound.balanced_accuracy if by == "codec" else by_codec
            found.append(confound)
    return found


def properties(items: Sequence[ItemFacts]) -> dict[str, list[Hashable]]:
    """Return what stands in the header of every item, by name; quality and subsampling within their codec."""
    return {
        "codec": [str(item.codec.get("codec")) for item in items],
        "quality": [_named(item, "quality") for item in items],
        "subsampling": [_named(item, "subsampling") for item in items],
        "size": [f"{item.hw[0]}x{item.hw[1]}" for item in items],
        "sides on a grid": [_grid(item.hw) for item in items],
    }


def try_rule(
    values: Sequence[Hashable], classes: Sequence[str], *, target: str, by: str, rng: np.random.Generator
) -> Confound | None:
    """Return the confound if the values tell the classes, else None."""
    names, truth = np.unique(np.asarray(classes, dtype=str), return_inverse=True)
    kinds, value = np.unique(np.asarray(values, dtype=str), return_inverse=True)
    if len(names) < 2 or len(kinds) < 2:
        return None
    accuracy, chance = leave_one_out(value, truth), 1 / len(names)
    if accuracy < chance + LIFT * (1 - chance):
        return None
    as_good = sum(leave_one_out(value, rng.permutation(truth)) >= accuracy for _ in range(PERMUTATIONS))
    p_value = (as_good + 1) / (PERMUTATIONS + 1)
    if p_value > SIGNIFICANCE:
        return None
    table = _table(value, truth, len(kinds), len(names))
    common = np.argsort(-table.sum(axis=1), kind="stable")[:5]
    examples = {
        str(kinds[row]): {str(names[column]): int(table[row, column]) for column in range(len(names))} for row in common
    }
    return Confound(target, by, accuracy, chance, p_value, examples)


def leave_one_out(value: NDArray[np.intp], truth: NDArray[np.intp]) -> float:
    """Mean recall over classes of guessing each item by the commonest class of the others with its value.

    A tie counts as its share; a value that no other item has, as chance.

    >>> leave_one_out(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    1.0
    """
    kinds, names = int(value.max()) + 1, int(truth.max()) + 1
    table = _table(value, truth, kinds, names)
    recalls = []
    for one in range(names):
        others = table.copy()
        others[:, one] = np.maximum(others[:, one] - 1, 0)
        best = others.max(axis=1, keepdims=True)
        share = np.where(others[:, one] == best[:, 0], 1 / (others == best).sum(axis=1), 0.0)
        recalls.append(float((share * table[:, one]).sum() / table[:, one].sum()))
    return float(np.mean(recalls))


def _table(value: NDArray[np.intp], truth: NDArray[np.intp], kinds: int, names: int) -> NDArray[np.int64]:
    """How many items have each value (rows) and class (columns)."""
    return np.bincount(value * names + truth, minlength=kinds * names).reshape(kinds, names).astype(np.int64)


def _named(item: ItemFacts, key: str) -> str:
    value = item.codec.get(key)
    return f"{item.codec.get('codec')}{'' if value is None else f' {value}'}"


def _grid(hw: tuple[int, int]) -> str:
    """The coarsest grid that both sides are multiples of."""
    fitting = [step for step in GRIDS if hw[0] % step == 0 and hw[1] % step == 0]
    return f"multiples of {fitting[0]}" if fitting else "no multiples of 8"
