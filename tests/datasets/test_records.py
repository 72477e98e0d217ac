import json

import pytest

from forensegm.datasets.records import (
    DatasetMeta,
    Edit,
    Record,
    check_inside,
    read_dataset_yaml,
    read_records,
    write_dataset_yaml,
    write_records,
)
from forensegm.sample import LabelSpace

META = DatasetMeta("edits", "1", LabelSpace(("telea", "köpy")), "ids", "CC0-1.0", {"by": "test"}, {"images": 2})


def test_records_come_back_the_same(tmp_path, make_record):
    records = [make_record(0), make_record(1, edits=[], turns=None, group="a\u2028b"), make_record(2, "test")]
    write_records(tmp_path, records)
    assert read_records(tmp_path) == records
    lines = (tmp_path / "records.jsonl").read_text("utf-8").split("\n")
    assert len(lines) == 4
    assert "cöpy" in lines[0]
    assert Record.from_dict(json.loads(lines[0])).to_dict() == json.loads(lines[0])


def test_dataset_yaml_comes_back_the_same(tmp_path):
    write_dataset_yaml(tmp_path, META)
    assert read_dataset_yaml(tmp_path) == META
    assert "köpy" in (tmp_path / "dataset.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"surprise": 1}, "unknown 'surprise'"),
        ({"image": 3}, "'image' to be text in .*, got int 3"),
        ({"turns": 3}, "'turns' to be text or null"),
        ({"size": [1]}, "height, width"),
        ({"size": [0, 5]}, "height, width"),
        ({"size": ["1", "2"]}, "height, width"),
        ({"base": "painting"}, "'base' to be photo or generated in .*, got 'painting'"),
        ({"id": ""}, "non-empty id"),
        ({"image": "../secret.png"}, r"got '\.\./secret\.png'"),
        ({"mask": "/etc/passwd"}, "relative path"),
        ({"turns": "C:/turns.png"}, "relative path"),
        ({"edits": [{"turn": 1}]}, "an edit of .*no 'editor'"),
        ({"edits": [3]}, "the keys of Edit in an edit of .*, got int"),
        ({"edits": {}}, "'edits' to be a list of edits"),
    ],
)
def test_a_wrong_record_is_named_by_file_and_line(tmp_path, make_record, change, message):
    write_records(tmp_path, [make_record(0), make_record(1)])
    path = tmp_path / "records.jsonl"
    first, second, _ = path.read_text("utf-8").split("\n")
    path.write_text(f"{first}\n\n{json.dumps({**json.loads(second), **change})}\n", "utf-8")
    with pytest.raises(ValueError, match=message) as error:
        read_records(tmp_path)
    assert f"{path}:3" in str(error.value)


@pytest.mark.parametrize(("key", "value"), [("kind", "paint"), ("composite", "blend"), ("turn", True), ("seed", "0")])
def test_wrong_values_of_an_edit(make_record, key, value):
    values = make_record(0).to_dict()["edits"][0]
    assert Edit.from_dict(values) == make_record(0).edits[0]
    with pytest.raises(ValueError, match=f"'{key}' to be"):
        Edit.from_dict({**values, key: value})


@pytest.mark.parametrize("text", ["{", "[1]", '{"size": NaN}', "nonsense", "[" * 100_000])
def test_lines_that_are_no_records(tmp_path, text):
    (tmp_path / "records.jsonl").write_text(text)
    with pytest.raises(ValueError, match=r"records\.jsonl:1"):
        read_records(tmp_path)


def test_missing_keys_and_doubled_ids(tmp_path, make_record):
    values = make_record(0).to_dict()
    del values["mask"], values["group"]
    with pytest.raises(ValueError, match="no 'mask', no 'group'"):
        Record.from_dict(values)
    with pytest.raises(ValueError, match=r"each id once in .*records\.jsonl, got 000 more than once"):
        write_records(tmp_path, [make_record(0), make_record(0)])
    with pytest.raises(ValueError, match=r"image of record '001'"):
        write_records(tmp_path, [make_record(1, image="../x.png")])
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_records(tmp_path, [make_record(1, source={"x": float("nan")})])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text", ["{", "- 1", "", "name: a\nlabels: []", "name: [", "\x00", "name: !!python/object:os.x {}"]
)
def test_a_wrong_dataset_yaml_is_named(tmp_path, text):
    (tmp_path / "dataset.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"dataset\.yaml"):
        read_dataset_yaml(tmp_path)


def test_missing_and_undecodable_files(tmp_path):
    for read in (read_dataset_yaml, read_records):
        with pytest.raises(FileNotFoundError, match="native data set"):
            read(tmp_path)
    (tmp_path / "records.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="UTF-8"):
        read_records(tmp_path)


@pytest.mark.parametrize("path", ["", ".", "..", "/a", "a/../../b", "a\\b", "c:/x", "c:x", "a\0b", "//server/x"])
def test_paths_outside_are_refused(path):
    with pytest.raises(ValueError, match="inside the data set"):
        check_inside(path, where="a test")


@pytest.mark.parametrize("path", ["images/a.png", "a", "..a/b..png", "a/./b", "图 像/é [1].png"])
def test_paths_inside_are_returned(path):
    assert check_inside(path, where="a test") == path
