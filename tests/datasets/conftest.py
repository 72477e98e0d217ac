"""A small native data set that tests may change, and a folder of pairs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from forensegm.datasets.records import DatasetMeta, Edit, Record, rle_encode, write_dataset_yaml, write_records
from forensegm.imageio import write_image, write_mask
from forensegm.sample import LabelSpace

HW = (12, 16)
LABELS = LabelSpace(("telea", "copy_move"))


def draw_record(number: int, split: str = "train", **changes: object) -> Record:
    region = np.zeros(HW, dtype=bool)
    region[2:6, 3:9] = True
    edit = Edit(1, "copy_move", "change", "cöpy", number, {"angle": 3}, "splice", rle_encode(region), 1.0, 0.0)
    values = {
        "id": f"{number:03d}",
        "image": f"images/{number:03d}.png",
        "mask": f"masks/{number:03d}.png",
        "turns": f"turns/{number:03d}.png",
        "split": split,
        "group": f"scene{number // 2}",
        "size": list(HW),
        "base": "photo",
        "codec": {"codec": "PNG", "quality": None, "subsampling": None},
        "source": {"name": "drawn", "licence": "CC0-1.0"},
        "edits": [edit],
    }
    return Record(**{**values, **changes})


def write_native(root: Path, count: int = 6) -> Path:
    """`count` images, the last two in val, each with one edited rectangle of editor 2."""
    rng = np.random.default_rng(0)
    records = []
    for number in range(count):
        mask = np.zeros(HW, dtype=np.uint8)
        mask[2:6, 3:9] = 2
        record = draw_record(number, "val" if number >= count - 2 else "train")
        write_image(root / record.image, rng.integers(0, 256, (*HW, 3), dtype=np.uint8))
        write_mask(root / record.mask, mask)
        write_mask(root / str(record.turns), (mask > 0).astype(np.uint8))
        records.append(record)
    write_records(root, records)
    write_dataset_yaml(root, DatasetMeta("tiny", "1", LABELS, "ids", "CC0-1.0", {}, {"images": count}))
    return root


@pytest.fixture
def make_record() -> Callable[..., Record]:
    """make_record(number, split="train", **fields): a valid record, with fields of it replaced."""
    return draw_record


@pytest.fixture
def native(tmp_path: Path) -> Path:
    return write_native(tmp_path / "native")


@pytest.fixture
def write_pairs(tmp_path: Path) -> Callable[..., Path]:
    """Writes grey images and masks with n edited pixels: write_pairs({"images/a.jpg": None, "masks/a.png": 2})."""

    def write(files: dict[str, int | None], *, hw: tuple[int, int] = (4, 4)) -> Path:
        root = tmp_path / "pairs"
        for name, edited in files.items():
            if edited is None:
                write_image(root / name, np.full((*hw, 3), 99, np.uint8), "jpeg:90")
                continue
            mask = np.zeros(hw, np.uint8)
            mask.ravel()[:edited] = 255
            write_mask(root / name, mask)
        return root

    return write
