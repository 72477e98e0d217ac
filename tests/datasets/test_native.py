import json

import numpy as np
import pytest
import yaml

from forensegm.datasets import NativeDataset
from forensegm.imageio import write_image, write_mask


def change_record(root, number, **changes):
    path = root / "records.jsonl"
    lines = path.read_text("utf-8").splitlines()
    lines[number] = json.dumps({**json.loads(lines[number]), **changes})
    path.write_text("\n".join(lines), "utf-8")


def test_samples(native):
    dataset = NativeDataset(native)
    assert (dataset.name, len(dataset), dataset.labels.editors) == ("tiny", 6, ("telea", "copy_move"))
    assert dataset.ids == [f"{number:03d}" for number in range(6)]
    assert dataset.groups == ["scene0", "scene0", "scene1", "scene1", "scene2", "scene2"]
    sample = dataset[1]
    assert (sample.id, sample.group, sample.image.shape, int((sample.mask == 2).sum())) == (
        "001",
        "scene0",
        (12, 16, 3),
        24,
    )
    assert np.array_equal(sample.turn_map, sample.mask // 2)
    assert sample.meta["edits"][0]["instruction"] == "cöpy"
    assert json.loads(json.dumps(sample.meta)) == sample.meta


def test_splits(native):
    assert NativeDataset(native, split="val").ids == ["004", "005"]
    assert len(NativeDataset(native, split="train")) == 4
    with pytest.raises(ValueError, match=r"split of .*, got 'tset'. Known: train, val"):
        NativeDataset(native, split="tset")
    with pytest.raises(ValueError, match="Did you mean train"):
        NativeDataset(native, split="trian")


def test_broken_items_are_named_and_leave_the_others(native):
    (native / "images/001.png").write_bytes((native / "images/001.png").read_bytes()[:-40])
    (native / "masks/002.png").unlink()
    write_mask(native / "masks/003.png", np.full((12, 16), 3, np.uint8))
    write_mask(native / "turns/004.png", np.full((12, 16), 2, np.uint8))
    dataset = NativeDataset(native)
    assert dataset[0].id == "000"
    for number, error, message in [
        (1, ValueError, r"images/001\.png.*truncated"),
        (2, FileNotFoundError, r"masks/002\.png"),
        (3, ValueError, r"ids 0\.\.2 and 255 to ignore, got 3 in '.*masks/003\.png'"),
        (4, ValueError, r"got 2 in '.*turns/004\.png'"),
    ]:
        with pytest.raises(error, match=message):
            dataset[number]
    with pytest.raises(IndexError):
        dataset[6]


def test_wrong_sizes_are_named(native):
    write_image(native / "images/000.png", np.zeros((16, 12, 3), np.uint8))
    write_mask(native / "masks/001.png", np.zeros((16, 12), np.uint8))
    dataset = NativeDataset(native)
    with pytest.raises(ValueError, match=r"images/000\.png' to have the size of its record, 12x16, got 16x12"):
        dataset[0]
    with pytest.raises(ValueError, match=r"masks/001\.png.*swapped"):
        dataset[1]


def test_records_are_checked_against_the_label_space_when_read(native):
    edit = NativeDataset(native).records[0].to_dict()["edits"][0]
    change_record(native, 0, edits=[{**edit, "editor": "copy_mvoe"}])
    dataset = NativeDataset(native)
    assert dataset[1].id == "001"
    with pytest.raises(ValueError, match=r"editor in the record '000', got 'copy_mvoe'. Did you mean copy_move"):
        dataset[0]


def test_without_a_turn_map_and_with_ignored_pixels(native):
    change_record(native, 0, turns=None, edits=[])
    write_mask(native / "masks/000.png", np.full((12, 16), 255, np.uint8))
    sample = NativeDataset(native)[0]
    assert sample.turn_map is None
    assert sample.label.fake is None


def test_paths_outside_the_root_are_refused(native):
    change_record(native, 3, image="../outside.png")
    with pytest.raises(ValueError, match=r"records\.jsonl:4, got '\.\./outside\.png'"):
        NativeDataset(native)


def test_only_ids_are_native(native):
    meta = yaml.safe_load((native / "dataset.yaml").read_text("utf-8"))
    (native / "dataset.yaml").write_text(yaml.safe_dump({**meta, "mask": "binary"}))
    with pytest.raises(ValueError, match="mask: ids"):
        NativeDataset(native)
