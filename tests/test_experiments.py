"""Every experiment is a configuration that can run, and says what it costs."""

from pathlib import Path

import pytest
import yaml

from forensegm.config import Config
from forensegm.demo import DemoConfig, run_config

ROOT = Path(__file__).resolve().parents[1]
EXPERIMENTS = sorted((ROOT / "experiments").glob("*.yaml"))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_reads_and_its_head_says_command_cost_and_expectation(path):
    text = path.read_text(encoding="utf-8")
    Config.from_dict(yaml.safe_load(text))
    for word in ("# Command:", "# Cost:", "# Expected:"):
        assert word in text


def test_the_demo_experiment_is_the_demo():
    values = yaml.safe_load((ROOT / "experiments" / "demo.yaml").read_text(encoding="utf-8"))
    demo, written = run_config(DemoConfig(epochs=20)).to_dict(), Config.from_dict(values).to_dict()
    demo["track"] = written["track"]
    assert written == demo
