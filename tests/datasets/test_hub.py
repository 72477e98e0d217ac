"""The hub reader through the real `datasets` library, on local folders laid out as on the hub: there is no network."""

import io
import json
import pickle
from types import ModuleType

import huggingface_hub.constants
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import datasets as huggingface
from forensegm.datasets.hub import HubDataset, StreamDataset, hub
from forensegm.datasets.parquet import parquet
from forensegm.datasets.records import DatasetMeta, write_dataset_yaml
from forensegm.sample import LabelSpace

HW = (6, 8)
COUNTS = {"train": 5, "validation": 2}
LABELS = ["a", "b", "c"]


def png(array):
    out = io.BytesIO()
    Image.fromarray(array).save(out, "PNG")
    return out.getvalue()


def picture(number):
    return np.random.default_rng(number).integers(0, 256, (*HW, 3), dtype=np.uint8)


def truth(number):
    return np.random.default_rng(1000 + number).integers(0, 4, HW, dtype=np.uint8)


def rows(numbers, **columns):
    cells = {"image": [{"bytes": png(picture(number)), "path": None} for number in numbers]}
    cells["mask"] = [{"bytes": png(truth(number)), "path": None} for number in numbers]
    return {**cells, **columns}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two splits, with a number and a text beside, written by the library itself."""
    monkeypatch.setattr(huggingface.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    features = huggingface.Features(
        {
            "image": huggingface.Image(),
            "mask": huggingface.Image(),
            "prompt": huggingface.Value("string"),
            "other": huggingface.Image(),
        }
    )
    (tmp_path / "set" / "data").mkdir(parents=True)
    first = 0
    for split, count in COUNTS.items():
        numbers = range(first, first + count)
        first += count
        more = {"prompt": [f"add {number}" for number in numbers], "other": [{"bytes": b"none", "path": None}] * count}
        table = huggingface.Dataset.from_dict(rows(numbers, **more), features=features)
        table.to_parquet(tmp_path / "set" / "data" / f"{split}-00000-of-00001.parquet")
    return tmp_path / "set"


def test_indexed(folder):
    dataset = hub(folder, labels=LABELS)
    assert isinstance(dataset, HubDataset)
    assert (dataset.name, dataset.labels.editors) == ("set", tuple(LABELS))
    assert dataset.splits == ["train"] * 5 + ["validation"] * 2
    assert dataset.ids[4:] == ["train/00000004", "validation/00000000", "validation/00000001"]
    for number in (6, 0, 3):
        sample = dataset[number]
        assert np.array_equal(sample.image, picture(number))
        assert np.array_equal(sample.mask, truth(number))
        assert (sample.id, sample.group) == (dataset.ids[number], dataset.groups[number])
        assert sample.meta["row"] == {"prompt": f"add {number}"}
        assert sample.meta["codec"]["codec"] == "PNG"
    copy = pickle.loads(pickle.dumps(dataset))
    assert np.array_equal(copy[1].mask, truth(1))
    assert hub(folder, split="validation", labels=LABELS).ids == dataset.ids[5:]
    assert parquet(folder, labels=LABELS).ids == dataset.ids


def test_streamed(folder):
    stream = hub(str(folder), labels=LABELS, streaming=True)
    assert isinstance(stream, StreamDataset)
    assert not hasattr(stream, "__len__")
    ids = [sample.id for sample in stream]
    assert ids == hub(folder, labels=LABELS).ids
    assert [sample.id for sample in stream] == ids  # anew
    assert all(np.array_equal(sample.mask, truth(number)) for number, sample in enumerate(stream))
    shards = [[sample.id for sample in stream.shard(number, 3)] for number in range(3)]
    assert sorted(name for shard in shards for name in shard) == sorted(ids)
    assert [len(shard) for shard in shards] == [3, 2, 2]
    assert [sample.id for sample in hub(folder, labels=LABELS, streaming=True, split="validation")] == ids[5:]
    with pytest.raises(ValueError, match="shard number"):
        stream.shard(3, 3)


@pytest.mark.parametrize("streaming", [False, True])
def test_our_own_columns(folder, streaming):
    record = json.dumps({"edits": [{"turn": 2, "editor": "b"}]})
    cells = rows(range(3), id=["x", "y", "z"], group=["s", "s", "t"], split=["train", "val", "val"])
    cells |= {"turns": [{"bytes": png(truth(number)), "path": None} for number in range(3)], "record": [record] * 3}
    pq.write_table(pa.table(cells), folder / "all.parquet")
    for path in (folder / "data").iterdir():
        path.unlink()
    write_dataset_yaml(folder, DatasetMeta("x", "1", LabelSpace(tuple(LABELS)), "ids", "CC0", {}, {}))
    samples = list(hub(folder, streaming=streaming))
    assert [(sample.id, sample.group) for sample in samples] == [("x", "s"), ("y", "s"), ("z", "t")]
    assert np.array_equal(samples[1].turn_map, truth(1))
    assert samples[1].meta["edits"] == [{"turn": 2, "editor": "b"}]
    assert [sample.id for sample in hub(folder, streaming=streaming, split="val")] == ["y", "z"]
    if not streaming:
        assert hub(folder).splits == ["train", "val", "val"]
        with pytest.raises(ValueError, match="split of 'set', got 'test'"):
            hub(folder, split="test")


@pytest.mark.parametrize("streaming", [False, True])
def test_broken_rows_are_named(folder, streaming):
    cells = rows(range(2))
    cells["image"][1]["bytes"] = cells["image"][1]["bytes"][:-20]
    pq.write_table(pa.table(cells), folder / "data" / "train-00000-of-00001.parquet")
    (folder / "data" / "validation-00000-of-00001.parquet").unlink()
    dataset = hub(folder, labels=LABELS, split="train", streaming=streaming)
    assert np.array_equal(next(iter(dataset)).mask, truth(0))
    with pytest.raises(ValueError, match=r"whole image in 'set/train row 1/image'"):
        list(dataset)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "val"}, "split of 'set', got 'val'"),
        ({"image": "picture"}, r"option image\), got 'picture'"),
        ({"mask": "masks"}, "Did you mean mask"),
        ({"labels": None}, "labels"),
    ],
)
def test_wrong_options(folder, streaming, options, message):
    with pytest.raises(ValueError, match=message):
        hub(folder, streaming=streaming, **{"labels": LABELS, **options})


def test_nothing_at_the_location(tmp_path, monkeypatch):
    for location in (tmp_path / "gone", "gone", "a/b/c"):
        with pytest.raises(FileNotFoundError, match="a hub id org/name, or a folder"):
            hub(location)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="Expected a data set at"):
        hub(tmp_path / "empty", labels=1)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface.config, "HF_HUB_OFFLINE", True)
    with pytest.raises(RuntimeError, match=r"'no/such' through .* ConnectionError.* parquet:FOLDER"):
        hub("no/such", labels=1)


def test_broken_files(folder):
    path = folder / "data" / "train-00000-of-00001.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(RuntimeError, match=r"Expected to read .* footer"):
        list(hub(folder, labels=LABELS))
    with pytest.raises(RuntimeError, match="Expected to read"):
        list(hub(folder, labels=LABELS, streaming=True))


def test_a_folder_called_datasets_is_not_the_library(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "datasets", ModuleType("datasets"))
    with pytest.raises(RuntimeError, match=r"pip install 'forensegm\[hub\]'"):
        hub(folder, labels=LABELS)
