"""A planner and a proposer of one's own, as a user would write them; and what is done about bad ones."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forensegm.config import EditConfig
from forensegm.datasets.records import read_records, rle_decode
from forensegm.edits import build_edits

OWN = """
import numpy as np
from forensegm.edits.regions import draw_region
from forensegm.edits.view import Found, PlanFailed, TurnPlan


def upper_left(view):
    region = np.zeros(view.image.shape[:2], bool)
    region[4:20, 4:20] = True
    return Found(region, "corner")


def nothing(view):
    return Found(np.zeros(view.image.shape[:2], bool))


def mine(view, editor, proposers):
    found, name = draw_region(view, proposers)
    return TurnPlan(found.region, name, editor.kinds[0], "Do it.", int(view.rng.integers(2**32)), planner="mine")


def empty(view, editor, proposers):
    return TurnPlan(np.zeros(view.image.shape[:2], bool), "none", "add", "Do it.", 1)


def other_size(view, editor, proposers):
    return TurnPlan(np.ones((5, 5), bool), "none", "add", "Do it.", 1)


def everything(view, editor, proposers):
    return TurnPlan(np.ones(view.image.shape[:2], bool), "all", "add", "Do it.", int(view.rng.integers(2**32)))


def gives_up(view, editor, proposers):
    raise PlanFailed("nothing to do here")
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    (tmp_path / "own_parts.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    return EditConfig(
        out=str(tmp_path / "data"), images=6, size=64, authentic_share=0.0, turns=[1.0], workers=1, editors=["telea"]
    )


def edits_of(config):
    return [edit for record in read_records(Path(config.out)) for edit in record.edits]


def test_own_planner_and_proposer(config):
    build_edits(replace(config, planner="own_parts:mine", regions=["own_parts:upper_left"]))
    for edit in edits_of(config):
        assert edit.instruction == "Do it."
        assert edit.parameters["planner"] == "mine"
        assert edit.parameters["region"] == "own_parts:upper_left"
        assert rle_decode(edit.mask).sum() == 256


def test_a_proposer_that_finds_nothing_leaves_it_to_the_shapes(config):
    build_edits(replace(config, regions=["own_parts:nothing"]))
    assert {edit.parameters["region"] for edit in edits_of(config)} == {"shapes"}


@pytest.mark.parametrize(
    ("planner", "message"),
    [
        ("empty", "Expected a region of at least one pixel from 'none'"),
        ("other_size", "Expected a region of bool [64, 64] from 'none', got bool [5, 5]"),
        ("gives_up", "nothing to do here"),
    ],
)
def test_plans_that_cannot_be_carried_out_are_counted(config, planner, message):
    summary = build_edits(replace(config, planner=f"own_parts:{planner}", retries=1))
    assert summary.counts["dropped_turns"] == 6
    audit = json.loads(Path(config.out, "audit.json").read_text())
    assert audit["editors"]["telea"]["rejected_tries"] == {"planner": 12}
    assert all(message in one["error"] for one in audit["dropped"])


def test_a_mask_that_covers_everything(config):
    build_edits(replace(config, planner="own_parts:everything", editors=["recompress"]))
    for record in read_records(Path(config.out)):
        for edit in record.edits:
            assert rle_decode(edit.mask).all()
            assert edit.changed_outside == 0
    assert np.all([edit.measured["mean_outside"] == 0 for edit in edits_of(config)])
