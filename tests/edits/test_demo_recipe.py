"""The recipe in datasets/demo is what the defaults build."""

from pathlib import Path

import yaml

from forensegm.config import EditConfig, plain
from forensegm.edits.editors import OFFLINE
from forensegm.edits.sources.packaged import PACKAGED

FOLDER = Path(__file__).resolve().parents[2] / "datasets" / "demo"


def test_recipe_equals_the_defaults():
    recipe = yaml.safe_load((FOLDER / "dataset.yaml").read_text("utf-8"))
    defaults = plain(EditConfig())
    assert recipe["labels"] == defaults["editors"]
    assert {key: defaults[key] for key in recipe["edit"]} == recipe["edit"]


def test_readme_names_every_editor_and_photograph():
    text = (FOLDER / "README.md").read_text("utf-8")
    assert all(f"| {name} |" in text for name in OFFLINE)
    assert all(Path(file).stem in text for _, file, _, _ in PACKAGED)
