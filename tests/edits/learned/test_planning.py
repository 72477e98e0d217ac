"""Planners and proposers that need a model: Qwen2.5-VL, Grounding DINO and SAM, tiny, of their own classes."""

import json

import numpy as np
import pytest

from forensegm.config import EditConfig
from forensegm.edits import EDITORS, build_edits
from forensegm.edits.editors import OFFLINE
from forensegm.edits.loading import ready, unload
from forensegm.edits.planners import PLANNERS
from forensegm.edits.quality import QUESTION as SCORE_QUESTION
from forensegm.edits.quality import quality_scorer
from forensegm.edits.regions import OFFLINE as PROPOSERS
from forensegm.edits.regions import REGIONS
from forensegm.edits.view import PlanFailed, TurnPlan, View
from forensegm.edits.vision_language import read_json
from forensegm.edits.vlm_planner import KEYS, QUESTION, check_wish
from forensegm.imageio import write_image

WISH = {"object": "red disc", "kind": "change", "instruction": "Make the disc blue.", "prompt": "a blue disc"}


@pytest.fixture(autouse=True)
def no_models_left():
    yield
    unload()


def scene(hw=(70, 90)):
    y, x = np.mgrid[: hw[0], : hw[1]]
    image = np.stack([60 + x, 80 + y, 100 + 0 * x], axis=2).clip(0, 255).astype(np.uint8)
    image[np.hypot(y - 35, x - 40) < 15] = (220, 40, 30)
    return image


def view(area=(0.02, 0.3), query=""):
    return View(scene(), area, np.random.default_rng(0), query=query)


def configured(**options):
    return EditConfig(options=options, device="cpu", local_files_only=True)


def test_an_answer_becomes_a_plan(answering_model):
    question = QUESTION.format(low=0.02, high=0.3, kinds="change", first="change", hint="")
    folder = answering_model([scene()], question, json.dumps(WISH))
    planner = ready("vlm", PLANNERS["vlm"], configured(vlm={"model": folder, "max_new_tokens": 160}))
    asked = []

    def finds_the_disc(seen):
        asked.append(seen.query)
        return PROPOSERS["shapes"](seen)

    plan = planner(view(), OFFLINE["resample"], {"mine": finds_the_disc})
    assert asked == ["red disc"]
    assert (plan.kind, plan.instruction, plan.prompt, plan.planner) == (
        "change",
        "Make the disc blue.",
        "a blue disc",
        "vlm",
    )
    assert plan.region.any()


def test_a_model_that_babbles_is_asked_again_and_then_given_up(tiny_part):
    options = {"model": tiny_part("qwen_vl"), "max_new_tokens": 8, "tries": 2}
    planner = ready("vlm", PLANNERS["vlm"], configured(vlm=options))
    with pytest.raises(PlanFailed, match="No usable answer of the vision-language model in 2 tries: Expected one JSON"):
        planner(view(), EDITORS["sd2"], PROPOSERS)


def test_turns_without_a_plan_are_counted_and_the_build_goes_on(tiny_part, tmp_path):
    for number in range(3):
        write_image(tmp_path / f"photos/{number}.png", np.roll(scene(), 7 * number, axis=1))
    config = EditConfig(
        photos=str(tmp_path / "photos"),
        out=str(tmp_path / "data"),
        images=3,
        size=64,
        planner="vlm",
        options={"vlm": {"model": tiny_part("qwen_vl"), "max_new_tokens": 4, "tries": 1}},
        authentic_share=0.0,
        turns=[1.0],
        retries=1,
        device="cpu",
        editors=["telea"],
    )
    summary = build_edits(config)
    assert summary.counts["dropped_turns"] == 3
    assert summary.audit["telea"]["rejected_tries"] == {"planner": 6}
    assert "No usable answer" in next(iter(summary.audit["telea"]["errors"]))


@pytest.mark.parametrize(
    "answer",
    [
        "The red disc.",
        "[1, 2]",
        '{"object": "disc"}',
        json.dumps({**WISH, "more": 1}),
        "{" * 100_000,
        json.dumps(WISH)[:-3],
    ],
    ids=["prose", "list", "keys missing", "keys too many", "deep", "cut off"],
)
def test_what_is_no_answer(answer):
    with pytest.raises(ValueError, match="Expected"):
        read_json(answer, KEYS)


@pytest.mark.parametrize(
    "change",
    [{"object": ""}, {"object": 3}, {"prompt": "x" * 201}, {"kind": "remove"}, {"kind": "paint"}, {"kind": ["add"]}],
)
def test_what_is_no_wish(change):
    with pytest.raises(ValueError, match="Expected"):
        check_wish({**WISH, **change}, ("add", "change"))
    assert check_wish({**WISH, "object": " red\n disc "}, ("change",)) == WISH


def test_a_fenced_answer_is_read():
    assert read_json(f"```json\n{json.dumps(WISH)}\n```", KEYS) == WISH


def test_grounding_dino_and_sam(tiny_part):
    options = {"detector": tiny_part("grounding_dino"), "segmenter": tiny_part("sam"), "box_threshold": 0.0}
    propose = ready(
        "grounded_sam", REGIONS["grounded_sam"], configured(grounded_sam={**options, "text_threshold": 0.0})
    )
    boxes, names = propose.detect(scene(), ["red disc"])
    assert len(boxes) == len(names) > 0
    assert all(len(box) == 4 for box in boxes)
    region = propose.outline(scene(), [10.0, 10.0, 40.0, 40.0])
    assert region.shape == (70, 90)
    assert region.dtype == bool
    found = [propose(View(scene(), (0.0, 1.0), np.random.default_rng(0), query=query)) for query in ("red disc", "")]
    assert found[0].name == "red disc"
    assert found[0].region.shape == (70, 90)
    assert propose(View(scene(), (0.4999, 0.49991), np.random.default_rng(0))) is None


def test_a_box_threshold_that_nothing_reaches_gives_nothing(tiny_part):
    options = {"detector": tiny_part("grounding_dino"), "segmenter": tiny_part("sam"), "box_threshold": 1.0}
    propose = ready("grounded_sam", REGIONS["grounded_sam"], configured(grounded_sam=options))
    assert propose(view()) is None


def test_quality_scores(answering_model, tiny_part):
    plan = TurnPlan(np.ones((70, 90), bool), "shapes", "change", "Make it blue.", 1)
    babbling = configured(quality={"model": tiny_part("qwen_vl"), "max_new_tokens": 4})
    assert quality_scorer(babbling)(scene(), scene(), plan) == (None, False)
    folder = answering_model([scene(), scene()], SCORE_QUESTION.format(order="Make it blue."), '{"score": 6}')
    for least, enough in ((7.0, False), (5.0, True)):
        taught = configured(quality={"model": folder, "min_score": least})
        assert quality_scorer(taught)(scene(), scene(), plan) == (6.0, enough)
