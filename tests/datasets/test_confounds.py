import json

import numpy as np
import pytest

from forensegm.datasets import folder
from forensegm.datasets.confounds import find_confounds, leave_one_out, try_rule
from forensegm.datasets.scan import scan


@pytest.mark.parametrize("kind", ["confounded", "balanced"])
def test_case_47(shared, kind):
    case = shared / "cases" / "47_format_shortcut"
    dataset = folder(case / kind, images=None, authentic="authentic", generated="edited")
    found = find_confounds(scan(dataset), dataset.labels)
    assert bool(found) is json.loads((case / "expected.json").read_text())["flag"][kind]
    assert [confound.by for confound in found] == (["codec"] if kind == "confounded" else [])


def rule(values, classes):
    return try_rule(values, classes, target="it", by="size", rng=np.random.default_rng(0))


def test_a_rule_by_hand():
    # Of each pair the other one decides: two of three pairs agree.
    value, truth = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 0, 1])
    assert leave_one_out(value, truth) == pytest.approx(2 / 3)
    assert leave_one_out(np.arange(6), np.array([0, 0, 0, 1, 1, 1])) == pytest.approx(0.5)
    assert leave_one_out(np.zeros(4, int), np.array([0, 0, 1, 1])) == 0


def test_a_giveaway_is_found_and_named():
    confound = rule(["a"] * 20 + ["b"] * 18 + ["a"] * 2, ["authentic"] * 20 + ["edited"] * 20)
    assert confound.balanced_accuracy == pytest.approx(0.95)
    assert (confound.chance, confound.p_value) == (0.5, pytest.approx(0.001))
    assert confound.examples == {"a": {"authentic": 20, "edited": 2}, "b": {"authentic": 0, "edited": 18}}


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (list("abcdefgh"), ["x"] * 4 + ["y"] * 4),  # unique values tell nothing
        (["a"] * 8, ["x"] * 4 + ["y"] * 4),
        (["a", "b"] * 10, ["x"] * 10 + ["y"] * 10),
        (["a", "a", "b", "b"], ["x", "x", "y", "y"]),  # too few to be sure
        (["a"] * 6, ["x"] * 6),
    ],
)
def test_no_giveaway(values, classes):
    assert rule(values, classes) is None


def test_chance_seldom_looks_like_one():
    rng = np.random.default_rng(5)
    flagged = [rule(list(rng.choice(list("abcd"), 60)), list(rng.choice(["x", "y"], 60))) for _ in range(50)]
    assert sum(one is not None for one in flagged) <= 2


def test_the_editor_may_be_told_by_the_size(write_pairs, tmp_path):
    for hw, name in (((16, 16), "sd"), ((24, 20), "flux")):
        write_pairs({f"{name}/{number}.jpg": None for number in range(6)}, hw=hw)
    dataset = folder(
        tmp_path / "pairs", images=None, labels=["sd", "flux"], editor="sd", generated={"sd": "sd", "flux": "flux"}
    )
    found = {confound.by: confound for confound in find_confounds(scan(dataset), dataset.labels)}
    assert found["size"].target == "the editor"
    assert found["size"].examples["16x16"] == {"flux": 0, "sd": 6}
    assert set(found) == {"size", "sides on a grid"}
