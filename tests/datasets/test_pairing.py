import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensegm.datasets.pairing import Pair, key_of, list_files, listed, pair_by_key


@pytest.mark.parametrize(
    ("path", "folder", "key"),
    [
        ("images/a.jpg", "images", "a"),
        ("images/jpg.jpg", "images", "jpg"),
        ("images/a.b.c.jpg", "images", "a.b.c"),
        ("images/sub/x.jpg.edit.jpg", "images", "sub/x.jpg.edit"),
        ("images/cafe\u0301.jpg", "images", "caf\u00e9"),
        ("a.png", ".", "a"),
    ],
)
def test_keys(path, folder, key):
    assert key_of(path, folder) == key


@given(st.sets(st.text("abc", min_size=1, max_size=3)), st.sets(st.text("abc", min_size=1, max_size=3)), st.randoms())
def test_pairs_do_not_depend_on_order(names, more, random):
    images = [f"i/{name}.jpg" for name in names]
    masks = [f"m/{name}.png" for name in names | more]
    random.shuffle(images)
    random.shuffle(masks)
    pairs, orphans = pair_by_key({i: key_of(i, "i") for i in images}, {m: key_of(m, "m") for m in masks}, root="r")
    assert set(pairs) == {Pair(f"i/{name}.jpg", f"m/{name}.png") for name in names}
    assert set(orphans) == {f"m/{name}.png" for name in more - names}


def test_doubles_and_losses_list_their_files(tmp_path):
    images = {"i/a.jpg": "a", "i/a.png": "a", "i/b.jpg": "b"}
    with pytest.raises(ValueError, match=r"i/a\.jpg, i/a\.png share one key 'a'"):
        pair_by_key(images, {"m/a.png": "a"}, root=tmp_path)
    with pytest.raises(ValueError, match=r"m/a\.png, m/a\.tif share one mask key 'a'"):
        pair_by_key({"i/a.jpg": "a"}, {"m/a.png": "a", "m/a.tif": "a"}, root=tmp_path)
    with pytest.raises(ValueError, match=r"none for 2: i/b\.jpg, i/c\.jpg"):
        pair_by_key({"i/a.jpg": "a", "i/b.jpg": "b", "i/c.jpg": "c"}, {"m/a.png": "a"}, root=tmp_path)


def test_long_lists_are_cut():
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(number) for number in range(12)]).endswith("9, and 2 more")


def test_files_belong_to_the_deepest_folder(tmp_path):
    for name in ["b.PNG", "a.jpg", "notes.txt", "masks/a.png", "authentic/z.webp", "sub/c.jpeg", ".hidden.png"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    images, others = list_files(tmp_path, [".", "masks", "authentic"])
    assert images == {
        ".": ["a.jpg", "b.PNG", "sub/c.jpeg"],
        "masks": ["masks/a.png"],
        "authentic": ["authentic/z.webp"],
    }
    assert others == [".hidden.png", "notes.txt"]


@pytest.mark.parametrize("name", ["../elsewhere", "/tmp", "a/../../b"])
def test_folders_outside_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="folder inside"):
        list_files(tmp_path, [name])


def test_missing_folders_are_named(tmp_path):
    (tmp_path / "file").touch()
    for name, found in (("masks", "nothing"), ("file", "a file")):
        with pytest.raises(FileNotFoundError, match=f"folder '{name}' in .*, got {found}"):
            list_files(tmp_path, [name])
