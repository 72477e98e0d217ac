import copy
import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask as library
from pycocotools.coco import COCO

from forensegm.datasets.coco import coco, coco_regions, decode_region
from forensegm.imageio import write_image

HW = (7, 9)
SQUARE = [1.0, 1.0, 4.0, 1.0, 4.0, 3.0, 1.0, 3.0]


def annotation(number, category, segmentation, crowd=0, image=1):
    return {"id": number, "image_id": image, "category_id": category, "segmentation": segmentation, "iscrowd": crowd}


def compressed(region):
    code = library.encode(np.asfortranarray(region.astype(np.uint8)))
    return {"size": list(code["size"]), "counts": code["counts"].decode()}


VALUES = {
    "images": [{"id": 1, "file_name": "a.png", "height": 7, "width": 9}, {"id": 2, "file_name": "sub/b.png"}],
    "categories": [{"id": 9, "name": "flux"}, {"id": 4, "name": "sdxl"}],
    "annotations": [annotation(1, 9, [SQUARE]), annotation(2, 4, compressed(np.eye(7, 9) > 0))],
}


@pytest.fixture
def write(tmp_path):
    def write(values=VALUES):
        for image in values.get("images", []):
            write_image(tmp_path / image["file_name"], np.zeros((*HW, 3), np.uint8))
        path = tmp_path / "instances.json"
        path.write_text(json.dumps(values))
        return path

    return write


def changed(*path, value):
    values = copy.deepcopy(VALUES)
    place = values
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return values


def test_masks_are_what_pycocotools_draws(write):
    path = write()
    dataset = coco(path)
    assert dataset.labels.editors == ("sdxl", "flux")  # by category id
    theirs = COCO(str(path))
    expected = np.zeros(HW, np.uint8)
    for number, value in ((1, 2), (2, 1)):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "__array__ implementation doesn't accept a copy keyword")  # pycocotools
            expected[theirs.annToMask(theirs.anns[number]) > 0] = value
    assert np.array_equal(dataset[0].mask, expected)
    assert dataset[1].label.fake is False


def test_case_18_sparse_category_ids(shared):
    case = shared / "cases" / "18_coco_sparse_ids"
    expected = json.loads((case / "expected.json").read_text())
    dataset = coco(case / "coco.json")
    assert [dataset.labels.id_of(f"ed{number}") for number in expected["index"]] == list(expected["index"].values())
    assert dataset[0].mask[0].tolist() == expected["row0"]


def test_case_17_an_image_without_annotations_is_authentic(shared):
    case = shared / "cases" / "17_missing_masks"
    dataset = coco(case / "coco.json")
    assert len(dataset) == json.loads((case / "expected.json").read_text())["coco_items"]
    assert [dataset[index].label.fake for index in (0, 1)] == [True, False]


def test_case_19_run_lengths(shared, tmp_path):
    case = shared / "cases" / "19_coco_rle_crowd"
    expected = np.array(json.loads((case / "expected.json").read_text())["mask"])
    values = json.loads((case / "coco.json").read_text())
    variants = json.loads((case / "variants.json").read_text())
    (tmp_path / "img.png").write_bytes((case / "img.png").read_bytes())
    path = tmp_path / "coco.json"

    def read(name=None, **options):
        path.write_text(json.dumps({**values, "annotations": [variants[name]] if name else values["annotations"]}))
        return coco(path, **options)[0].mask

    assert np.array_equal(read(), expected)
    assert np.array_equal(read("compressed"), expected)
    assert np.array_equal(read("crowd"), expected * 255)
    assert np.array_equal(read("crowd", crowd="edited"), expected)
    with pytest.raises(ValueError, match=r"annotation 1 of .* got \[6, 4\]\. Height and width are swapped"):
        read("swapped_size")


def test_overlaps_and_crowds(write):
    region = np.zeros(HW, bool)
    region[:2] = True
    values = changed(
        "annotations",
        value=[
            annotation(1, 9, compressed(region)),
            annotation(2, 4, [SQUARE]),
            annotation(3, 4, compressed(~region), crowd=1),
        ],
    )
    mask = coco(write(values))[0].mask
    assert mask[0].tolist() == [2] * 9
    assert mask[1, 1:4].tolist() == [1, 1, 1]
    assert mask[2].tolist() == [255, 1, 1, 1, 255, 255, 255, 255, 255]


def test_chosen_categories(write):
    dataset = coco(write(), labels=["flux"])
    assert dataset.labels.editors == ("flux",)
    assert dataset[0].mask.sum() == 6
    with pytest.raises(ValueError, match="Did you mean flux"):
        coco(write(), labels=["fluks"])


def test_regions_for_the_edit_builder(write):
    found = list(coco_regions(write()))
    assert [(name, category) for name, category, _ in found] == [("a.png", "flux"), ("a.png", "sdxl")]
    assert [int(region.sum()) for _, _, region in found] == [6, 7]
    with pytest.raises(ValueError, match="height and width of image 2"):
        list(coco_regions(write(changed("annotations", 0, "image_id", value=2))))


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_all_codes_of_a_region_are_the_same(data):
    height, width = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    bits = data.draw(st.lists(st.booleans(), min_size=height * width, max_size=height * width))
    region = np.array(bits).reshape(height, width)
    code = library.encode(np.asfortranarray(region.astype(np.uint8)))["counts"]
    flat = region.T.ravel()
    edges = [0, *np.flatnonzero(np.diff(flat)) + 1, flat.size]
    runs = [int(value) for value in np.diff(edges)]
    plain = [0, *runs] if flat[0] else runs
    for counts in (code, code.decode(), plain):
        shape = {"size": [height, width], "counts": counts}
        assert np.array_equal(decode_region({"segmentation": shape}, (height, width), where="x"), region)


@given(st.text(max_size=20) | st.lists(st.integers(-5, 70), max_size=6) | st.none() | st.integers())
@settings(deadline=None, max_examples=60)
def test_broken_codes_are_named(counts):
    if isinstance(counts, list) and sum(counts) == 63 and min(counts) >= 0:
        return
    with pytest.raises(ValueError, match="annotation 5"):
        decode_region({"segmentation": {"size": [7, 9], "counts": counts}}, HW, where="annotation 5")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"images": []}, "lists of images and annotations"),
        ([], "lists of images and annotations"),
        (changed("annotations", 0, "category_id", value=77), "known category_id in annotation 1 .*got 77"),
        (changed("annotations", 0, "image_id", value=77), "known image_id in annotation 1"),
        (changed("images", 0, "file_name", value="../a.png"), "file_name of image 1"),
        (changed("images", 0, "file_name", value=""), "file_name of image 1"),
        (changed("images", 1, "id", value=1), "image id .* once, got 1"),
        (changed("categories", value=[]), "known category_id"),
        (changed("annotations", 0, value=7), "objects as annotations"),
    ],
)
def test_broken_files(write, values, message):
    path = write()
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match=message):
        coco(path)


@pytest.mark.parametrize(
    "shape", [[[1, 2, 3, 4]], [[1, 2, 3, 4, 5, 6, 7]], [["a"] * 6], ["x"], None, "abc", [[float("nan")] * 6]]
)
def test_broken_regions(write, shape):
    with pytest.raises(ValueError, match="annotation 1 of"):
        coco(write(changed("annotations", 0, "segmentation", value=shape)))[0]


def test_wrong_options(write):
    with pytest.raises(ValueError, match="names no splits"):
        coco(write(), split="train")
    with pytest.raises(ValueError, match="crowd regions, got 'x'"):
        coco(write(), crowd="x")
    with pytest.raises(FileNotFoundError):
        coco("gone.json")
