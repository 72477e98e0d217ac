"""Which files a user means, and names for their results that cannot collide."""

from pathlib import Path

import pytest

from forensegm.cli.errors import UsageError
from forensegm.cli.files import image_files, result_names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.JPG", "a.png", "sub/a.png", "note.txt", ".hidden/x.png", "a.png.overlay.png", "dir.png/c.webp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_folders_are_searched_sorted_without_hidden_files_and_earlier_results(folder: Path) -> None:
    found = image_files([str(folder)])
    assert [str(path.relative_to(folder)) for path in found] == ["a.png", "b.JPG", "dir.png/c.webp", "sub/a.png"]


def test_files_are_taken_as_they_are_and_once(folder: Path) -> None:
    names = [str(folder / "note.txt"), str(folder / "a.png"), str(folder / "note.txt")]
    assert image_files(names) == [folder / "note.txt", folder / "a.png"]


@pytest.mark.parametrize(("name", "words"), [("nope", "does not exist"), ("empty", "got none")])
def test_nothing_to_read_is_a_mistake(name: str, words: str, folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(UsageError, match=words):
        image_files([str(folder / name)])
    with pytest.raises(UsageError, match="at least one image"):
        image_files([])


def test_result_names_are_short_and_distinct() -> None:
    assert result_names([Path("a/x.png")]) == [Path("x.png")]
    assert result_names([Path("a/x.png"), Path("b/x.png")]) == [Path("a/x.png"), Path("b/x.png")]
    assert result_names([Path("a/x.png"), Path("a/b/../y.png")]) == [Path("x.png"), Path("y.png")]
