"""Parquet files, written by pyarrow as the hub, other people and `forensegm data convert` write them."""

import json
import logging
import multiprocessing
import pickle
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensegm.datasets.parquet import find_parquet, list_parquet, parquet, split_of
from forensegm.datasets.records import DatasetMeta, write_dataset_yaml
from forensegm.imageio import encode_image, write_mask
from forensegm.sample import LabelSpace

HW = (6, 8)


def picture(number):
    return np.random.default_rng(number).integers(0, 256, (*HW, 3), dtype=np.uint8)


def truth(number, *, ids=9):
    return np.random.default_rng(1000 + number).integers(0, ids, HW, dtype=np.uint8)


def encoded_mask(mask, folder):
    write_mask(folder / "mask.tmp", mask)
    data = (folder / "mask.tmp").read_bytes()
    (folder / "mask.tmp").unlink()
    return data


def make_table(numbers, folder, *, struct=True, **columns):
    def cell(data):
        return {"bytes": data, "path": None} if struct else data

    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())]) if struct else pa.binary()
    images = [cell(encode_image(picture(number), "png")) for number in numbers]
    masks = [cell(encoded_mask(truth(number), folder)) for number in numbers]
    arrays = {"image": pa.array(images, kind), "mask": pa.array(masks, kind)}
    return pa.table({**arrays, **{name: pa.array(values) for name, values in columns.items()}})


@pytest.fixture
def release(tmp_path):
    """Two training files and one of validation, of several row groups, as the hub lays them out."""
    folder = tmp_path / "release" / "data"
    folder.mkdir(parents=True)
    for name, numbers in (
        ("train-00000-of-00002", range(5)),
        ("train-00001-of-00002", range(5, 8)),
        ("validation-00000-of-00001-0123abcd", range(8, 10)),
    ):
        pq.write_table(make_table(numbers, tmp_path), folder / f"{name}.parquet", row_group_size=2)
    return tmp_path / "release"


def check_rows(dataset, numbers):
    assert len(dataset) == len(numbers)
    for index, number in enumerate(numbers):
        sample = dataset[index]
        assert np.array_equal(sample.image, picture(number))
        assert np.array_equal(sample.mask, truth(number))
        assert (sample.id, sample.group) == (dataset.ids[index], dataset.groups[index])


def test_files_of_the_hub(release):
    dataset = parquet(release, labels=8)
    check_rows(dataset, range(10))
    assert dataset.name == "release"
    assert dataset.splits == ["train"] * 8 + ["validation"] * 2
    assert dataset.ids[7:] == ["train/00000007", "validation/00000000", "validation/00000001"]
    assert dataset[3].meta["codec"] == {"codec": "PNG", "quality": None, "subsampling": None}
    check_rows(parquet(release, split="validation", labels=8), range(8, 10))
    check_rows(parquet(release / "data" / "train-*.parquet", labels=8), range(8))
    file = release / "data" / "train-00001-of-00002.parquet"
    assert parquet(file, labels=8).ids == ["train/00000000", "train/00000001", "train/00000002"]
    with pytest.raises(ValueError, match=r"split of release, got 'val'. Known: train, validation"):
        parquet(release, split="val", labels=8)


@pytest.mark.parametrize("struct", [True, False])
def test_cells_of_bytes_and_of_structs(tmp_path, struct):
    pq.write_table(make_table(range(3), tmp_path, struct=struct, size=[1, 2, 3]), tmp_path / "x.parquet")
    dataset = parquet(tmp_path / "x.parquet", labels=8)
    check_rows(dataset, range(3))
    assert dataset.splits == ["", "", ""]
    assert dataset.ids[2] == "00000002"
    assert dataset[2].meta["row"] == {"size": 3}


def test_our_own_columns_restore_the_sample(tmp_path):
    turns = (truth(0) > 4).astype(np.uint8)
    record = {"edits": [{"turn": 1, "editor": "flux", "kind": "add"}], "source": {"name": "drawn"}}
    table = make_table([0], tmp_path, struct=False, id=["p/one"], group=["scene"], split=["val"])
    table = table.append_column("turns", pa.array([encoded_mask(turns, tmp_path)]))
    table = table.append_column("record", pa.array([json.dumps(record)]))
    names = [f"e{number}" for number in range(7)] + ["flux"]
    declared = json.dumps({"name": "mine", "labels": names})
    pq.write_table(table.replace_schema_metadata({"forensegm": declared}), tmp_path / "train.parquet")
    dataset = parquet(tmp_path / "train.parquet")
    sample = dataset[0]
    assert (dataset.name, dataset.labels.editors) == ("mine", tuple(names))
    assert (sample.id, sample.group, dataset.splits) == ("p/one", "scene", ["val"])
    assert np.array_equal(sample.turn_map, turns)
    assert sample.meta["edits"] == record["edits"]
    assert sample.meta["source"] == {"name": "drawn"}
    assert sample.meta["codec"]["codec"] == "PNG"
    assert len(parquet(tmp_path / "train.parquet", split="val")) == 1
    with pytest.raises(ValueError, match="split"):
        parquet(tmp_path / "train.parquet", split="train")


def test_labels_from_a_dataset_yaml_beside(release):
    labels = LabelSpace(tuple("abcdefgh"))
    write_dataset_yaml(release, DatasetMeta("x", "1", labels, "ids", "CC0", {}, {}))
    assert parquet(release).labels == labels
    with pytest.raises(ValueError, match="labels"):
        parquet(release / "data")


def test_rows_without_a_mask(tmp_path):
    kind = pa.binary()
    masks = [encoded_mask(np.ones(HW, np.uint8), tmp_path), None, None]
    images = [encode_image(picture(number), "png") for number in range(3)]
    table = pa.table({"image": pa.array(images, kind), "mask": pa.array(masks, kind), "label": [2, 0, 1]})
    pq.write_table(table, tmp_path / "x.parquet")
    strict = parquet(tmp_path / "x.parquet", labels=["flux", "full"])
    assert strict[0].label.editors == (1,)
    with pytest.raises(ValueError, match=r"a mask .* in .*x\.parquet/row 1 of row group 0/mask, got an empty cell"):
        strict[1]
    authentic = parquet(tmp_path / "x.parquet", labels=1, missing_mask="authentic")
    assert authentic[1].label.coverage == "empty"
    options = {"label": "label", "classes": {0: "authentic", "1": "full", 2: "mask"}}
    dataset = parquet(tmp_path / "x.parquet", labels=["flux", "full"], **options)
    assert [dataset[index].label.dominant for index in range(3)] == [1, None, 2]
    assert dataset[2].label.coverage == "full"
    undeclared = parquet(tmp_path / "x.parquet", labels=2, label="label", classes={0: "authentic"})
    with pytest.raises(ValueError, match=r"one of the declared classes 0 in .*, got '2'"):
        undeclared[0]
    for wrong, message in (
        ({"label": "label"}, "together"),
        ({"classes": {0: "authentic"}}, "together"),
        ({"label": "lable", "classes": {0: "authentic"}}, "'lable'. Did you mean label"),
        ({"label": "label", "classes": {0: "nobody"}}, "nobody"),
        ({"missing_mask": "full"}, "meaning of a missing mask"),
    ):
        with pytest.raises(ValueError, match=message):
            parquet(tmp_path / "x.parquet", labels=2, **wrong)


def test_columns_of_other_names(release):
    file = release / "data" / "train-00000-of-00002.parquet"
    table = pq.read_table(file)
    pq.write_table(table.rename_columns(["edited", "where"]), file)
    check_rows(parquet(file, image="edited", mask="where", labels=8), range(5))
    for options, message in (
        ({"mask": "where"}, r"column of '.*' \(option image\), got 'image'"),
        ({"image": "edited", "mask": "wher"}, "Did you mean where"),
        ({"image": "edited", "mask": "where", "id": "name"}, "option id"),
    ):
        with pytest.raises(ValueError, match=message):
            parquet(file, labels=8, **options)
    with pytest.raises(ValueError, match="got an empty cell"):
        parquet(file, labels=8, image="edited", mask=None)[0]
    with pytest.raises(ValueError, match=r"00001-of-00002.*no column edited, where, which other files have"):
        parquet(release, image="edited", mask="where", labels=8)


def test_ids_used_twice(tmp_path):
    pq.write_table(make_table(range(3), tmp_path, id=[7, 7, 8]), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"each id of .* \('id'\) once, got 7 more than once"):
        parquet(tmp_path / "x.parquet", labels=8)
    assert parquet(tmp_path / "x.parquet", labels=8, id=None).ids[2] == "00000002"


def test_wrong_cells(tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(encode_image(picture(0), "png"))
    table = make_table(range(2), tmp_path, record=["{", "[1]"])
    kind = table.schema.field("image").type
    outside = pa.array([{"bytes": None, "path": str(secret)}, {"bytes": None, "path": None}], kind)
    pq.write_table(table.set_column(0, "image", outside), tmp_path / "paths.parquet")
    for index, message in enumerate((f"only a path, '{secret}'", "an empty cell")):
        with pytest.raises(ValueError, match=message):
            parquet(tmp_path / "paths.parquet", labels=8)[index]
    pq.write_table(table, tmp_path / "records.parquet")
    for index, message in enumerate(("Expected JSON in", "keys with values")):
        with pytest.raises(ValueError, match=message):
            parquet(tmp_path / "records.parquet", labels=8)[index]
    pq.write_table(pa.table({"image": [1, 2], "mask": [1, 2]}), tmp_path / "numbers.parquet")
    with pytest.raises(ValueError, match=r"the bytes of a file in .*, got int"):
        parquet(tmp_path / "numbers.parquet", labels=8)[0]
    with pytest.raises(ValueError, match=r"ids 0\.\.1"):
        parquet(tmp_path / "records.parquet", labels=1, record=None)[0]


def test_finding_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="gone"):
        parquet(tmp_path / "gone", labels=8)
    with pytest.raises(ValueError, match=r"end in \.parquet"):
        parquet(tmp_path, labels=8)
    for name in ("b.parquet", "a/c.parquet", ".hidden.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert list_parquet(tmp_path) == [tmp_path / "a/c.parquet", tmp_path / "b.parquet"]
    assert find_parquet(tmp_path / "b*.parquet") == [tmp_path / "b.parquet"]
    with pytest.raises(ValueError, match=r"whole Parquet file in .*c\.parquet"):
        parquet(tmp_path, labels=8)
    assert [split_of(tmp_path / name) for name in ("test.parquet", "other.parquet")] == ["test", ""]


def test_memory_is_that_of_one_row_group(tmp_path):
    noise = [np.random.default_rng(number).bytes(200_000) for number in range(40)]
    table = pa.table({"image": pa.array(noise, pa.binary()), "mask": pa.array(noise, pa.binary())})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=2)
    dataset = parquet(tmp_path / "x.parquet", labels=8)
    peak, before = 0, pa.total_allocated_bytes()
    for index in range(40):
        with pytest.raises(ValueError, match="Expected an image"):
            dataset[index]
        peak = max(peak, pa.total_allocated_bytes() - before)
    assert peak < 3 * 2 * 400_000


def test_large_row_groups_are_said(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("forensegm.datasets.parquet_files.LARGE_GROUP_BYTES", 100)
    pq.write_table(make_table(range(3), tmp_path), tmp_path / "x.parquet")
    with caplog.at_level(logging.WARNING):
        parquet(tmp_path / "x.parquet", labels=8)
    assert "each worker holds one" in caplog.text


def _read(dataset, index):
    return dataset[index].mask


def test_forked_and_pickled_readers(release):
    dataset = parquet(release, labels=8)
    check_rows(dataset, range(10))
    with multiprocessing.get_context("fork").Pool(2) as pool:  # by pickle; the forked children inherit open files
        masks = pool.starmap(_read, [(dataset, index) for index in range(10)])
    assert all(np.array_equal(mask, truth(number)) for number, mask in enumerate(masks))
    check_rows(pickle.loads(pickle.dumps(dataset)), range(10))
    (release / "data" / "train-00000-of-00002.parquet").unlink()
    with pytest.raises(FileNotFoundError, match="train-00000"):
        pickle.loads(pickle.dumps(dataset))[0]


def attempt(call, *args):
    """What the call returns, or what its ValueError says; any other error is a failure."""
    try:
        return call(*args), ""
    except ValueError as error:
        return None, str(error)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(1, 4000), flips=st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 7)), max_size=3))
def test_damaged_files_give_clear_errors_or_whole_samples(tmp_path, cut, flips):
    path = tmp_path / "x.parquet"
    table = make_table(range(4), tmp_path, id=list("abcd"))
    pq.write_table(table, path, row_group_size=2, write_page_checksum=True)
    damaged = bytearray(path.read_bytes()[: cut if cut % 2 else None])
    for at, bit in flips:
        damaged[at % len(damaged)] ^= 1 << bit
    path.write_bytes(bytes(damaged))
    dataset, error = attempt(partial(parquet, labels=8), path)
    assert dataset is not None or str(path) in error
    for index in range(len(dataset) if dataset else 0):
        sample, error = attempt(dataset.__getitem__, index)
        assert str(path) in error or any(np.array_equal(sample.image, picture(number)) for number in range(4))
