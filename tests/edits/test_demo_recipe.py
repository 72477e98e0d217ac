"""The recipe in datasets/demo is what the defaults build."""

from pathlib import Path

import yaml

from forensegm.config import Config, EditConfig, plain
from forensegm.edits.check import check_config
from forensegm.edits.editors import OFFLINE
from forensegm.edits.editors.diffusion import DIFFUSION
from forensegm.edits.sources.packaged import PACKAGED

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "datasets" / "demo"


def test_recipe_equals_the_defaults():
    recipe = yaml.safe_load((FOLDER / "dataset.yaml").read_text("utf-8"))
    defaults = plain(EditConfig())
    assert recipe["labels"] == defaults["editors"]
    assert {key: defaults[key] for key in recipe["edit"]} == recipe["edit"]


def test_readme_names_every_editor_and_photograph():
    text = (FOLDER / "README.md").read_text("utf-8")
    assert all(f"| {name} |" in text for name in OFFLINE)
    assert all(Path(file).stem in text for _, file, _, _ in PACKAGED)


def test_the_mirror_of_diffseg30k_is_a_usable_configuration():
    config = Config.from_dict(yaml.safe_load((ROOT / "experiments" / "diffseg30k.yaml").read_text("utf-8")))
    check_config(config.edit)


def test_the_arithmetic_of_the_building_page_follows_from_the_table():
    text = (ROOT / "datasets" / "building.md").read_text("utf-8")
    seven = ("sd2", "sd35", "sdxl", "flux_fill", "kolors", "hunyuan_dit", "kandinsky22")
    for name in seven:
        row = DIFFUSION[name]
        assert f"| {name} | {row.side} | {row.steps} x {row.passes} | {row.tflop:.4g}" in text
        assert f"{row.cost:,.0f} |" in text
    mean = sum(DIFFUSION[name].cost for name in seven) / 7
    assert f"{mean:,.0f} TFLOP" in text
