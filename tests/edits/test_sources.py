"""Photographs: what is found, what is left out and why."""

import numpy as np
import pytest

from forensegm.edits.sources import SOURCES, Photo, forget, load, probe, sift
from forensegm.imageio import write_image


def picture(seed, hw=(40, 50)):
    return np.random.default_rng(seed).integers(0, 255, (*hw, 3), dtype=np.uint8)


def found_in(folder, min_side=32):
    return sift(probe(photo, min_side=min_side) for photo in SOURCES["folder"](str(folder)))


def test_packaged_photographs_are_all_there():
    listed = SOURCES["packaged"]("")
    photos, skipped = sift(probe(photo, min_side=256) for photo in listed)
    assert skipped == []
    assert len(photos) == len(listed) >= 15
    assert len({photo.name for photo in photos}) == len(photos)
    assert all(photo.licence for photo in photos)
    pair = [photo for photo in photos if photo.scene == "motorcycle"]
    assert sorted(photo.path.name for photo in pair) == ["motorcycle_left.png", "motorcycle_right.png"]
    assert len({photo.scene for photo in photos}) == len(photos) - 1


def test_folder_is_searched_sorted_and_sifted(tmp_path):
    (tmp_path / "b").mkdir()
    write_image(tmp_path / "b" / "two.png", picture(2))
    write_image(tmp_path / "one.PNG", picture(1))
    write_image(tmp_path / "copy of one.png", picture(1))
    write_image(tmp_path / "small.png", picture(3, (20, 50)))
    write_image(tmp_path / "wünderbar %20 [1].png", picture(4))
    (tmp_path / "broken.jpg").write_bytes((tmp_path / "one.PNG").read_bytes()[:200])
    (tmp_path / "page.jpg").write_text("<html>no image</html>")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("not an image")
    (tmp_path / ".hidden.png").write_bytes(b"")

    photos, skipped = found_in(tmp_path)
    assert [photo.name for photo in photos] == ["b/two.png", "copy of one.png", "wünderbar %20 [1].png"]
    reasons = {path.rpartition("/")[2]: reason for path, reason in skipped}
    assert set(reasons) == {"broken.jpg", "page.jpg", "empty.png", "small.png", "one.PNG"}
    assert reasons["one.PNG"] == "same pixels as copy of one.png"
    assert "50x20" in reasons["small.png"]
    assert photos[0].hw == (40, 50)
    assert photos[0].scene == "b/two.png"


def test_order_does_not_depend_on_the_order_of_creation(tmp_path):
    for name in ("c", "a", "b"):
        write_image(tmp_path / f"{name}.png", picture(ord(name)))
    assert [photo.name for photo in SOURCES["folder"](str(tmp_path))] == ["a.png", "b.png", "c.png"]


def test_broken_files_of_the_shared_cases_are_named(shared):
    photos, skipped = found_in(shared / "cases" / "13_broken_files", min_side=1)
    assert photos
    assert skipped
    assert all(reason for _, reason in skipped)


@pytest.mark.parametrize("name", ["nowhere", "file.txt"])
def test_no_folder(tmp_path, name):
    (tmp_path / "file.txt").write_text("")
    with pytest.raises(FileNotFoundError, match="Expected a folder of photographs at"):
        SOURCES["folder"](str(tmp_path / name))


def test_load_is_cached_and_read_only(tmp_path):
    write_image(tmp_path / "a.png", picture(0))
    photo = probe(Photo("a", tmp_path / "a.png", "a", ""), min_side=8)
    assert isinstance(photo, Photo)
    image = load(photo)
    assert image is load(photo)
    assert np.array_equal(image, picture(0))
    with pytest.raises(ValueError, match="read-only"):
        image[:] = 0
    forget()
    assert load(photo) is not image
    forget()
