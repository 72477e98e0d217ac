import inspect
import sys
import types

import numpy as np
import pytest

from forensegm.datasets import READERS, open_dataset
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


@pytest.fixture
def places(native, write_pairs):
    """A location for every reader."""
    return {"native": native, "folder": write_pairs({"images/a.jpg": None, "masks/a.png": 2})}


@pytest.mark.parametrize("kind", READERS)
def test_every_reader(kind, places):
    dataset = open_dataset(f"{kind}:{places[kind]}")
    assert dataset.name
    assert len(dataset) == len(dataset.ids) == len(dataset.groups) == len(set(dataset.ids)) > 0
    for index in range(len(dataset)):
        sample = dataset[index]
        assert isinstance(sample, Sample)
        assert (sample.id, sample.group) == (dataset.ids[index], dataset.groups[index])
        assert sample.mask[sample.mask != 255].max() < dataset.labels.num_classes
    assert np.array_equal(dataset[0].image, dataset[0].image)
    with pytest.raises(ValueError, match="split"):
        open_dataset(f"{kind}:{places[kind]}", split="nowhere")
    with pytest.raises(FileNotFoundError):
        open_dataset(f"{kind}:{places[kind]}/gone")
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
