"""DiffSeg30k in every form it may have, drawn small: names, ids, mixed sizes, empty and full masks as released."""

import io
import logging
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

import datasets as huggingface
from forensegm.datasets.archive import extract_archive
from forensegm.datasets.diffseg30k import HUB_ID, SPLIT_NAMES, diffseg30k, find_pairs, label_space
from forensegm.sample import LabelSpace

SIZES = [(5, 7), (12, 6), (8, 8), (9, 4)]
NUMBERS = [3, 12, 29001, 7]


def png(array):
    out = io.BytesIO()
    Image.fromarray(array).save(out, "PNG")
    return out.getvalue()


def drawn(position):
    """Image and mask: the first mask is empty, the second full of id 8, the others hold every id they have room for."""
    rng = np.random.default_rng(position)
    hw = SIZES[position]
    masks = [np.zeros(hw, np.uint8), np.full(hw, 8, np.uint8)]
    mask = masks[position] if position < 2 else (np.arange(hw[0] * hw[1]).reshape(hw) % 9).astype(np.uint8)
    return rng.integers(0, 256, (*hw, 3), dtype=np.uint8), mask


def write_release(path, *, folder="train_copy/", positions=range(4), leave_out=(), more=()):
    with zipfile.ZipFile(path, "w") as archive:
        if folder:
            archive.mkdir(folder)
        for position in positions:
            for kind, array in zip(("image", "mask"), drawn(position), strict=True):
                name = f"{folder}{NUMBERS[position]:08d}.{kind}.png"
                if name not in leave_out:
                    archive.writestr(name, png(array))
        for name in more:
            archive.writestr(name, b"x")
    return path


def check(dataset, positions=(0, 3, 1, 2)):
    """By default in the order of their numbers."""
    assert len(dataset) == len(positions)
    for index, position in enumerate(positions):
        sample, (image, mask) = dataset[index], drawn(position)
        assert np.array_equal(sample.image, image)
        assert np.array_equal(sample.mask, mask)
        assert sample.id == dataset.ids[index]


def test_the_archive_in_place(tmp_path):
    dataset = diffseg30k(write_release(tmp_path / "train.zip"))
    check(dataset)
    assert dataset.ids == ["train/00000003", "train/00000007", "train/00000012", "train/00029001"]
    assert dataset.splits == ["train"] * 4
    assert dataset.groups == dataset.ids  # no base photograph is published
    assert dataset.labels == LabelSpace.opaque(8)
    assert [dataset[index].label.coverage for index in (0, 2, 3)] == ["empty", "full", "partial"]
    assert dataset[3].label.editors == tuple(range(1, 9))
    assert dataset[0].meta["source"] == {"name": "DiffSeg30k"}
    assert len(diffseg30k(tmp_path / "train.zip", split="train")) == 4
    with pytest.raises(ValueError, match=r"split of '.*train\.zip', got 'validation'. Known: train"):
        diffseg30k(tmp_path / "train.zip", split="validation")


def test_the_unpacked_folder(tmp_path):
    archive = write_release(tmp_path / "train.zip")
    extract_archive(archive, tmp_path / "unpacked")
    for location in (tmp_path / "unpacked", tmp_path / "unpacked" / "train_copy"):
        dataset = diffseg30k(location, split="train")
        check(dataset)
        assert dataset.ids[0] == "train/00000003"
    extract_archive(write_release(tmp_path / "plain.zip", folder=""), tmp_path / "anything")
    check(diffseg30k(tmp_path / "anything", split="train"))
    check(diffseg30k(tmp_path / "plain.zip"))


def test_both_splits(tmp_path):
    both = tmp_path / "both"
    both.mkdir()
    write_release(both / "train.zip", positions=[0, 1])
    write_release(both / "validation.zip", folder="validation/", positions=[2, 3])
    dataset = diffseg30k(both)
    check(dataset, [0, 1, 3, 2])
    assert dataset.splits == ["train", "train", "validation", "validation"]
    check(diffseg30k(both, split="validation"), [3, 2])
    assert "validation.zip/validation/00000007.image.png" in dataset.storage.label(dataset.entries[2].image)
    with pytest.raises(FileNotFoundError, match=r"test\.zip/x"):
        dataset.storage.read("test.zip/x")
    for name in ("train", "validation"):
        extract_archive(both / f"{name}.zip", tmp_path / "unpacked" / name)
    check(diffseg30k(tmp_path / "unpacked"), [0, 1, 3, 2])
    check(diffseg30k(tmp_path / "unpacked", split="validation"), [3, 2])


def test_the_names_of_the_editors(tmp_path):
    archive = write_release(tmp_path / "train.zip")
    names = ["sd2", "sd3.5", "sdxl", "flux", "glide", "kolors", "hunyuan", "kandinsky"]
    assert diffseg30k(archive, labels=names).labels.editors == tuple(names)
    assert diffseg30k(archive, labels=LabelSpace(tuple(names))).labels.editors == tuple(names)
    for labels, message in ((names[:7], "8 editors in id order, got 7"), ("sd2", "list of 8"), (8, "list of 8")):
        with pytest.raises(ValueError, match=message):
            diffseg30k(archive, labels=labels)


def test_pairs_that_are_not_whole_are_listed(tmp_path):
    lost = ("train_copy/00000003.mask.png", "train_copy/00000007.image.png", "train_copy/00000012.mask.png")
    archive = write_release(tmp_path / "train.zip", leave_out=lost)
    with pytest.raises(ValueError, match="2 images without a mask") as caught:
        diffseg30k(archive)
    for part in ("00000003.image.png", "00000012.image.png", "1 masks without an image (train_copy/00000007.mask.png)"):
        assert part in str(caught.value)


def test_other_files_are_counted(tmp_path, caplog):
    more = ["__MACOSX/train_copy/00000003.image.png", "train_copy/.DS_Store", "README.md", "train_copy/1.image.jpg"]
    archive = write_release(tmp_path / "train.zip", more=more)
    with caplog.at_level(logging.WARNING):
        check(diffseg30k(archive))
    assert "Left out 4 files" in caplog.text
    assert all(name in caplog.text for name in more)
    write_release(tmp_path / "none.zip", positions=[], more=more)
    with pytest.raises(ValueError, match="got none among 4 files"):
        diffseg30k(tmp_path / "none.zip")


def test_a_number_used_twice(tmp_path):
    names = [f"{folder}/00000001.{kind}.png" for folder in ("a", "b") for kind in ("image", "mask")]
    assert len(find_pairs(names, root=tmp_path)[0]) == 2
    archive = write_release(tmp_path / "train.zip", folder="a/")
    with zipfile.ZipFile(archive, "a") as more:
        for kind, array in zip(("image", "mask"), drawn(0), strict=True):
            more.writestr(f"b/00000003.{kind}.png", png(array))
    with pytest.raises(ValueError, match="'train/00000003' more than once"):
        diffseg30k(archive)


def test_masks_are_ids_and_nothing_else(tmp_path):
    archive = write_release(tmp_path / "train.zip", positions=[0])
    with zipfile.ZipFile(archive, "a") as more:
        for number, mask in ((1, np.full((4, 4), 9, np.uint8)), (2, np.full((4, 4), 255, np.uint8))):
            more.writestr(f"train_copy/{number:08d}.image.png", png(np.zeros((4, 4, 3), np.uint8)))
            more.writestr(f"train_copy/{number:08d}.mask.png", png(mask))
        more.writestr("train_copy/00000004.image.png", png(np.zeros((4, 5, 3), np.uint8)))
        more.writestr("train_copy/00000004.mask.png", png(np.zeros((5, 4), np.uint8)))
    dataset = diffseg30k(archive)
    for index, message in ((0, "got 9 in"), (1, "got 255 in"), (3, "swapped")):
        with pytest.raises(ValueError, match=f"{message}.*" if index < 3 else message) as caught:
            dataset[index]
        assert f"{archive}/train_copy/" in str(caught.value)
    assert dataset[2].label.coverage == "empty"  # the others stay readable


@pytest.fixture
def tables(tmp_path):
    """The same as Parquet, written by the library that the hub uses."""
    features = huggingface.Features({"image": huggingface.Image(), "mask": huggingface.Image()})
    (tmp_path / "tables" / "data").mkdir(parents=True)
    for split, positions in (("train", [0, 1, 2]), ("validation", [3])):
        cells = [[{"bytes": png(array), "path": None} for array in drawn(position)] for position in positions]
        columns = {name: [row[at] for row in cells] for at, name in enumerate(("image", "mask"))}
        path = tmp_path / "tables" / "data" / f"{split}-00000-of-00001.parquet"
        huggingface.Dataset.from_dict(columns, features=features).to_parquet(path)
    return tmp_path / "tables"


def test_parquet(tables):
    dataset = diffseg30k(tables)
    check(dataset, [0, 1, 2, 3])
    assert dataset.splits == ["train"] * 3 + ["validation"]
    assert dataset.labels == LabelSpace.opaque(8)
    check(diffseg30k(tables, split="validation"), [3])
    check(diffseg30k(tables / "data" / "train-00000-of-00001.parquet"), [0, 1, 2])
    write_release(tables / "train.zip")
    with pytest.raises(ValueError, match="one form of the data set"):
        diffseg30k(tables)


def test_through_the_library_of_the_hub(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    check(diffseg30k(f"hub:{tables}"), [0, 1, 2, 3])
    check(diffseg30k(f"hub:{tables}", split="validation"), [3])
    stream = diffseg30k(f"hub:{tables}", split="train", streaming=True)
    assert [sample.id for sample in stream] == ["train/00000000", "train/00000001", "train/00000002"]
    assert all(np.array_equal(sample.mask, drawn(at)[1]) for at, sample in enumerate(stream))


def test_what_the_location_is(tmp_path, monkeypatch):
    archive = write_release(tmp_path / "train.zip")
    with pytest.raises(ValueError, match="streaming and revision only with a hub id"):
        diffseg30k(archive, streaming=True)
    with pytest.raises(FileNotFoundError, match="gone"):
        diffseg30k(tmp_path / "gone")
    asked = []
    monkeypatch.setitem(diffseg30k.__globals__, "hub", lambda *args, **options: asked.append((args, options)))
    diffseg30k("chaos2629/diffseg30k", split="train", revision="8049819")
    assert asked[0][0] == ("Chaos2629/Diffseg30k",)
    assert (asked[0][1]["split"], asked[0][1]["revision"], asked[0][1]["labels"]) == (
        "train",
        "8049819",
        LabelSpace.opaque(8),
    )
    monkeypatch.chdir(tmp_path)
    extract_archive(archive, tmp_path / "Chaos2629" / "Diffseg30k")
    check(diffseg30k("Chaos2629/Diffseg30k"))  # a folder of that name is the folder
    assert len(asked) == 1


def test_its_description_agrees_with_the_reader():
    text = (Path(__file__).parents[2] / "datasets" / "diffseg30k" / "dataset.yaml").read_text(encoding="utf-8")
    values = yaml.safe_load(text)
    assert values["reader"] == "diffseg30k"
    assert values["labels"] == list(label_space(None).editors)
    assert values["splits"] == sorted(set(SPLIT_NAMES.values()))
    assert values["source"].endswith(HUB_ID)
