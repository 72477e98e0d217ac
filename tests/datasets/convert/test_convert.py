"""Every form: there and back, masks bit for bit."""

import json

import numpy as np
import pytest
from pycocotools.coco import COCO

from datasets import load_dataset
from forensegm.datasets import folder, open_dataset
from forensegm.datasets.convert import WRITERS, convert
from forensegm.datasets.records import read_records
from forensegm.datasets.rle import rle_decode
from forensegm.imageio import write_image, write_mask
from forensegm.sample import LabelSpace, Sample

# How the form is opened again, below the folder, and what it keeps beside images and masks.
BACK = {
    "native": ("native:{out}", {}, {"ids", "groups", "splits", "turns", "edits"}),
    "shards": ("shards:{out}", {}, {"ids", "groups", "splits", "turns", "edits"}),
    "parquet": ("parquet:{out}", {}, {"ids", "groups", "splits", "turns", "edits"}),
    "coco": ("coco:{out}/instances.json", {}, {"ids", "groups", "splits", "edits"}),
    "mmseg": ("mmseg:{out}", {"labels": ["telea", "copy_move"]}, {"splits"}),
}


@pytest.fixture
def rich(native):
    """The native set with JPEG and PNG images, two editors, ignored pixels, an authentic image and a full mask."""
    records = read_records(native)
    rng = np.random.default_rng(0)
    masks = {
        0: np.zeros((12, 16)),
        1: np.full((12, 16), 1),
        2: rng.integers(0, 3, (12, 16)),
        3: rng.choice([0, 2, 255], (12, 16)),
    }
    for number, mask in masks.items():
        write_mask(native / records[number].mask, mask.astype(np.uint8))
        write_mask(native / str(records[number].turns), (mask > 0).astype(np.uint8))
    write_image(native / records[1].image, rng.integers(0, 256, (12, 16, 3), dtype=np.uint8), "png")
    jpeg = native / "images/000.jpg"
    write_image(jpeg, rng.integers(0, 256, (12, 16, 3), dtype=np.uint8), "jpeg:75")
    jpeg.replace(native / records[0].image)  # content, not suffix
    return open_dataset(str(native))


def test_every_writer_has_a_way_back():
    assert set(BACK) | {"imdlbenco"} == set(WRITERS)


@pytest.mark.parametrize("kind", BACK)
def test_there_and_back(kind, rich, tmp_path):
    seen = []
    result = convert(rich, tmp_path / "out", to=kind, progress=lambda *event: seen.append(event))
    assert (result.images, result.reencoded, result.skipped) == (6, 0, [])
    assert seen[-1][:3] == ("convert", 6, 6)
    source, options, keeps = BACK[kind]
    back = open_dataset(source.format(out=tmp_path / "out"), **options)
    assert back.labels == rich.labels
    order = [back.ids.index(name) for name in rich.ids] if "ids" in keeps else range(6)
    for index, place in enumerate(order):
        mine, theirs = rich[index], back[place]
        assert np.array_equal(mine.mask, theirs.mask)
        assert np.array_equal(mine.image, theirs.image)
        assert "turns" not in keeps or np.array_equal(mine.turn_map, theirs.turn_map)
        assert "edits" not in keeps or mine.meta["edits"] == json.loads(json.dumps(theirs.meta["edits"]))
        assert "groups" not in keeps or back.groups[place] == rich.groups[index]
        assert "splits" not in keeps or back.splits[place] == rich.splits[index]
    assert back.encoded_image(order[0]) == rich.encoded_image(0)
    assert len(open_dataset(source.format(out=tmp_path / "out"), split="val", **options)) == 2
    # and back to native, whatever it was
    convert(back, tmp_path / "again", to="native")
    again = open_dataset(str(tmp_path / "again"))
    assert all(np.array_equal(again[place].mask, back[place].mask) for place in range(6))


@pytest.mark.parametrize("kind", BACK)
def test_the_same_data_give_the_same_bytes(kind, rich, tmp_path):
    for name in ("a", "b"):
        convert(rich, tmp_path / name, to=kind)
    files = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert files
    assert all((tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes() for path in files)


def test_imdlbenco_knows_two_classes(native, rich, tmp_path):
    with pytest.raises(ValueError, match="one editor, got 2"):
        convert(rich, tmp_path / "out", to="imdlbenco")
    with pytest.raises(ValueError, match="no ignored pixels in '003'"):
        convert(rich, tmp_path / "out", to="imdlbenco", binary=True)
    assert not (tmp_path / "out").exists()
    write_mask(native / rich.records[3].mask, np.zeros((12, 16), np.uint8))
    convert(rich, tmp_path / "out", to="imdlbenco", binary=True)
    rows = json.loads((tmp_path / "out" / "train.json").read_text())
    assert rows[0] == ["./Tp/000000.jpg", "Negative"]
    back = open_dataset(f"imdlbenco:{tmp_path / 'out' / 'train.json'}")
    assert all(np.array_equal(back[place].mask > 0, rich[place].mask > 0) for place in range(4))


def test_one_editor_survives_imdlbenco(write_pairs, tmp_path):
    root = write_pairs({"images/a.jpg": None, "masks/a.png": 3, "real/b.jpg": None})
    dataset = folder(root, authentic="real")
    convert(dataset, tmp_path / "out", to="imdlbenco")
    back = open_dataset(f"imdlbenco:{tmp_path / 'out' / 'all.json'}")
    assert all(np.array_equal(back[place].mask, dataset[place].mask) for place in range(2))


def test_the_hub_library_shows_images_and_masks(rich, tmp_path):
    convert(rich, tmp_path / "out", to="parquet")
    parts = load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {name: len(part) for name, part in parts.items()} == {"train": 4, "val": 2}
    row = parts["train"][2]
    assert np.array_equal(np.asarray(row["mask"]), rich[2].mask)
    assert np.array_equal(np.asarray(row["image"].convert("RGB")), rich[2].image)
    assert (row["id"], row["group"]) == ("002", "scene1")
    back = open_dataset(f"hub:{tmp_path / 'out'}", cache_dir=str(tmp_path / "cache"))
    assert convert(back, tmp_path / "again", to="shards").reencoded == 0
    assert np.array_equal(back[back.ids.index("003")].mask, rich[3].mask)


def test_pycocotools_reads_the_instances(rich, tmp_path):
    convert(rich, tmp_path / "out", to="coco")
    theirs = COCO(str(tmp_path / "out" / "instances.json"))
    assert [theirs.cats[number]["name"] for number in theirs.getCatIds()] == ["telea", "copy_move"]
    image = next(key for key, one in theirs.imgs.items() if one["forensegm"]["id"] == "002")
    for annotation in theirs.loadAnns(theirs.getAnnIds(imgIds=[image])):
        region = rle_decode(annotation["segmentation"])
        assert np.array_equal(region, rich[2].mask == annotation["category_id"])
        assert annotation["area"] == region.sum()


def test_what_cannot_be_read_is_skipped_and_named(native, tmp_path):
    (native / "masks/001.png").write_bytes(b"no mask")
    dataset = open_dataset(str(native))
    result = convert(dataset, tmp_path / "out", to="native")
    assert result.images == 5
    assert [name for name, _ in result.skipped] == ["001"]
    assert open_dataset(str(tmp_path / "out")).ids == ["000", "002", "003", "004", "005"]
    with pytest.raises(ValueError, match=r"001\.png"):
        convert(dataset, tmp_path / "other", to="native", on_error="raise")
    assert not (tmp_path / "other").exists()


def test_whole_or_not_at_all(native, tmp_path):
    dataset = open_dataset(str(native))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    with pytest.raises(ValueError, match="new or an empty folder"):
        convert(dataset, tmp_path / "full", to="native")

    def fail(items, _target):
        next(items)
        raise OSError("No space left on device")

    before = sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match="No space"):
        convert(dataset, tmp_path / "out", to=fail)
    assert sorted(tmp_path.iterdir()) == before


def test_mistakes(native, tmp_path):
    dataset = open_dataset(str(native))
    with pytest.raises(ValueError, match="Did you mean parquet"):
        convert(dataset, tmp_path / "out", to="parket")
    with pytest.raises(ValueError, match="unreadable items"):
        convert(dataset, tmp_path / "out", to="native", on_error="ignore")
    for path in (native / "images").iterdir():
        path.unlink()
    with pytest.raises(ValueError, match=r"none of 6\. The first: Expected a file"):
        convert(dataset, tmp_path / "out", to="native")


def test_a_foreign_set_gets_records(write_pairs, tmp_path):
    root = write_pairs({"images/a.jpg": None, "masks/a.png": 3})
    convert(folder(root, labels=["flux"]), tmp_path / "out", to="native")
    (record,) = read_records(tmp_path / "out")
    assert (record.id, record.group, record.codec["quality"], record.edits) == ("images/a.jpg", "images/a.jpg", 90, [])
    assert record.source == {"dataset": "pairs"}
    assert (tmp_path / "out" / record.image).read_bytes() == (root / "images/a.jpg").read_bytes()


class Synthetic:
    """A data set without files."""

    name, labels, ids, groups = "drawn", LabelSpace(("x",)), ["a"], ["a"]

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return Sample("a", np.full((3, 4, 3), 7, np.uint8), np.ones((3, 4), np.uint8))


def test_images_without_files_are_saved_without_loss(tmp_path):
    result = convert(Synthetic(), tmp_path / "out", to="shards")
    assert result.reencoded == 1
    back = open_dataset(f"shards:{tmp_path / 'out'}")
    assert (back[0].image == 7).all()
    assert back.labels.editors == ("x",)
