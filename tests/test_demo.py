import json
from pathlib import Path

import pytest
import torch

from forensegm.checkpoint import load_checkpoint
from forensegm.demo import DemoConfig, run_config, run_demo
from forensegm.imageio import read_image

OPTIONS = {"images": 40, "size": 64, "epochs": 1, "wandb": "off"}
KEYS = {
    "data": {"images", "edited", "authentic", "partial", "full", "empty", "editors"},
    "pixel.binary": {"iou_edited", "iou_authentic", "miou", "f1", "auc", "per_image"},
    "pixel.binary.per_image": {"f1_mean", "iou_mean", "n"},
    "pixel.editors": {"miou", "per_class"},
    "image": {"auc", "ap", "accuracy", "f1", "threshold", "pooling"},
    "editor_identity": {"top1", "macro_f1"},
    "authentic": {"flagged_area_mean"},
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small run of the demo."""
    out = tmp_path_factory.mktemp("demo") / "run"
    run_demo(DemoConfig(out=str(out), **OPTIONS))
    return out


@pytest.fixture(scope="module")
def metrics(out):
    return json.loads((out / "metrics.json").read_text())


def part(metrics, path):
    for key in path.split("."):
        metrics = metrics[key]
    return metrics


@pytest.mark.parametrize("path", KEYS)
def test_metrics_have_the_promised_keys(metrics, path):
    assert KEYS[path] <= set(part(metrics, path))


def test_distortions_and_baselines_hold_the_same_scores(metrics):
    chains = [row["chain"] for row in metrics["distortions"]]
    assert {"jpeg(90)", "jpeg(70)", "jpeg(50)", "resize(0.75)", "resize(0.5)"} <= set(chains)
    assert any(chain.startswith("blur") for chain in chains)
    assert any(chain.startswith("noise") for chain in chains)
    assert set(metrics["baselines"]) == {"all_edited", "none", "majority_editor"}
    for scores in (*metrics["distortions"], *metrics["baselines"].values()):
        assert {"pixel", "image", "editor_identity", "authentic"} <= set(scores)


def test_every_undefined_score_has_its_reason(metrics):
    def nulls(value, path=""):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from nulls(inner, f"{path}.{key}" if path else key)
        elif value is None:
            yield path

    for scores in (metrics, *metrics["distortions"], *metrics["baselines"].values()):
        judged = {key: scores[key] for key in ("pixel", "image", "editor_identity", "authentic")}
        assert {path for path in nulls(judged) if "auc_by_pooling" not in path} == set(scores["undefined"])


def test_every_product_is_there(out):
    for name in ("data/dataset.yaml", "data/records.jsonl", "report.html", "log.jsonl", "checkpoint/model.safetensors"):
        assert (out / name).is_file()
    card = (out / "checkpoint" / "MODEL_CARD.md").read_text()
    assert "Scores on unseen photographs" in card
    saved = load_checkpoint(out / "checkpoint")
    assert "telea" in saved.labels.editors
    assert saved.model(torch.zeros(1, 3, 5, 7)).shape == (1, 8, 5, 7)


def test_no_photograph_is_in_two_splits(out):
    records = [json.loads(line) for line in (out / "data" / "records.jsonl").read_text().splitlines()]
    splits = {}
    for record in records:
        splits.setdefault(record["group"], set()).add(record["split"])
    assert all(len(found) == 1 for found in splits.values())
    assert {split for found in splits.values() for split in found} == {"train", "val", "test"}


def test_a_second_run_replaces_the_first_and_gives_the_same(out, metrics):
    images = {path.name: read_image(path).sum() for path in sorted((out / "data" / "images").iterdir())}
    run_demo(DemoConfig(out=str(out), **OPTIONS))
    assert {path.name: read_image(path).sum() for path in sorted((out / "data" / "images").iterdir())} == images
    again = json.loads((out / "metrics.json").read_text())
    assert again["pixel"] == metrics["pixel"]
    assert again["image"] == metrics["image"]


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="empty or to hold an earlier demo"):
        run_demo(DemoConfig(out=str(tmp_path), **OPTIONS))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_missing_folder_of_photographs_leaves_nothing_behind(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        run_demo(DemoConfig(out=str(tmp_path / "out"), photos=str(tmp_path / "nowhere"), **OPTIONS))
    assert not (tmp_path / "out" / "metrics.json").exists()


@pytest.mark.parametrize(("bf16", "epochs", "lr"), [(True, 20, 1e-3), (False, 12, 2e-3)])
def test_the_schedule_fits_the_machine(bf16, epochs, lr, monkeypatch):
    monkeypatch.setattr("forensegm.models.precision.computes_in_bf16", lambda _device: bf16)
    run = run_config(DemoConfig())
    assert (run.train.epochs, run.optim.lr) == (epochs, lr)
    assert run_config(DemoConfig(epochs=3)).train.epochs == 3
