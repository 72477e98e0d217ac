import json

import numpy as np
import pytest
from skimage import data

from forensegm.datasets import folder, open_dataset
from forensegm.datasets.records import RECORDS_FILE, read_records, write_records
from forensegm.datasets.validate import validate
from forensegm.imageio import write_image, write_mask
from forensegm.sample import LabelSpace


def kinds(problems):
    return [(problem.severity, problem.kind, problem.where) for problem in problems]


def rewrite(root, change):
    records = read_records(root)
    for record in records:
        change(record)
    (root / RECORDS_FILE).unlink()
    write_records(root, records)


def test_a_sound_data_set_has_one_remark(native):
    # It has two editors, of which one is never used.
    assert kinds(validate(open_dataset(str(native)))) == [("warning", "empty", "telea")]


def test_broken_items_are_all_listed(native):
    (native / "images/001.png").write_bytes(b"no image")
    (native / "masks/003.png").unlink()
    write_mask(native / "masks/004.png", np.zeros((5, 5), np.uint8))
    problems = validate(open_dataset(str(native)), workers=1)
    assert [problem.where for problem in problems if problem.kind == "unreadable"] == ["001", "003", "004"]
    assert "12x16 (height x width), got 5x5" in problems[2].what
    assert "001.png" in problems[0].what


def test_case_07_every_mismatch_is_listed_with_both_sizes(shared, tmp_path):
    case = shared / "cases" / "07_mask_size_off"
    for mask in case.glob("mask_*.png"):
        (tmp_path / "images").mkdir(exist_ok=True)
        (tmp_path / "masks").mkdir(exist_ok=True)
        (tmp_path / "images" / mask.name).write_bytes((case / "img.png").read_bytes())
        (tmp_path / "masks" / mask.name).write_bytes(mask.read_bytes())
    problems = [one for one in validate(folder(tmp_path)) if one.kind == "unreadable"]
    height, width = json.loads((case / "expected.json").read_text())["image_hw"]
    assert len(problems) == 4
    assert all(f"{height}x{width}" in one.what for one in problems)
    assert "swapped" in next(one for one in problems if "9x8" in one.where).what


def test_a_group_across_splits(native):
    rewrite(native, lambda record: setattr(record, "group", "scene0" if record.id == "005" else record.group))
    (problem,) = (one for one in validate(open_dataset(str(native))) if one.severity == "error")
    assert (problem.kind, problem.where) == ("group across splits", "scene0")
    assert "train (2: 000), val (1: 005)" in problem.what


def test_copies_across_splits(native):
    photograph = data.astronaut()
    for name, pixels in {
        "000": photograph,
        "004": photograph,
        "001": data.coffee(),
        "005": data.coffee()[::2, ::2],
    }.items():
        write_image(native / f"images/{name}.png", pixels)
        write_mask(native / f"masks/{name}.png", np.full(pixels.shape[:2], 2, np.uint8))
        write_mask(native / f"turns/{name}.png", np.full(pixels.shape[:2], 1, np.uint8))
    sizes = {"000": [512, 512], "004": [512, 512], "001": [400, 600], "005": [200, 300]}
    rewrite(native, lambda record: setattr(record, "size", sizes.get(record.id, record.size)))
    problems = [one for one in validate(open_dataset(str(native))) if one.kind in ("same image", "near duplicate")]
    assert kinds(problems) == [("error", "same image", "000, 004"), ("warning", "near duplicate", "001, 005")]
    assert "in several splits" in problems[0].what


def test_equal_images_whose_masks_differ(write_pairs):
    root = write_pairs({"images/a.jpg": None, "masks/a.png": 2, "images/b.jpg": None, "masks/b.png": 3})
    (problem,) = (one for one in validate(folder(root)) if one.kind == "same image")
    assert (problem.severity, problem.what) == ("error", "equal pixels, masks that differ")


def test_nothing_edited_and_editors_that_train_lacks(native, write_pairs):
    root = write_pairs({"images/a.jpg": None, "masks/a.png": 0})
    assert ("error", "empty", "pairs") in kinds(validate(folder(root)))
    for name in ("004", "005"):
        write_mask(native / f"masks/{name}.png", np.full((12, 16), 1, np.uint8))
    assert ("warning", "unseen editor", "telea") in kinds(validate(open_dataset(str(native))))


@pytest.mark.parametrize("splits", [["train", "val"], ["", ""]])
def test_a_giveaway_is_an_error(splits, tmp_path):
    rng = np.random.default_rng(0)
    for number in range(8):
        suffix, codec = (".jpg", "jpeg:80") if number % 2 else (".png", "png")
        write_image(
            tmp_path / f"{'real' if number % 2 else 'fake'}/{number}{suffix}",
            rng.integers(0, 256, (16, 16, 3), dtype=np.uint8),
            codec,
        )
    dataset = folder(tmp_path, images=None, authentic="real", generated="fake", labels=LabelSpace(("flux",)))
    dataset.splits = splits * 4
    (problem,) = (one for one in validate(dataset) if one.kind == "confound")
    assert (problem.severity, problem.where) == ("error", "codec")
    assert "PNG: 4 edited" in problem.what
