"""The commands one after another on a tiny data set: what they write, what they print, and what they refuse."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from forensegm.datasets import open_dataset
from forensegm.imageio import read_image, write_image


def test_edit_builds_a_data_set_and_counts_it(workspace: Any) -> None:
    dataset = open_dataset(workspace.source)
    assert len(dataset) == 24
    assert dataset.labels.editors == ("telea", "copy_move")
    assert "24 images of" in workspace.edited.out
    assert workspace.edited.out.splitlines()[-1].startswith("wrote ")
    assert "edits: 24 in" in workspace.edited.err


@pytest.mark.parametrize(
    ("photos", "words"),
    [("missing", "missing"), ("empty", "empty"), ("texts", "texts")],
)
def test_edit_refuses_a_folder_without_photographs(workspace: Any, photos: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "note.txt").write_text("no photograph")
    line = workspace.refused("edit", "--photos", tmp_path / photos, "--out", tmp_path / "data")
    assert words in line
    assert not (tmp_path / "data" / "dataset.yaml").exists()


def test_edit_refuses_a_folder_with_other_files(workspace: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    assert str(tmp_path) in workspace.refused("edit", "--out", tmp_path, "--images", "6")
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_edit_dry_run_says_what_would_be_made_and_writes_nothing(workspace: Any, tmp_path: Path) -> None:
    out = tmp_path / "data"
    options = ("--editors", "sd2,telea", "--workers", "1", "--dry-run")
    done = workspace.run("edit", "--out", out, "--images", "12", "--size", "64", *options)
    assert done.code == 0, done.err
    lines = dict(line.split(": ", 1) for line in done.out.splitlines() if ": " in line)
    assert lines["plan"] == "12 images, nothing is written"
    assert lines["model"].startswith("sd2 loads sd2-community/stable-diffusion-2-inpainting (from the hub or its cache")
    assert "images/hour with 1 worker, without the models" in lines["time"]
    assert "FLOP at native sizes" in lines["compute"]
    assert not out.exists()


def test_edit_shards_say_what_is_missing_and_a_finished_set_stays(workspace: Any, tmp_path: Path) -> None:
    command = ("edit", "--out", tmp_path / "data", "--images", "12", "--size", "64", "--batch", "2", "--workers", "1")
    first, second, again = (workspace.run(*command, "--shard", shard) for shard in ("1/2", "2/2", "1/2"))
    assert "shard 1/2: 6 of 12 images are built so far" in first.out
    assert second.out.splitlines()[-1].startswith("wrote ")
    assert "It was built already." in again.out
    assert len(open_dataset(f"native:{tmp_path / 'data'}")) == 12


@pytest.mark.parametrize("argv", [("--images", "0"), ("--editors", "tela"), ("--codec", "gif"), ("--size", "-1")])
def test_edit_refuses_settings_that_cannot_work(workspace: Any, argv: tuple[str, ...], tmp_path: Path) -> None:
    assert "Expected" in workspace.refused("edit", "--out", tmp_path / "data", *argv)
    assert not (tmp_path / "data").exists()


def test_edit_skips_a_broken_photograph_and_names_it(workspace: Any, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    rng = np.random.default_rng(0)
    for number in range(4):
        write_image(photos / f"{number}.png", cv2.blur(rng.integers(0, 256, (96, 96, 3), np.uint8), (3, 3)))
    whole = (photos / "0.png").read_bytes()
    (photos / "broken.png").write_bytes(whole[: len(whole) // 2])
    options = ("--images", "8", "--size", "64", "--workers", "1", "--editors", "telea")
    done = workspace.run("edit", "--photos", photos, "--out", tmp_path / "data", *options)
    assert done.code == 0, done.err
    assert "skipped 1 photograph:" in done.out
    assert "broken.png" in done.out
    assert "Traceback" not in done.err


def test_train_writes_a_checkpoint_and_its_settings(workspace: Any) -> None:
    assert {"checkpoint", "config.yaml", "log.jsonl"} <= {path.name for path in workspace.train.iterdir()}
    assert "best epoch 1 of 1" in workspace.trained.out
    assert f"{workspace.checkpoint}" in workspace.trained.out
    assert "train: " in workspace.trained.err


def test_settings_of_a_run_start_another(workspace: Any) -> None:
    done = workspace.run("train", "--config", workspace.train / "config.yaml", "--print_config")
    assert done.code == 0
    assert f"source: {workspace.source}" in done.out


def test_train_refuses_a_missing_data_set(workspace: Any, tmp_path: Path) -> None:
    line = workspace.refused("train", "--data", f"native:{tmp_path}/nothing", "--out", tmp_path / "run")
    assert "nothing" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("argv", [("--model", "smp:unet/nope"), ("--data", "naive:x"), ("--epochs", "-1")])
def test_train_refuses_settings_that_cannot_work(argv: tuple[str, ...], workspace: Any, tmp_path: Path) -> None:
    assert "Expected" in workspace.refused("train", "--data", workspace.source, "--out", tmp_path / "run", *argv)
    assert not (tmp_path / "run" / "checkpoint").exists()


def test_evaluate_and_compare(workspace: Any, tmp_path: Path) -> None:
    options = ("--data", workspace.source, "--bootstrap", "20", "--examples", "2")
    for name in ("a", "b"):
        done = workspace.run("evaluate", workspace.checkpoint, *options, "--out", tmp_path / name)
        assert done.code == 0, done.err
    metrics = json.loads((tmp_path / "a" / "metrics.json").read_text())
    assert metrics["data"]["images"] == len(open_dataset(workspace.source, split="test"))
    assert {"metrics.json", "per_image.jsonl", "report.html"} == {path.name for path in (tmp_path / "a").iterdir()}
    assert "edited IoU" in done.out
    assert "all edited" in done.out
    compared = workspace.run(
        "compare", tmp_path / "a", tmp_path / "b", "--bootstrap", "20", "--out", tmp_path / "c.json"
    )
    assert compared.code == 0, compared.err
    scores = json.loads((tmp_path / "c.json").read_text())["scores"]
    assert all(score["better"] == "undecided" for score in scores.values())
    assert "undecided" in compared.out


def test_evaluate_skips_a_broken_image_and_names_it(workspace: Any, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(workspace.data, data)
    dataset = open_dataset(f"native:{data}", split="test")
    image = next((data / "images").rglob(f"*{dataset.ids[0]}*"))
    image.write_bytes(image.read_bytes()[:100])
    options = ("--data", f"native:{data}", "--bootstrap", "0", "--examples", "0")
    done = workspace.run("evaluate", workspace.checkpoint, *options, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "skipped 1 image:" in done.out
    assert image.name in done.out
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["data"]["images"] == len(dataset) - 1
    assert image.name in workspace.refused("evaluate", workspace.checkpoint, *options, "--on_error", "raise")


@pytest.mark.parametrize("command", ["evaluate", "robustness"])
def test_evaluation_refuses_a_missing_checkpoint(command: str, workspace: Any, tmp_path: Path) -> None:
    assert "CHECKPOINT" in workspace.refused(command, "--data", workspace.source)
    options = ("--data", workspace.source, "--out", tmp_path / "out")
    assert "nowhere" in workspace.refused(command, tmp_path / "nowhere", *options)
    assert str(workspace.data) in workspace.refused(command, workspace.data, *options)
    assert not (tmp_path / "out").exists()


def test_robustness_puts_the_clean_images_first(workspace: Any, tmp_path: Path) -> None:
    options = ("--data", workspace.source, "--out", tmp_path, "--chains", "jpeg(70),resize(0.5)|noise(2)")
    done = workspace.run("robustness", workspace.checkpoint, *options)
    assert done.code == 0, done.err
    rows = json.loads((tmp_path / "robustness.json").read_text())
    assert [row["chain"] for row in rows] == ["identity", "jpeg(70)", "resize(0.5)|noise(2)"]
    assert "clean" in done.out


def test_robustness_refuses_an_unknown_distortion(workspace: Any, tmp_path: Path) -> None:
    options = ("--data", workspace.source, "--out", tmp_path / "out")
    assert "jpeg" in workspace.refused("robustness", workspace.checkpoint, *options, "--chains", "jpg(70)")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def photos(workspace: Any, tmp_path: Path) -> Path:
    """A folder with two images in different sub-folders and a broken one."""
    folder = tmp_path / "photos"
    images = sorted((workspace.data / "images").rglob("*.png"))[:2]
    for image, name in zip(images, ("x.png", "sub/x.png"), strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(image, folder / name)
    (folder / "broken.png").write_bytes(images[0].read_bytes()[:60])
    return folder


def test_predict_reads_folders_and_skips_what_is_broken(workspace: Any, photos: Path) -> None:
    out = photos / "results"
    for _ in range(2):  # the second run must not take the first one's pictures for images
        done = workspace.run("predict", photos, "--checkpoint", workspace.checkpoint, "--out", out)
        assert done.code == 0, done.err
        written = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
        assert written == {
            f"{name}{suffix}" for name in ("x.png", "sub/x.png") for suffix in (".json", ".overlay.png", ".classes.png")
        }
    assert "skipped 1 image:" in done.out
    assert "broken.png" in done.out
    said = json.loads((out / "x.png.json").read_text())
    assert said["labels"] == ["authentic", "telea", "copy_move"]
    assert said["verdict"] == ("fake" if said["score"] >= said["threshold"] else "authentic")
    line = next(line for line in done.out.splitlines() if line.startswith("x.png "))
    assert said["verdict"] in line
    assert f"{said['score']:.3f}" in line
    assert read_image(out / "x.png.overlay.png").shape == read_image(photos / "x.png").shape


def test_predict_copes_with_names_that_are_no_text(workspace: Any, photos: Path, tmp_path: Path) -> None:
    names = [os.fsdecode(b"latin\xff.png"), "two\nlines.png", "图 像.png"]
    for name in names:
        shutil.copy(photos / "x.png", tmp_path / name)
    files = [tmp_path / name for name in names]
    done = workspace.run("predict", *files, "--checkpoint", workspace.checkpoint, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert [line.rsplit(maxsplit=4)[0] for line in done.out.splitlines()[1:4]] == [
        "latin\\udcff.png",
        "two\\nlines.png",
        "图 像.png",
    ]
    assert workspace.run("view", tmp_path / "out", "--out", tmp_path / "sheet.png").code == 0


def test_predict_fails_when_nothing_can_be_read(workspace: Any, photos: Path, tmp_path: Path) -> None:
    done = workspace.run(
        "predict", photos / "broken.png", "--checkpoint", workspace.checkpoint, "--out", tmp_path / "out"
    )
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith("forensegm predict: error: Expected at least one readable image")
    assert "broken.png" in done.out
    assert not (tmp_path / "out").exists()


def test_predict_does_not_take_a_full_disk_for_a_broken_image(workspace: Any, photos: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    options = ("--checkpoint", workspace.checkpoint, "--out", tmp_path / "file")
    done = workspace.run("predict", photos / "x.png", *options)
    assert done.code == 2
    assert str(tmp_path / "file") in done.err


def test_predict_refuses_what_is_not_there(workspace: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    options = ("--checkpoint", workspace.checkpoint, "--out", tmp_path / "out")
    assert "nope.png" in workspace.refused("predict", tmp_path / "nope.png", *options)
    assert "empty" in workspace.refused("predict", tmp_path / "empty", *options)
    assert "at least one image" in workspace.refused("predict", *options)
    assert "--checkpoint" in workspace.refused("predict", "photo.png")
    assert "Expected" in workspace.refused("predict", tmp_path, "--checkpoint", workspace.checkpoint, "--tile", "-5")


def test_view_draws_a_data_set_and_predictions(workspace: Any, photos: Path, tmp_path: Path) -> None:
    done = workspace.run("view", workspace.source, "--split", "test", "--images", "4", "--out", tmp_path / "data.png")
    assert done.code == 0, done.err
    assert done.out == f"wrote {tmp_path / 'data.png'}\n"
    assert read_image(tmp_path / "data.png").std() > 20
    out = tmp_path / "out"
    assert workspace.run("predict", photos / "x.png", "--checkpoint", workspace.checkpoint, "--out", out).code == 0
    assert workspace.run("view", out, "--out", tmp_path / "predictions.png").code == 0
    assert read_image(tmp_path / "predictions.png").shape[1] > 128


def test_view_refuses_what_it_cannot_draw(workspace: Any, tmp_path: Path) -> None:
    assert "SOURCE" in workspace.refused("view")
    assert "nowhere" in workspace.refused("view", tmp_path / "nowhere")
    assert ".png" in workspace.refused("view", workspace.source, "--out", tmp_path / "sheet.jpg")
    options = ("--out", tmp_path / "x.png")
    assert "Did you mean test?" in workspace.refused("view", workspace.source, "--split", "tset", *options)
    assert "at least 1" in workspace.refused("view", workspace.source, "--images", "0")
    assert not (tmp_path / "x.png").exists()


def test_view_skips_a_broken_image(workspace: Any, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(workspace.data, data)
    mask = sorted((data / "masks").rglob("*.png"))[0]
    mask.write_bytes(b"not a picture")
    done = workspace.run("view", f"native:{data}", "--out", tmp_path / "sheet.png")
    assert done.code == 0, done.err
    assert "skipped 1 image:" in done.out
    assert mask.name in done.out


def test_export_writes_onnx(workspace: Any, tmp_path: Path) -> None:
    done = workspace.run("export", workspace.checkpoint, "--out", tmp_path / "model.onnx")
    assert done.code == 0, done.err
    assert done.out == f"wrote {tmp_path / 'model.onnx'}\n"
    assert (tmp_path / "model.onnx").stat().st_size > 100_000


@pytest.mark.parametrize("kind", ["editors", "distortions", "poolings", "losses", "frontends", "readers"])
def test_list_explains_every_part(workspace: Any, kind: str) -> None:
    done = workspace.run("list", kind)
    assert done.code == 0
    lines = done.out.splitlines()
    assert len(lines) >= 2
    assert all(len(line.split(maxsplit=1)) == 2 for line in lines), "a name and what it is"


def test_list_models_and_kinds(workspace: Any) -> None:
    models = workspace.run("list", "models", "smp:unet/*lite0").out.split()
    assert "smp:unet/tf_efficientnet_lite0" in models
    assert all(name.startswith("smp:unet/") for name in models)
    assert workspace.run("list").out.split()[0] == "models"
    assert "Did you mean models" in workspace.refused("list", "modles")
    assert "none" in workspace.refused("list", "models", "smp:nothing*")
