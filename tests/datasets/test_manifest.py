import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensegm.datasets.manifest import manifest
from forensegm.datasets.paths import inside


@pytest.fixture
def root(write_pairs):
    return write_pairs({"images/a.jpg": None, "images/b.jpg": None, "masks/a.png": 3, "real/c.jpg": None})


ROWS = [
    {"image": "images/a.jpg", "mask": "masks/a.png", "split": "train", "group": "g1", "editor": "flux", "prompt": "x"},
    {"image": "real/c.jpg", "mask": "authentic", "split": "val", "group": "g2", "editor": "", "prompt": ""},
]


def write(root, name, rows):
    path = root / name
    if name.endswith(".csv"):
        lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
        path.write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8")
    elif name.endswith(".jsonl"):
        path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    else:
        path.write_text(json.dumps({"data": rows}) if "wrapped" in name else json.dumps(rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["list.json", "wrapped.json", "list.jsonl", "list.csv"])
def test_the_same_rows_in_every_form(root, name):
    dataset = manifest(write(root, name, ROWS))
    assert dataset.ids == ["images/a.jpg", "real/c.jpg"]
    assert (dataset.groups, dataset.splits) == (["g1", "g2"], ["train", "val"])
    assert dataset.labels.editors == ("flux",)
    assert [int((dataset[index].mask == 1).sum()) for index in (0, 1)] == [3, 0]
    assert dataset[0].meta["row"]["prompt"] == "x"
    assert manifest(root / name, split="val").ids == ["real/c.jpg"]


def test_each_row_names_its_editor(root):
    rows = [{**ROWS[0], "editor": "sdxl", "id": "1"}, {**ROWS[0], "editor": "flux", "id": "2"}]
    dataset = manifest(write(root, "list.json", rows), labels=["sdxl", "flux", "kolors"])
    assert [int(dataset[index].mask.max()) for index in (0, 1)] == [1, 2]
    with pytest.raises(ValueError, match=r"row 1, got 'sdxl'"):
        manifest(root / "list.json", labels=["flux"])


def test_columns_by_other_names(root):
    rows = [{"path": "images/a.jpg", "gt": "masks/a.png", "fold": "test", "name": "n1"}]
    dataset = manifest(
        write(root, "l.csv", rows), image="path", mask="gt", split_column="fold", id="name", split="test"
    )
    assert dataset.ids == ["n1"]
    with pytest.raises(ValueError, match=r"under 'image' in .*l\.csv:2, got none\. Known: path, gt, fold, name"):
        manifest(root / "l.csv", mask="gt")


def test_a_lost_mask_is_never_a_claim(root):
    path = write(
        root, "list.jsonl", [ROWS[0], {"image": "images/b.jpg"}, {"image": "real/c.jpg", "label": "Authentic"}]
    )
    with pytest.raises(ValueError, match=r"got neither in 1: .*list\.jsonl:2\. Fill column 'mask'"):
        manifest(path)
    rows = [ROWS[0], {"image": "images/b.jpg", "label": "real", "mask": ""}]
    assert manifest(write(root, "list.json", rows))[1].label.fake is False


@pytest.mark.parametrize(
    "path", ["../x.jpg", "/etc/passwd", "images/../../x.jpg", "C:\\x.jpg", "..\\x.jpg", "a\0b", "."]
)
def test_a_path_outside_is_refused(root, path):
    rows = [ROWS[0], {**ROWS[1], "image": path}]
    with pytest.raises(ValueError, match=r"'image' of .*list\.json, row 2 to be a path inside"):
        manifest(write(root, "list.json", rows))


def test_a_path_may_lie_inside_in_any_way(root):
    absolute = str((root / "images" / "a.jpg").absolute())
    for text in (absolute, "./images/a.jpg", "images/x/../a.jpg"):
        assert inside(text, root, where="it") == "images/a.jpg"
    moved = root.parent / "lists"
    moved.mkdir()
    assert len(manifest(write(moved, "list.json", ROWS), root=root)[0].image) == 4


@pytest.mark.parametrize(
    ("text", "suffix", "message"),
    [
        ("[", "json", r"JSON in '.*x\.json'"),
        ("3", "json", "list of rows"),
        ("[]", "json", "got none"),
        ('["a"]', "json", "x.json, row 1, got str.*imdlbenco"),
        ('{"image": "a"}\n{', "jsonl", r"x\.jsonl:2"),
        ("image,mask\na", "csv", r"2 cells in .*x\.csv:2"),
        ("image,mask\na,b,c", "csv", r"2 cells in .*x\.csv:2"),
        ('image,mask\n"a', "csv", r"CSV in .*x\.csv:1"),
        ("image", "csv", "got none"),
        ("image\na", "txt", r"ends in \.json"),
    ],
)
def test_broken_tables(tmp_path, text, suffix, message):
    path = tmp_path / f"x.{suffix}"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        manifest(path)


def test_ids_once_and_missing_files_named(root):
    with pytest.raises(ValueError, match=r"got 'images/a\.jpg' more than once"):
        manifest(write(root, "list.json", [ROWS[0], ROWS[0]]))
    dataset = manifest(write(root, "list.json", [ROWS[0], {**ROWS[0], "image": "images/gone.jpg"}]))
    with pytest.raises(FileNotFoundError, match=r"gone\.jpg"):
        dataset[1]
    with pytest.raises(FileNotFoundError, match="table"):
        manifest(root / "no.json")


@given(
    data=st.binary(max_size=80) | st.text(max_size=80).map(lambda text: text.encode()),
    suffix=st.sampled_from(["json", "jsonl", "csv"]),
)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_a_clear_error(tmp_path, data, suffix):
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="Expected"):
        manifest(path)


def test_ignore_and_tones(root):
    dataset = manifest(write(root, "list.json", ROWS[:1]), mask_kind="tones", mask_values={0: "authentic", 255: "flux"})
    assert np.unique(dataset[0].mask).tolist() == [0, 1]
