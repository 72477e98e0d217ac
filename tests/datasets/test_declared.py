import numpy as np
import pytest
import yaml

from forensegm.datasets import open_dataset
from forensegm.datasets.declared import declared, pattern
from forensegm.imageio import write_mask

MINE = """\
reader: declared
name: mine
labels: [flux, sdxl]
mask: {kind: binary}
names: {a: flux, b: sdxl}
parts:
  - images: edited/{scene}_{model}.jpg
    mask: truth/{scene}_{model}_gt.png
    editor: "{model}"
    group: "{scene}"
    split: train
  - {images: real/**/*.jpg, mask: authentic, split: val}
  - {images: made/*.jpg, mask: full, editor: sdxl, split: val}
"""


@pytest.fixture
def root(write_pairs):
    """What a user has: fifteen lines of YAML, and files."""
    assert len(MINE.splitlines()) <= 15
    root = write_pairs(
        {
            "edited/s1_a.jpg": None,
            "truth/s1_a_gt.png": 3,
            "edited/s1_b.jpg": None,
            "truth/s1_b_gt.png": 5,
            "real/deep/r.JPG": None,
            "made/m.jpg": None,
            "notes/x.jpg": None,
        }
    )
    (root / "dataset.yaml").write_text(MINE)
    return root


def rewrite(root, **changes):
    values = yaml.safe_load(MINE)
    for key, value in changes.items():
        if value is None:
            values.pop(key)
        else:
            values[key] = value
    (root / "dataset.yaml").write_text(yaml.safe_dump(values))
    return root


def test_a_set_of_your_own_in_fifteen_lines(root):
    dataset = open_dataset(str(root))
    assert dataset.ids == ["edited/s1_a.jpg", "edited/s1_b.jpg", "made/m.jpg", "real/deep/r.JPG"]
    assert dataset.groups == ["s1", "s1", "made/m.jpg", "real/deep/r.JPG"]
    assert dataset.splits == ["train", "train", "val", "val"]
    masks = [dataset[index].mask for index in range(4)]
    assert [(int(mask.max()), int((mask > 0).sum())) for mask in masks] == [(1, 3), (2, 5), (2, 16), (0, 0)]
    assert len(open_dataset(f"declared:{root}", split="val")) == 2
    assert open_dataset(f"declared:{root / 'dataset.yaml'}").ids == dataset.ids


def test_the_files_may_lie_elsewhere_also_in_a_zip(root, tmp_path):
    import zipfile

    (tmp_path / "mine").mkdir()
    declaration = tmp_path / "mine" / "dataset.yaml"
    declaration.write_text(MINE)
    expected = open_dataset(str(root))
    assert declared(declaration, root=root).ids == expected.ids
    with zipfile.ZipFile(tmp_path / "files.zip", "w") as archive:
        for path in root.rglob("*.*"):
            archive.write(path, path.relative_to(root).as_posix())
    zipped = declared(declaration, root=tmp_path / "files.zip")
    assert np.array_equal(zipped[1].mask, expected[1].mask)
    declaration.write_text(MINE + f"root: ../{root.name}\n")
    assert declared(declaration).ids == expected.ids


def test_a_name_is_looked_up_in_the_working_folder(root, tmp_path, monkeypatch):
    (tmp_path / "work" / "datasets").mkdir(parents=True)
    root.rename(tmp_path / "work" / "datasets" / "mine")
    monkeypatch.chdir(tmp_path / "work")
    assert len(open_dataset("declared:mine")) == 4
    with pytest.raises(FileNotFoundError, match=r"datasets/minne/dataset\.yaml"):
        open_dataset("declared:minne")


def test_patterns():
    assert pattern("a/*.png").fullmatch("a/b.PNG")
    assert not pattern("a/*.png").fullmatch("a/b/c.png")
    assert pattern("**/x_*.png").fullmatch("x_1.png")
    assert pattern("**/x_*.png").fullmatch("a/b/x_1.png")
    assert pattern("{s}/{s}_{n}.png").fullmatch("q/q_1.png")["n"] == "1"
    assert not pattern("{s}/{s}_{n}.png").fullmatch("q/p_1.png")
    assert pattern("a(b)[c]+.png").fullmatch("a(b)[c]+.png")


def test_a_lost_mask_is_an_error_and_a_pattern_must_be_clear(root):
    (root / "truth/s1_b_gt.png").unlink()
    with pytest.raises(ValueError, match=r"none for 1: edited/s1_b\.jpg"):
        open_dataset(str(root))
    parts = [{"images": "edited/{scene}_a.jpg", "mask": "truth/{scene}_*", "editor": "flux"}]
    assert len(open_dataset(str(rewrite(root, parts=parts)))) == 1
    write_mask(root / "truth/s1_other.png", np.zeros((4, 4), np.uint8))
    with pytest.raises(ValueError, match=r"none for 1: edited/s1_a\.jpg"):
        open_dataset(str(root))


def test_masks_are_shared_only_where_it_is_said(root):
    part = {"images": "edited/{scene}_*.jpg", "mask": "truth/s1_a_gt.png", "editor": "flux"}
    with pytest.raises(ValueError, match="shared_masks: true"):
        open_dataset(str(rewrite(root, parts=[part])))
    assert len(open_dataset(str(rewrite(root, parts=[{**part, "shared_masks": True}])))) == 2


def test_other_mask_kinds(root):
    write_mask(root / "truth/s1_a_gt.png", np.full((4, 4), 128, np.uint8))
    part = {"images": "edited/s1_a.jpg", "mask": "truth/{stem}_gt.png"}
    mask = {"kind": "tones", "values": {0: "authentic", 128: "sdxl", 255: "ignore"}}
    dataset = open_dataset(str(rewrite(root, parts=[part], mask=mask)))
    assert (dataset[0].mask == 2).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": None}, "Expected name in"),
        ({"reader": "declred"}, "unknown 'parts'"),
        ({"lables": ["x"]}, "Did you mean labels"),
        ({"mask": {"knd": "ids"}}, "Did you mean kind"),
        ({"mask": {"kind": "idz"}}, "Did you mean ids"),
        ({"labels": "flux"}, "labels of .* to be a list"),
        ({"parts": []}, "either parts or format"),
        ({"format": {"reader": "parquet"}}, "got both"),
        ({"parts": [{"images": "x/*"}]}, "Expected mask in part 1"),
        ({"parts": [{"images": "x/*", "mask": "authentic", "editr": "x"}]}, "Did you mean editor"),
        ({"parts": [{"images": 3, "mask": "authentic"}]}, "a pattern or a list"),
        ({"parts": [{"images": "x/*", "mask": "../{stem}.png"}]}, "stay inside the root"),
        ({"parts": [{"images": "x/*", "mask": "authentic"}]}, "got none of"),
        ({"parts": [{"images": "edited/*", "mask": "truth/{stem}_gt.png"}]}, "one of flux, sdxl, got none"),
        ({"parts": [{"images": "edited/*", "mask": "truth/{stm}_gt.png", "editor": "flux"}]}, "known field .*'{stm}'"),
        ({"parts": [{"images": "edited/*", "mask": "full", "editor": "fluks"}]}, "got 'fluks'"),
        ({"parts": [{"images": "real/**", "mask": "authentic"}, {"images": "**", "mask": "authentic"}]}, "in one part"),
    ],
)
def test_mistakes_in_a_declaration(root, changes, message):
    rewrite(root, **changes)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        open_dataset(str(root))


def test_broken_yaml(root):
    (root / "dataset.yaml").write_text("reader: declared\n  x: [")
    with pytest.raises(ValueError, match="YAML in"):
        open_dataset(f"declared:{root}")
    (root / "dataset.yaml").write_text("- a")
    with pytest.raises(ValueError, match="keys with values"):
        open_dataset(f"declared:{root}")


def test_another_reader_by_declaration(root):
    (root / "rows.csv").write_text(
        "image,mask,editor\nedited/s1_a.jpg,truth/s1_a_gt.png,sdxl\nreal/deep/r.JPG,authentic,\n"
    )
    form = {"reader": "manifest", "location": "rows.csv"}
    dataset = open_dataset(str(rewrite(root, parts=None, format=form)))
    assert [int(dataset[index].mask.max()) for index in (0, 1)] == [2, 0]
    with pytest.raises(ValueError, match="kind of data set"):
        open_dataset(str(rewrite(root, parts=None, format={"reader": "manifst", "location": "rows.csv"})))


def test_code_is_never_chosen_by_a_declaration(root):
    form = {"reader": "os.path:exists", "location": "rows.csv"}
    with pytest.raises(ValueError, match="Expected"):
        open_dataset(str(rewrite(root, parts=None, format=form)))


def test_a_declared_set_is_written_as_any_other(root, tmp_path):
    from forensegm.datasets.convert import convert

    convert(open_dataset(str(root)), tmp_path / "out", to="native")
    assert len(open_dataset(str(tmp_path / "out"), split="val")) == 2
