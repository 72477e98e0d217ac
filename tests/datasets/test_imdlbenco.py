import json

import pytest

from forensegm.datasets.imdlbenco import imdlbenco
from forensegm.imageio import write_image


@pytest.fixture
def root(write_pairs):
    return write_pairs({"Tp/6.jpg": None, "Gt/6.png": 3, "Tp/8.jpg": None})


def write(root, rows):
    (root / "list.json").write_text(json.dumps(rows))
    return root / "list.json"


def test_pairs_and_negatives(root):
    absolute = str((root / "Tp" / "8.jpg").absolute())
    dataset = imdlbenco(write(root, [["./Tp/6.jpg", "./Gt/6.png"], [absolute, "Negative"]]), editor="x", labels=["x"])
    assert dataset.ids == ["Tp/6.jpg", "Tp/8.jpg"]
    assert [dataset[index].label.fake for index in (0, 1)] == [True, False]
    assert int((dataset[0].mask == 1).sum()) == 3


def test_graded_masks_are_cut_only_when_asked(root):
    import numpy as np

    write_image(root / "Gt" / "6.png", np.full((4, 4, 3), 140, np.uint8))
    path = write(root, [["Tp/6.jpg", "Gt/6.png"]])
    with pytest.raises(ValueError, match="mask_threshold"):
        imdlbenco(path)[0]
    assert imdlbenco(path, mask_threshold=128)[0].mask.all()


def test_the_folder_form_pairs_by_name(root):
    (root / "Tp" / "8.jpg").unlink()
    assert len(imdlbenco(root)) == 1
    write_image(root / "Tp" / "5.jpg", imdlbenco(root)[0].image)
    with pytest.raises(ValueError, match=r"none for 1: Tp/5\.jpg"):
        imdlbenco(root)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "an empty list"),
        ({"a": 1}, "got dict"),
        ([["a.jpg"]], "row 1, got"),
        ([["a.jpg", ""]], "row 1, got"),
        ([["a.jpg", None]], "row 1, got"),
        ([{"image": "a"}], "of kind manifest"),
        ([["../a.jpg", "Negative"]], "image in .*row 1 to be a path inside"),
        ([["a.jpg", "/x/b.png"]], "mask in .*row 1 to be a path inside"),
        ([["a.jpg", "Negative"], ["./a.jpg", "Negative"]], "more than once"),
    ],
)
def test_wrong_lists(root, rows, message):
    with pytest.raises(ValueError, match=message):
        imdlbenco(write(root, rows))


def test_no_splits_and_no_guesses(root):
    with pytest.raises(ValueError, match="no split"):
        imdlbenco(write(root, [["Tp/6.jpg", "Gt/6.png"]]), split="train")
    with pytest.raises(FileNotFoundError, match="JSON list"):
        imdlbenco(root / "gone.json")
