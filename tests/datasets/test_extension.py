"""A data set of a user's own in code: at most 60 lines, no entry in any table, usable from the shell."""

import json
import subprocess
import sys

import numpy as np

READER = '''\
"""Read my lab's edits: one .npz per photograph with the arrays photo, edit and region."""

from pathlib import Path

import numpy as np

from forensegm import LabelSpace, Sample


class LabEdits:
    """Original and edit of every photograph, two samples of one group."""

    def __init__(self, location, *, split=None, editor="our_model"):
        self.name, self.labels = Path(location).name, LabelSpace((editor,))
        self.files = sorted(Path(location).glob("*.npz"))
        if not self.files:
            raise FileNotFoundError(f"Expected .npz files in '{location}', got none.")
        self.ids = [f"{path.stem}/{kind}" for path in self.files for kind in ("photo", "edit")]
        self.groups = [path.stem for path in self.files for _ in range(2)]
        self.splits = [split or ""] * len(self.ids)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        arrays = np.load(self.files[index // 2])
        kind = self.ids[index].rpartition("/")[2]
        mask = arrays["region"].astype(np.uint8) * (kind == "edit")
        return Sample(self.ids[index], arrays[kind], mask.astype(np.uint8), self.groups[index])
'''


def test_sixty_lines_do(tmp_path):
    assert len(READER.splitlines()) <= 60
    (tmp_path / "lab.py").write_text(READER)
    (tmp_path / "edits").mkdir()
    rng = np.random.default_rng(0)
    for number in range(3):
        photo = rng.integers(0, 256, (24, 32, 3), dtype=np.uint8)
        region = np.zeros((24, 32), bool)
        region[4:12, 6:20] = True
        edit = np.where(region[..., None], 255 - photo, photo)
        np.savez(tmp_path / "edits" / f"{number}.npz", photo=photo, edit=edit, region=region)
    command = [
        sys.executable,
        "-m",
        "forensegm",
        "data",
        "inspect",
        "lab:LabEdits:edits",
        "--out",
        "page",
        "--workers",
        "1",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = json.loads((tmp_path / "page" / "data.json").read_text())["counts"]
    assert (counts["images"], counts["edited"], counts["groups"]) == (6, 3, 3)
    convert = [
        sys.executable,
        "-m",
        "forensegm",
        "data",
        "convert",
        "lab:LabEdits:edits",
        "--to",
        "shards",
        "--out",
        "shards",
    ]
    options = ["--data_options", "editor=flux"]
    done = subprocess.run([*convert, *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "6 images had no file of their own" in done.stdout
