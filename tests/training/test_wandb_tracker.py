import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from forensegm.config import TrackConfig
from forensegm.sample import LabelSpace
from forensegm.training.tracking import Background, Overlay
from forensegm.training.wandb_tracker import WandbTracker, class_labels, logged_in, overlay_mask, wandb_mode

LABELS = LabelSpace(("telea", "copy_move"))
NETRC = "machine api.wandb.ai\n  login user\n  password 0123456789\n"


def children() -> list[str]:
    """Command lines of this process's children that are still alive."""
    listed = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if "wandb" in line]


def start(out: Path, run_id: str = "abcd1234") -> Background:
    config = TrackConfig(wandb="offline", project="test")
    return Background(lambda: WandbTracker(config, out=out, run_id=run_id, settings={"a": {"b": 1}}), name="wandb")


def test_offline_run_with_overlays_is_written_quietly_and_leaves_no_process(tmp_path, capfd):
    tracker = start(tmp_path)
    for step in (1, 2):
        tracker.log(step, {"train/loss": 1.0 / step, "val/auc": None})
    truth = np.zeros((12, 12), dtype=np.uint8)
    truth[2:5] = 2
    truth[8:] = 255
    image = np.full((12, 12, 3), 90, dtype=np.uint8)
    tracker.overlay(2, [Overlay("photo 1", image, truth, np.minimum(truth, 1), LABELS)])
    tracker.finish()
    assert tracker.failures == 0
    assert capfd.readouterr() == ("", "")
    assert children() == []
    run = next((tmp_path / "wandb").glob("offline-run-*-abcd1234"))
    masks = sorted(run.glob("files/media/images/mask/*.png"))
    stored = {tuple(np.unique(np.asarray(Image.open(mask)))) for mask in masks}
    assert stored == {(0, 2, 255), (0, 1)}
    assert (run / "run-abcd1234.wandb").stat().st_size > 0


def test_a_resumed_run_keeps_its_id(tmp_path):
    for _ in range(2):
        tracker = start(tmp_path, "same0001")
        tracker.log(1, {"train/loss": 1.0})
        tracker.finish()
        assert tracker.failures == 0
        time.sleep(1.1)  # wandb names its folders by the second
    assert len(list((tmp_path / "wandb").glob("offline-run-*-same0001"))) == 2


def test_case_40_every_mask_becomes_uint8_with_a_name_for_every_id(shared):
    case = shared / "cases" / "40_wandb_mask_overlay"
    expected = json.loads((case / "expected.json").read_text())
    with np.load(case / "masks.npz") as masks:
        for mask in masks.values():
            sent, lost = overlay_mask(mask)
            assert str(sent.dtype) == expected["sent_dtype"]
            assert lost == int((mask.astype(np.int64) > 255).sum())
            names = class_labels(LABELS, [sent])
            assert {int(value) for value in np.unique(sent)} <= set(names)
            assert names[255] == "ignore"


def test_class_labels_name_what_the_label_space_does_not_know():
    mask = np.array([[0, 1, 7, 255]], dtype=np.uint8)
    expected = {0: "authentic", 1: "telea", 2: "copy_move", 7: "unknown_7", 255: "ignore"}
    assert class_labels(LABELS, [mask]) == expected


@pytest.mark.parametrize(
    ("choice", "environment", "mode"),
    [
        ("offline", {"WANDB_API_KEY": "x"}, "offline"),
        ("off", {"WANDB_API_KEY": "x"}, "off"),
        ("auto", {}, "offline"),
        ("auto", {"WANDB_API_KEY": "x"}, "online"),
        ("auto", {"WANDB_API_KEY": "x", "WANDB_MODE": "offline"}, "offline"),
        ("auto", {"WANDB_API_KEY": "x", "WANDB_MODE": "disabled"}, "off"),
    ],
)
def test_mode(choice, environment, mode, tmp_path):
    assert wandb_mode(choice, environment={"HOME": str(tmp_path), **environment}) == mode


def test_logged_in_by_netrc(tmp_path):
    environment = {"HOME": str(tmp_path)}
    assert not logged_in(environment=environment)
    (tmp_path / ".netrc").write_text(NETRC)
    assert logged_in(environment=environment)
    assert not logged_in(environment={**environment, "WANDB_BASE_URL": "https://wandb.example.org"})
    assert not logged_in(environment={"HOME": "/nowhere", "NETRC": str(tmp_path / "none")})
    (tmp_path / ".netrc").write_text("machine\n\n broken")
    assert not logged_in(environment=environment)


WITHOUT_WANDB = """
import sys
sys.modules["wandb"] = None
from pathlib import Path
from forensegm.config import TrackConfig
from forensegm.training.tracking import Background
from forensegm.training.wandb_tracker import WandbTracker

out = Path(sys.argv[1])
tracker = Background(lambda: WandbTracker(TrackConfig(), out=out, run_id="x", settings={}), name="wandb")
tracker.log(1, {"loss": 1.0})
tracker.finish()
print(tracker.failures)
"""


def test_without_the_package_there_is_one_warning_and_no_error(tmp_path):
    command = [sys.executable, "-W", "error", "-c", WITHOUT_WANDB, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\n"
    assert done.stderr.count("Tracking to wandb failed") == 1
