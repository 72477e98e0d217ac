import inspect
import json
import pickle
import sys
import types

import numpy as np
import pyarrow.parquet
import pytest

from forensegm.datasets import READERS, folder, open_dataset
from forensegm.datasets.convert import convert
from forensegm.imageio import write_image, write_mask
from forensegm.sample import LabelSpace, Sample


class Noise:
    """A data set as a user would write it."""

    def __init__(self, location, *, split=None, count=3):
        self.name, self.labels = location, LabelSpace(("flux",))
        self.ids = [f"{split}{number}" for number in range(count)]
        self.groups = self.ids

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        image = np.full((4, 5, 3), index, dtype=np.uint8)
        return Sample(self.ids[index], image, np.zeros((4, 5), np.uint8))


# What each reader reads the same two images from, and the options that it needs: the first has two edited pixels.
PAIRS = {"images/a.jpg": None, "images/b.jpg": None, "masks/a.png": 2, "masks/b.png": 0}


@pytest.fixture
def places(native, write_pairs, tmp_path):
    """A location for every reader."""
    pairs = write_pairs(PAIRS)
    rows = [{"image": f"images/{name}.jpg", "mask": f"masks/{name}.png", "split": "train"} for name in "ab"]
    (pairs / "rows.json").write_text(json.dumps(rows))
    (pairs / "pairs.json").write_text(json.dumps([["images/a.jpg", "masks/a.png"], ["images/b.jpg", "Negative"]]))
    instances = {
        "images": [{"id": 1, "file_name": "images/a.jpg"}, {"id": 2, "file_name": "images/b.jpg"}],
        "categories": [{"id": 1, "name": "flux"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "segmentation": {"size": [4, 4], "counts": [0, 2, 14]}}
        ],
    }
    (pairs / "instances.json").write_text(json.dumps(instances))
    for number, name in enumerate("ab"):
        released = tmp_path / "released" / "train_copy" / f"{number:08d}"
        write_image(released.with_suffix(".image.png"), np.full((4, 4, 3), 9, np.uint8))
        write_mask(released.with_suffix(".mask.png"), np.full((4, 4), number, np.uint8))
        write_image(tmp_path / "mmseg" / "img_dir" / "train" / f"{name}.png", np.full((4, 4, 3), 9, np.uint8))
        write_mask(tmp_path / "mmseg" / "ann_dir" / "train" / f"{name}.png", np.full((4, 4), number, np.uint8))
    table = pyarrow.table(
        {
            "image": [(pairs / f"images/{name}.jpg").read_bytes() for name in "ab"],
            "mask": [(pairs / f"masks/{name}.png").read_bytes() for name in "ab"],
        }
    )
    (tmp_path / "table").mkdir()
    pyarrow.parquet.write_table(table, tmp_path / "table" / "train-00000-of-00001.parquet")
    convert(folder(pairs), tmp_path / "shards", to="shards")
    parts = "parts: [{images: images/*, mask: 'masks/{stem}.png', split: train}]"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "dataset.yaml").write_text(f"reader: declared\nname: mine\nroot: ../pairs\n{parts}\n")
    return {
        "native": native,
        "folder": pairs,
        "manifest": pairs / "rows.json",
        "imdlbenco": pairs / "pairs.json",
        "mmseg": tmp_path / "mmseg",
        "coco": pairs / "instances.json",
        "diffseg30k": tmp_path / "released",
        "parquet": tmp_path / "table",
        "hub": tmp_path / "table",
        "shards": tmp_path / "shards",
        "declared": tmp_path / "mine",
    }


OPTIONS = {"mmseg": {"labels": 1}, "parquet": {"mask_kind": "binary"}, "hub": {"mask_kind": "binary"}}


@pytest.mark.parametrize("kind", READERS)
def test_every_reader(kind, places):
    options = OPTIONS.get(kind, {})
    dataset = open_dataset(f"{kind}:{places[kind]}", **options)
    assert dataset.name
    assert len(dataset) == len(dataset.ids) == len(dataset.groups) == len(dataset.splits) == len(set(dataset.ids)) > 0
    for index in range(len(dataset)):
        sample = dataset[index]
        assert isinstance(sample, Sample)
        assert (sample.id, sample.group) == (dataset.ids[index], dataset.groups[index])
        assert sample.mask[sample.mask != 255].max() < dataset.labels.num_classes
    assert len({sample.label.fake for sample in (dataset[0], dataset[1])}) == (1 if kind == "native" else 2)
    assert np.array_equal(dataset[0].image, dataset[0].image)
    copied = pickle.loads(pickle.dumps(dataset))  # as loader workers get it where processes are spawned
    assert np.array_equal(copied[1].image, dataset[1].image)
    with pytest.raises(ValueError, match="split"):
        open_dataset(f"{kind}:{places[kind]}", split="nowhere", **options)
    with pytest.raises(FileNotFoundError):
        open_dataset(f"{kind}:{places[kind]}/gone", **options)
    assert inspect.getdoc(READERS[kind])


def test_sources(native):
    assert len(open_dataset(str(native))) == 6
    assert len(open_dataset(f"native:{native}", split="val")) == 2


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("natve:x", ValueError, "kind of data set, got 'natve'. Did you mean native"),
        ("nothing/here", FileNotFoundError, "kind:location"),
        ("native:", FileNotFoundError, "kind:location"),
        ("", ValueError, "to hold dataset.yaml"),
        ("{folder}", ValueError, "for example folder:"),
        ("no.such.module:fn:x", ValueError, "no.such.module:fn' to be importable"),
    ],
)
def test_wrong_sources(source, error, message, places):
    with pytest.raises(error, match=message):
        open_dataset(source.format(folder=places["folder"]))


def test_wrong_options_are_named(places):
    with pytest.raises(ValueError, match=r"option of the reader of 'folder:.*', got 'mask'\. Did you mean masks"):
        open_dataset(f"folder:{places['folder']}", mask="masks")
    assert open_dataset(f"folder:{places['folder']}", labels=["flux"]).labels.editors == ("flux",)


def test_a_reader_of_your_own(monkeypatch):
    module = types.ModuleType("my.readers")
    module.Noise = Noise
    monkeypatch.setitem(sys.modules, "my", types.ModuleType("my"))
    monkeypatch.setitem(sys.modules, "my.readers", module)
    dataset = open_dataset("my.readers:Noise:any:where", split="val", count=2)
    assert dataset.name == "any:where"
    assert dataset.ids == ["val0", "val1"]
    monkeypatch.setitem(READERS, "noise", Noise)
    assert len(open_dataset("noise:x")) == 3
