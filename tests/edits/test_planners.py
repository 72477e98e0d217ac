"""Plans: images per split and scene, who edits, what is said."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from forensegm.config import EditConfig
from forensegm.edits.editors import OFFLINE
from forensegm.edits.planners import PLANNERS, describe_place
from forensegm.edits.plans import allot, plan_images
from forensegm.edits.regions import OFFLINE as PROPOSERS
from forensegm.edits.sources import Photo
from forensegm.edits.view import View


def photos(scenes, per_scene=1, hw=(80, 100)):
    return [
        Photo(f"{scene}_{number}", Path(f"{scene}_{number}.png"), scene, "CC0-1.0", hw, f"{scene}{number}")
        for scene in scenes
        for number in range(per_scene)
    ]


SPLITS = {"a": "train", "b": "train", "c": "train", "d": "val", "e": "test", "f": "test"}


def plans(config, per_scene=1, splits=SPLITS):
    return plan_images(photos(splits, per_scene), splits, config)


@pytest.mark.parametrize(
    ("total", "weights", "expected"),
    [
        (10, {"train": 5, "val": 2, "test": 3}, [5, 2, 3]),
        (7, {"train": 1, "val": 1, "test": 1}, [3, 2, 2]),
        (3, {"train": 90, "val": 5, "test": 5}, [1, 1, 1]),
        (4, {"train": 90, "val": 5, "test": 5}, [2, 1, 1]),
    ],
)
def test_allot_by_hand(total, weights, expected):
    assert list(allot(total, weights).values()) == expected


def test_shares_scenes_and_crops():
    config = EditConfig(images=60, size=32, authentic_share=0.3)
    planned = plans(config)
    assert [plan.index for plan in planned] == list(range(60))
    assert Counter(plan.split for plan in planned) == {"train": 30, "val": 10, "test": 20}
    assert set(Counter(plan.photo.scene for plan in planned).values()) == {10}
    for split, authentic in (("train", 9), ("val", 3), ("test", 6)):
        assert sum(not plan.editors for plan in planned if plan.split == split) == authentic
    for plan in planned:
        assert SPLITS[plan.photo.scene] == plan.split
        assert 0 <= plan.corner[0] <= 100 - 32
        assert 0 <= plan.corner[1] <= 80 - 32


def test_donors_never_cross_splits_and_are_other_scenes():
    planned = plans(EditConfig(images=60, size=32), per_scene=2)
    for plan in planned:
        assert bool(plan.donors) == bool(plan.editors)
        for donor in plan.donors:
            assert SPLITS[donor.scene] == plan.split
            if plan.split != "val":  # of a single scene, which lends to itself
                assert donor.scene != plan.photo.scene


def test_turns_and_editors_follow_their_frequencies():
    config = EditConfig(images=600, size=32, authentic_share=0.0, turns=[0.5, 0.0, 0.5], editors=["telea", "copy_move"])
    planned = plans(config)
    lengths = Counter(len(plan.editors) for plan in planned)
    assert set(lengths) == {1, 3}
    assert lengths[1] == pytest.approx(300, abs=60)
    editors = Counter(editor for plan in planned for editor in plan.editors)
    assert editors["telea"] == pytest.approx(600, abs=90)


def test_same_seed_same_plan():
    config = EditConfig(images=20, size=32)
    assert plans(config) == plans(config)
    assert plans(config) != plans(EditConfig(images=20, size=32, seed=1))


@pytest.mark.parametrize("name", OFFLINE)
def test_rule_planner(name):
    image = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    for seed in range(3):
        view = View(image, (0.05, 0.2), np.random.default_rng(seed))
        plan = PLANNERS["rules"](view, OFFLINE[name], PROPOSERS)
        assert plan.kind in OFFLINE[name].kinds
        assert 0.04 < plan.region.mean() < 0.21
        assert plan.instruction[0].isupper()
        assert plan.instruction.endswith(".")
        assert "{" not in plan.instruction


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        (slice(0, 3), slice(0, 3), "in the upper left"),
        (slice(0, 3), slice(3, 6), "at the top"),
        (slice(3, 6), slice(6, 9), "on the right"),
        (slice(3, 6), slice(3, 6), "in the middle"),
        (slice(6, 9), slice(3, 6), "at the bottom"),
        (slice(6, 9), slice(0, 3), "in the lower left"),
    ],
)
def test_describe_place(rows, columns, words):
    region = np.zeros((9, 9), bool)
    region[rows, columns] = True
    assert describe_place(region) == words
