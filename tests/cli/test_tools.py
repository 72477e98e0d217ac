"""The scripts in tools/ do their work through the public API; they share the session's data set and run."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from forensegm.imageio import read_image

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tool_{name}", TOOLS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_train(workspace: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ("--config", str(workspace.train / "config.yaml"), "--out", str(tmp_path / "run"))
    assert load("train").main(list(settings)) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'run' / 'checkpoint'}\n"
    assert (tmp_path / "run" / "checkpoint" / "MODEL_CARD.md").is_file()


def test_evaluate(workspace: Any, tmp_path: Path) -> None:
    options = ("--data", workspace.source, "--chains", "jpeg(70)", "--out", str(tmp_path))
    assert load("evaluate").main([str(workspace.checkpoint), *options]) == 0
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert [row["chain"] for row in metrics["distortions"]] == ["jpeg(70)"]
    assert (tmp_path / "report.html").is_file()


def test_visualize_masks(workspace: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--split", "test", "--images", "2", "--out", str(tmp_path))
    assert load("visualize_masks").main([workspace.source, *options]) == 0
    pictures = sorted(tmp_path.rglob("*.png"))
    assert len(pictures) == 2
    assert read_image(pictures[0]).shape[1] > 128, "image and mask side by side"
    assert capsys.readouterr().out == f"wrote 2 pictures to {tmp_path}\n"


def test_a_mistake_is_one_line() -> None:
    command = [sys.executable, str(TOOLS / "train.py"), "--epoch", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "tools/train.py: error: Expected a known option, got '--epoch'. Did you mean --epochs?\n"
