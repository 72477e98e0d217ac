"""Real parts on tiny data: a native data set of 48-pixel crops whose edits a network can see."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forensegm.config import Config
from forensegm.datasets.records import DatasetMeta, Record, write_dataset_yaml, write_records
from forensegm.imageio import write_image, write_mask
from forensegm.sample import LabelSpace

EDITORS = ("telea", "copy_move")
SIDE = 48
SPLITS = ["train"] * 8 + ["val"] * 4


def write_tiny(root: Path) -> Path:
    """Eight training and four validation images; two of three hold a bright square of one of two editors."""
    rng = np.random.default_rng(0)
    records = []
    for number, split in enumerate(SPLITS):
        image = rng.integers(0, 120, (SIDE, SIDE, 3), dtype=np.uint8)
        mask = np.zeros((SIDE, SIDE), dtype=np.uint8)
        if number % 3:
            editor = number % 3
            image[8:32, 8:32] += np.uint8(60 * editor)
            mask[8:32, 8:32] = editor
        name = f"{number:02d}.png"
        write_image(root / "images" / name, image)
        write_mask(root / "masks" / name, mask)
        records.append(record(name, split))
    labels = LabelSpace(EDITORS)
    write_dataset_yaml(root, DatasetMeta("tiny", "1", labels, "ids", "CC0-1.0", {}, {}))
    write_records(root, records)
    return root


def record(name: str, split: str) -> Record:
    """The record of one tiny image; every image is a photograph of its own."""
    return Record(
        id=name[:2],
        image=f"images/{name}",
        mask=f"masks/{name}",
        turns=None,
        split=split,
        group=name[:2],
        size=[SIDE, SIDE],
        base="photo",
        codec={"codec": "PNG", "quality": None, "subsampling": None},
        source={"name": "drawn", "licence": "CC0-1.0"},
        edits=[],
    )


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of the tiny data set; not to be changed by a test."""
    return write_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def broken_data(tmp_path: Path) -> Callable[[int], Path]:
    """Makes a tiny data set whose first images are truncated files: broken_data(how_many)."""

    def make(count: int) -> Path:
        root = write_tiny(tmp_path / "broken_data")
        for number in range(count):
            path = root / "images" / f"{number:02d}.png"
            path.write_bytes(path.read_bytes()[:-200])
        return root

    return make


@pytest.fixture
def make_config(tiny: Path, tmp_path: Path) -> Callable[..., Config]:
    """A configuration of a few seconds, with dotted options on top: make_config(**{"train.epochs": 2})."""

    def make(**options: Any) -> Config:
        config = Config()
        base = {
            "data.source": f"native:{tiny}",
            "data.batch_size": 4,
            "data.crop": 32,
            "model.name": "smp:linknet/lcnet_035",
            "model.weights": "none",
            "train.out": str(tmp_path / "run"),
            "train.epochs": 2,
            "train.precision": "fp32",
            "track.wandb": "off",
        }
        for name, value in {**base, **options}.items():
            section, key = name.split(".")
            assert hasattr(getattr(config, section), key)
            setattr(getattr(config, section), key, value)
        return config

    return make
