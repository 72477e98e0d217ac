"""`forensegm data ...` as a user runs it."""

import json

import pytest


def test_the_family_lists_its_commands(workspace):
    done = workspace.run("data")
    assert done.code == 0
    assert "data inspect" in done.out
    assert "data validate" in done.out
    assert "  train" not in done.out
    assert "Did you mean inspect?" in workspace.refused_by("forensegm", "data", "inspec")
    assert "known command, got 'dat'" in workspace.refused_by("forensegm", "dat")


def test_inspect_prints_tables_and_writes_a_page(workspace, tmp_path):
    done = workspace.run(
        "data", "inspect", workspace.source, "--out", tmp_path / "page", "--images", "3", "--workers", "1"
    )
    assert done.code == 0, done.err
    assert "copy_move" in done.out
    assert "256" not in done.out
    assert "64x64 (height x width)" in done.out
    summary = json.loads((tmp_path / "page" / "data.json").read_text())
    assert summary["counts"]["images"] == 24
    page = (tmp_path / "page" / "data.html").read_text()
    assert page.count("<article") == 3


def test_inspect_of_one_split(workspace, tmp_path):
    done = workspace.run("data", "inspect", workspace.source, "--split", "test", "--out", tmp_path, "--workers", "1")
    assert done.code == 0
    assert set(json.loads((tmp_path / "data.json").read_text())["splits"]) == {"test"}


def test_validate_lists_and_is_strict_when_asked(workspace, tmp_path):
    place = tmp_path / "set" / "images"
    place.mkdir(parents=True)
    (place / "a.png").write_bytes(b"no image")
    source = f"folder:{tmp_path / 'set'}"
    options = ("--data_options", "images=null,authentic=images", "--workers", "1")
    done = workspace.run("data", "validate", source, *options, "--out", tmp_path / "problems.json")
    assert done.code == 0
    assert "error: unreadable: images/a.png" in done.out
    assert "1 images: 1 errors, 0 warnings" in done.out
    (problem,) = json.loads((tmp_path / "problems.json").read_text())["problems"]
    assert problem["where"] == "images/a.png"
    assert workspace.run("data", "validate", source, *options, "--strict").code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Expected SOURCE"),
        (("native:gone",), "Expected a native data set"),
        (("{source}", "--split", "nowhere"), "split"),
        (("{source}", "--workers", "-1"), "--workers to be 0 or more"),
        (("{source}", "--data_options", "masks=x"), "option of the reader"),
    ],
)
@pytest.mark.parametrize("command", ["inspect", "validate"])
def test_mistakes_are_one_line(command, arguments, message, workspace):
    filled = [part.format(source=workspace.source) for part in arguments]
    assert message in workspace.refused_by(f"forensegm data {command}", "data", command, *filled)
