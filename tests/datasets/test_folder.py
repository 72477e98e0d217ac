import json
import unicodedata

import numpy as np
import pytest
from PIL import Image as PillowImage

from forensegm.datasets import folder
from forensegm.imageio import write_image
from forensegm.sample import LabelSpace

ODD_NAMES = ["jpg", "a.b.c", "图 像 01", "naïve file", "100%_#1", "set[1]", "-dash", "x.jpg.edit", "café"]


def edited_pixels(dataset):
    return [int((dataset[index].mask > 0).sum()) for index in range(len(dataset))]


def test_case_15_odd_names(shared):
    case = shared / "cases" / "15_odd_filenames"
    expected = json.loads((case / "expected.json").read_text("utf-8"))
    dataset = folder(case)
    found = {
        sample_id.removesuffix(".jpg"): pixels
        for sample_id, pixels in zip(dataset.ids, edited_pixels(dataset), strict=True)
    }
    wanted = dict(zip(expected["names"], expected["mask_pixels"], strict=True))
    assert found == {f"images/{name}": pixels for name, pixels in wanted.items()}
    assert not dataset.orphan_masks


def test_odd_names_pair(write_pairs):
    files = {}
    for number, name in enumerate(ODD_NAMES):
        files[f"images/{unicodedata.normalize('NFD', name)}.jpg"] = None
        files[f"masks/{unicodedata.normalize('NFC', name)}.png"] = number + 1
    dataset = folder(write_pairs(files))
    assert sorted(edited_pixels(dataset)) == list(range(1, 10))
    assert dataset.ids == sorted(dataset.ids)


def test_case_16_duplicate_stems(shared):
    case = shared / "cases" / "16_duplicate_stems"
    expected = json.loads((case / "expected.json").read_text())
    with pytest.raises(ValueError, match=", ".join(expected["collision"])):
        folder(case)
    dataset = folder(case, images="images/sub", masks="masks/sub")
    assert dict(zip(dataset.ids, edited_pixels(dataset), strict=True)) == expected["unambiguous"]


def test_the_same_stem_in_another_folder_is_another_image(write_pairs):
    files = {"images/cat.jpg": None, "images/sub/cat.jpg": None, "masks/cat.png": 3, "masks/sub/cat.png": 9}
    dataset = folder(write_pairs(files))
    assert dict(zip(dataset.ids, edited_pixels(dataset), strict=True)) == {"images/cat.jpg": 3, "images/sub/cat.jpg": 9}
    with pytest.raises(ValueError, match=r"images/cat\.JPG, images/cat\.jpg share one key"):
        folder(write_pairs({**files, "images/cat.JPG": None}))


def test_case_17_missing_masks(shared, tmp_path, caplog):
    case = shared / "cases" / "17_missing_masks"
    expected = json.loads((case / "expected.json").read_text())
    with pytest.raises(ValueError, match=expected["error_for"]):
        folder(case, images="edited", authentic="authentic")
    for name in ("edited/e0.png", "masks/e0.png", "masks/orphan.png", "authentic/a0.png", "authentic/a1.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((case / name).read_bytes())
    dataset = folder(tmp_path, images="edited", authentic="authentic")
    assert [dataset[index].label.fake for index in range(3)] == [False] * expected["authentic"] + [True]
    assert dataset.orphan_masks == [expected["orphan"]]
    assert expected["orphan"] in caplog.text


def test_authentic_is_declared_and_never_guessed(write_pairs):
    root = write_pairs(
        {"images/e.jpg": None, "masks/e.png": 2, "real/a.jpg": None, "more/a.jpg": None, "images/ok/b.jpg": None}
    )
    with pytest.raises(ValueError, match=r"none for 1: images/ok/b\.jpg"):
        folder(root, authentic=["real", "more"])
    dataset = folder(root, authentic=["real", "more", "images/ok"])
    assert dataset.ids == ["images/e.jpg", "images/ok/b.jpg", "more/a.jpg", "real/a.jpg"]
    assert edited_pixels(dataset) == [2, 0, 0, 0]


def test_content_not_suffix_and_nothing_left_out_silently(write_pairs):
    root = write_pairs({"images/a.JPG": None, "images/b.jpg": None, "masks/a.png": 1, "masks/b.png": 2})
    PillowImage.new("RGB", (4, 4)).save(root / "images" / "b.jpg", "WEBP")
    (root / "images" / "notes.txt").write_text("x")
    dataset = folder(root)
    assert [dataset[index].meta["codec"]["codec"] for index in range(2)] == ["JPEG", "WEBP"]
    assert dataset[0].meta["codec"]["quality"] == 90
    assert dataset.ignored == ["images/notes.txt"]


def test_kinds_of_masks(write_pairs):
    root = write_pairs({"images/a.jpg": None, "masks/a.png": 2})
    dataset = folder(root)
    assert dataset.labels == LabelSpace.opaque(1)
    assert dataset.groups == dataset.ids == ["images/a.jpg"]
    assert dataset.name == "pairs"
    named = folder(root, labels=["telea", "flux"], editor="flux")
    assert named[0].mask.max() == 2
    with pytest.raises(ValueError, match=r"got 255 in '.*masks/a\.png'"):
        folder(root, mask_kind="ids", labels=3)[0]
    assert folder(root, mask_kind="ids", labels=3, ignore=255)[0].mask.max() == 255


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mask_kind": "ids"}, "labels for masks of kind ids"),
        ({"labels": "telea"}, "a list of editor names"),
        ({"labels": ["a", "b"]}, "the editor of the binary masks, one of a, b"),
        ({"labels": ["a"], "editor": "b"}, "one of authentic, a, got 'b'"),
        ({"mask_kind": "ids", "labels": ["a"], "editor": "a"}, "no editor"),
        ({"mask_kind": "tone"}, "mask kind"),
        ({"mask_kind": "tones"}, "mask_values"),
        ({"masks": "images"}, "mask_suffix"),
        ({"images": "../x"}, "inside"),
        ({"split": "test"}, "split, a sub-folder"),
    ],
)
def test_wrong_declarations(write_pairs, options, message):
    root = write_pairs({"images/a.jpg": None, "masks/a.png": 2})
    with pytest.raises(ValueError, match=message):
        folder(root, **options)


def test_splits_are_folders(write_pairs):
    root = write_pairs(
        {"train/images/a.jpg": None, "train/masks/a.png": 2, "test/images/b.jpg": None, "test/masks/b.png": 3}
    )
    assert edited_pixels(folder(root, split="test")) == [3]
    with pytest.raises(ValueError, match=r"got 'tset'\. Did you mean test"):
        folder(root, split="tset")
    with pytest.raises(FileNotFoundError, match="folder 'images'"):
        folder(root)


def test_masks_beside_their_images(write_pairs):
    root = write_pairs({"a.jpg": None, "a_mask.png": 2, "sub/b.jpg": None, "sub/b_mask.png": 1})
    dataset = folder(root, images=".", masks=".", mask_suffix="_mask")
    assert dict(zip(dataset.ids, edited_pixels(dataset), strict=True)) == {"a.jpg": 2, "sub/b.jpg": 1}


def test_masks_without_the_suffix_are_orphans(write_pairs):
    root = write_pairs({"images/a.jpg": None, "masks/a_gt.png": 2, "masks/a.png": 1})
    dataset = folder(root, mask_suffix="_gt")
    assert edited_pixels(dataset) == [2]
    assert dataset.orphan_masks == ["masks/a.png"]


def test_case_07_size_off(write_pairs):
    root = write_pairs({"images/a.jpg": None, "masks/a.png": 2}, hw=(8, 10))
    write_image(root / "images/a.jpg", np.zeros((8, 9, 3), np.uint8), "jpeg:90")
    with pytest.raises(ValueError, match=r"masks/a\.png' to have the image's size 8x9"):
        folder(root)[0]
    assert folder(root, on_mismatch="crop")[0].mask.shape == (8, 9)


def test_broken_items_are_named_and_leave_the_others(write_pairs):
    root = write_pairs({"images/a.jpg": None, "masks/a.png": 2, "images/b.jpg": None, "masks/b.png": 2})
    (root / "images/a.jpg").write_bytes(b"")
    dataset = folder(root)
    with pytest.raises(ValueError, match=r"images/a\.jpg"):
        dataset[0]
    assert dataset[1].id == "images/b.jpg"


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="got nothing there"):
        folder(tmp_path / "gone")
    for name in ("images", "masks"):
        (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match="Expected images in"):
        folder(tmp_path)


def test_generated_images_are_edited_everywhere(write_pairs):
    root = write_pairs(
        {"images/a.jpg": None, "masks/a.png": 2, "fake/b.jpg": None, "fake2/c.jpg": None, "real/d.jpg": None}
    )
    dataset = folder(root, images=None, authentic="real", generated=["fake", "fake2"])
    assert {dataset.ids[index]: dataset[index].label.coverage for index in range(3)} == {
        "fake/b.jpg": "full",
        "fake2/c.jpg": "full",
        "real/d.jpg": "empty",
    }
    dataset = folder(root, labels=["sd", "flux"], editor="sd", generated={"fake": "flux"})
    assert [int(dataset[index].mask.max()) for index in range(2)] == [2, 1]
    with pytest.raises(ValueError, match="editor of each generated folder, one of sd, flux"):
        folder(root, labels=["sd", "flux"], mask_kind="ids", generated="fake")
