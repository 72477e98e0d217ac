"""Every command of the README's chapter on data runs as it stands."""

import re
import shlex
import zipfile
from pathlib import Path

import numpy as np
import pytest

from forensegm.cli.main import main
from forensegm.imageio import write_image, write_mask

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHAPTER = README.partition("## Data you already have\n")[2].partition("\n## ")[0]
COMMANDS = [
    line.strip().partition("   #")[0].strip() for line in CHAPTER.splitlines() if line.startswith("    forensegm ")
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder that holds what the chapter names."""
    place = tmp_path_factory.mktemp("readme")
    built = ["edit", "--out", str(place / "runs/data"), "--images", "40", "--size", "64", "--workers", "1"]
    assert main([*built, "--region_area", "0.1,0.3"]) == 0
    rng = np.random.default_rng(0)
    mask = np.zeros((40, 48), np.uint8)
    mask[8:20, 8:30] = 255
    tones = mask.copy()
    tones[30:] = 128
    for number in range(3):
        image = rng.integers(0, 256, (40, 48, 3), dtype=np.uint8)
        for name in ("my/data/images", "my/data/real", "my/tones/images", "my/CASIA2/Au"):
            write_image(place / name / f"{name[-2:]}{number}.png", np.roll(image, len(name), axis=0))
        write_image(place / f"my/CASIA2/Tp/Tp_D_x_{number}.png", image[::-1].copy())
        write_mask(place / f"my/CASIA2/CASIA 2 Groundtruth/Tp_D_x_{number}_gt.png", mask)
        write_mask(place / f"my/data/masks/es{number}.png", mask)
        write_mask(place / f"my/tones/masks/es{number}.png", tones)
    (place / "my/list.csv").write_text(
        "image,mask\ndata/images/es0.png,data/masks/es0.png\ndata/real/al0.png,authentic\n"
    )
    with zipfile.ZipFile(place / "train.zip", "w") as archive:
        for number in range(2):
            archive.write(place / f"my/data/images/es{number}.png", f"train_copy/{number:08d}.image.png")
            write_mask(place / "ids.png", np.full((40, 48), number * 8, np.uint8))
            archive.write(place / "ids.png", f"train_copy/{number:08d}.mask.png")
    (place / "datasets").symlink_to(ROOT / "datasets")
    return place


def test_the_chapter_has_a_section_of_every_kind():
    from forensegm.datasets import READERS

    sections = " ".join(re.findall(r"^### (.*)$", CHAPTER, re.MULTILINE))
    assert all(kind in sections or kind == "declared" for kind in READERS)
    assert len(COMMANDS) >= 18


@pytest.mark.parametrize("command", COMMANDS)  # in the README's order: some read what others wrote
def test_a_command_of_the_readme_runs(command, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    arguments = shlex.split(command)[1:]
    assert main(arguments) == 0, capsys.readouterr().err
    assert "wrote" in capsys.readouterr().out or arguments[1] == "validate"
