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


def test_convert_there_and_back(workspace, tmp_path):
    done = workspace.run("data", "convert", workspace.source, "--to", "shards", "--out", tmp_path / "shards")
    assert done.code == 0, done.err
    assert "24 images" in done.out
    back = workspace.run(
        "data", "convert", f"shards:{tmp_path / 'shards'}", "--to", "native", "--out", tmp_path / "back"
    )
    assert back.code == 0, back.err
    mine, theirs = (sorted((root / "masks").iterdir()) for root in (workspace.data, tmp_path / "back"))
    assert len(mine) == len(theirs) == 24
    sheet = workspace.run("view", f"native:{tmp_path / 'back'}", "--out", tmp_path / "sheet.png", "--images", "2")
    assert sheet.code == 0, sheet.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{source}",), "--to KIND and --out DIR"),
        (("{source}", "--to", "parket", "--out", "x"), "Did you mean parquet"),
        (("{source}", "--to", "imdlbenco", "--out", "x"), "--binary"),
        (("{source}", "--to", "native", "--out", "{data}"), "a new or an empty folder"),
    ],
)
def test_convert_mistakes(arguments, message, workspace, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    filled = [part.format(source=workspace.source, data=workspace.data) for part in arguments]
    done = workspace.run("data", "convert", *filled)
    assert done.code == 2
    assert message in done.err
    assert not list(tmp_path.iterdir())


def test_split_and_apply(workspace, tmp_path):
    workspace.run("data", "convert", workspace.source, "--to", "native", "--out", tmp_path / "set")
    options = ("--shares", "0.5,0.2,0.3", "--workers", "1", "--out", tmp_path / "splits.csv")
    done = workspace.run("data", "split", f"native:{tmp_path / 'set'}", *options, "--leave_out", "telea", "--apply")
    assert done.code == 0, done.err
    assert "held_out" in done.out
    records = [json.loads(line) for line in (tmp_path / "set" / "records.jsonl").read_text().splitlines()]
    for record in records:
        holds = any(edit["editor"] == "telea" for edit in record["edits"])
        assert not (holds and record["split"] in ("train", "val"))
    assert len((tmp_path / "splits.csv").read_text().splitlines()) == 25
    assert "three numbers" in workspace.refused_by(
        "forensegm data split", "data", "split", workspace.source, "--shares", "0.5"
    )
    shards = tmp_path / "shards"
    workspace.run("data", "convert", workspace.source, "--to", "shards", "--out", shards)
    assert "Convert it first" in workspace.refused_by(
        "forensegm data split", "data", "split", f"shards:{shards}", "--apply"
    )
