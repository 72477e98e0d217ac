"""Base images from COCO, from any reader, and captions; and the regions that COCO's objects give."""

import json
from pathlib import Path

import numpy as np
import pytest

from forensegm.config import EditConfig
from forensegm.datasets.records import read_records, rle_decode
from forensegm.edits import build_edits
from forensegm.edits.sources import list_captions, list_photos, load, probe
from forensegm.imageio import read_image, write_image


def picture(seed, hw=(90, 120)):
    y, x = np.mgrid[: hw[0], : hw[1]]
    waves = np.stack([np.sin(x / (4 + seed) + c) + np.cos(y / 9 - seed) for c in range(3)], axis=2)
    noise = np.random.default_rng(seed).normal(0, 5, (*hw, 3))
    return np.clip(120 + 40 * waves + noise, 0, 255).astype(np.uint8)


@pytest.fixture
def coco(tmp_path):
    """Four photographs as COCO lays them out: a cup that fits, a speck, a crowd and one that the border cuts."""
    images, annotations, captions = [], [], []
    for number in range(1, 5):
        name = f"{number:012d}.png"
        write_image(tmp_path / "train2017" / name, picture(number))
        images.append({"id": number, "file_name": name, "height": 90, "width": 120, "license": 4})
        shapes = {
            "cup": [[40, 30, 70, 30, 70, 60, 40, 60]],
            "speck": [[5, 5, 8, 5, 8, 8, 5, 8]],
            "wall": [[0, 0, 30, 0, 30, 30, 0, 30]],
        }
        for category, shape in enumerate(shapes.values(), start=1):
            annotations.append({"image_id": number, "category_id": category, "iscrowd": 0, "segmentation": shape})
        crowd = {"size": [90, 120], "counts": [10800 - 900, 900]}
        annotations.append({"image_id": number, "category_id": 1, "iscrowd": 1, "segmentation": crowd})
        captions.append({"id": number, "image_id": number, "caption": f"A cup on  table {number}.\n"})
    for identity, one in enumerate(annotations):
        one["id"] = identity
    named = [{"id": number, "name": name} for number, name in enumerate(("cup", "speck", "wall"), start=1)]
    licences = [{"id": 4, "name": "Attribution License"}]
    folder = tmp_path / "annotations"
    folder.mkdir()
    both = {"images": images, "licenses": licences}
    (folder / "instances_train2017.json").write_text(
        json.dumps({**both, "annotations": annotations, "categories": named})
    )
    (folder / "captions_train2017.json").write_text(json.dumps({**both, "annotations": captions}))
    return folder / "instances_train2017.json"


def test_coco_photographs_come_with_objects_captions_and_licences(coco):
    photos = list_photos(f"coco:{coco}")
    assert [photo.name for photo in photos] == [f"{number:012d}.png" for number in range(1, 5)]
    assert [one.name for one in photos[0].objects] == ["cup", "speck", "wall"]  # no crowd
    assert photos[0].captions == ("A cup on table 1.",)
    assert photos[0].licence == "Attribution License"
    assert np.array_equal(load(photos[2]), picture(3))


def test_objects_and_their_names_become_edits(coco, tmp_path):
    out = tmp_path / "data"
    config = EditConfig(
        photos=f"coco:{coco}",
        out=str(out),
        images=8,
        size=0,
        regions=["objects"],
        authentic_share=0.0,
        turns=[1.0],
        editors=["telea", "copy_move"],
        workers=1,
    )
    build_edits(config)
    cup = np.zeros((90, 120), bool)
    cup[30:60, 40:70] = True
    for record in read_records(out):
        assert record.size == [90, 120]
        assert record.source["caption"].startswith("A cup on table")
        (edit,) = record.edits
        region = rle_decode(edit.mask)
        assert edit.parameters["region"] == "objects"
        assert region[cup].all()
        assert region.sum() < 1.4 * cup.sum()
        assert "cup" in edit.instruction


def test_crops_know_which_objects_they_cut(coco, tmp_path):
    config = EditConfig(
        photos=f"coco:{coco}", out=str(tmp_path / "data"), images=12, size=48, regions=["objects"], workers=1
    )
    build_edits(config)
    names = {edit.parameters["region"] for record in read_records(tmp_path / "data") for edit in record.edits}
    assert names <= {"objects", "shapes"}


def test_a_coco_file_without_its_photographs(coco):
    for path in (coco.parent.parent / "train2017").iterdir():
        path.unlink()
    with pytest.raises(FileNotFoundError, match=r"Expected the photographs of .*instances_train2017\.json"):
        list_photos(f"coco:{coco}")


def test_the_authentic_images_of_a_data_set(tmp_path):
    for number in range(6):
        write_image(tmp_path / f"photos/{number}.png", picture(number))
    first = EditConfig(photos=str(tmp_path / "photos"), out=str(tmp_path / "first"), images=9, size=64, workers=1)
    build_edits(first)
    records = read_records(tmp_path / "first")
    authentic = {record.id: record for record in records if not record.edits}
    photos = list_photos(f"native:{tmp_path / 'first'}")
    assert {photo.name for photo in photos} == set(authentic)
    assert {photo.scene for photo in photos} == {record.group for record in authentic.values()}
    one = photos[0]
    assert np.array_equal(load(one), read_image(tmp_path / "first" / authentic[one.name].image))
    assert probe(one, min_side=32).hw == (64, 64)
    second = EditConfig(
        photos=f"native:{tmp_path / 'first'}",
        out=str(tmp_path / "second"),
        images=4,
        size=48,
        split=(0, 0, 1),
        workers=1,
    )
    assert build_edits(second).counts["images"] == 4


def test_captions_of_a_text_file_and_of_coco(coco, tmp_path):
    (tmp_path / "lines.txt").write_text("a red ball\n\n  a  red ball \nan old chair\n")
    assert [one.captions for one in list_captions(str(tmp_path / "lines.txt"))] == [("a red ball",), ("an old chair",)]
    found = list_captions(str(coco.parent / "captions_train2017.json"))
    assert [one.scene for one in found] == [photo.scene for photo in list_photos(f"coco:{coco}")]
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(ValueError, match="Expected captions in"):
        list_captions(str(tmp_path / "empty.txt"))
    with pytest.raises(FileNotFoundError, match="Expected a file of captions"):
        list_captions(str(tmp_path / "absent.txt"))


OWN = """
from pathlib import Path
from forensegm.edits.sources import Photo

def of(location):
    return [Photo(path.name, path, path.stem[:1], "mine") for path in sorted(Path(location).glob("*.png"))]
"""


def test_a_source_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "own_source.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    write_image(tmp_path / "pictures/a1.png", picture(1))
    (photo,) = list_photos(f"own_source:of:{tmp_path / 'pictures'}")
    assert (photo.scene, photo.licence) == ("a", "mine")


def test_one_codec_distribution_for_authentic_and_edited(tmp_path):
    for number in range(4):
        write_image(tmp_path / f"photos/{number}.png", picture(number))
    config = EditConfig(
        photos=str(tmp_path / "photos"),
        out=str(tmp_path / "data"),
        images=60,
        size=48,
        codecs={"png": 1.0, "jpeg:70..90": 3.0},
        workers=1,
    )
    build_edits(config)
    records = read_records(tmp_path / "data")
    for own in ([r for r in records if r.edits], [r for r in records if not r.edits]):
        kinds = [record.codec["codec"] for record in own]
        assert 0.5 < kinds.count("JPEG") / len(kinds) < 0.95
    qualities = {record.codec["quality"] for record in records if record.codec["codec"] == "JPEG"}
    assert qualities <= set(range(70, 91))
    assert len(qualities) > 5
    assert all(Path(tmp_path / "data" / record.image).suffix in (".png", ".jpg") for record in records)


def test_grey_and_transparent_photographs(tmp_path):
    from PIL import Image

    for number in range(4):
        grey = Image.fromarray(picture(number)).convert("L")
        grey.save(tmp_path / f"{number}.png") if number % 2 else grey.convert("RGBA").save(tmp_path / f"{number}.png")
    summary = build_edits(
        EditConfig(photos=str(tmp_path), out=str(tmp_path.parent / "grey"), images=4, size=64, workers=1)
    )
    assert summary.counts["images"] == 4
