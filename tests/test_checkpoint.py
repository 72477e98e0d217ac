"""What is saved comes back bit by bit, an interrupted save costs nothing, and every bad folder is one clear error."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from forensegm import checkpoint
from forensegm.checkpoint import CARD, DESCRIPTION, WEIGHTS, load_checkpoint, save_checkpoint
from forensegm.models import Segmenter, create_model
from forensegm.sample import LabelSpace

LABELS = LabelSpace(("telea", "copy_move"))
PREPROCESSING = {"range": [0, 1], "crop": 256}
THRESHOLDS = {"pixel": 0.1 + 0.2, "image": 0.7, "pooling": "topk_mean", "source": "validation (n=12)"}
EXTRA = {"step": 7, "note": "ünïcode", "scores": [0.1, None]}

OWN = '''
from torch import nn

def tiny(*, classes, channels):
    """A network of one convolution and one normalization."""
    return nn.Sequential(nn.Conv2d(channels, classes, 3, padding=1), nn.BatchNorm2d(classes))
'''


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name of a module in the user's folder."""
    (tmp_path / "my_checkpointed_models.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield "my_checkpointed_models"
    sys.modules.pop("my_checkpointed_models", None)


@pytest.fixture
def name(own_module: str) -> str:
    return f"{own_module}:tiny"


@pytest.fixture
def model(name: str) -> Segmenter:
    return create_model(name, classes=3, frontend="highpass", trusted=True)


def save(folder: Path, model: Segmenter, **changed: Any) -> Path:
    options = {"labels": LABELS, "preprocessing": PREPROCESSING, "thresholds": THRESHOLDS, "extra": EXTRA}
    return save_checkpoint(folder, model, **{**options, **changed})


def test_round_trip(tmp_path: Path) -> None:
    model = create_model("smp:unet/resnet18", classes=3, weights="none", frontend="srm")
    model.to(memory_format=torch.channels_last)
    folder = save(tmp_path / "deep" / "best", model, card="# Card\n")
    assert sorted(path.name for path in folder.iterdir()) == sorted([CARD, DESCRIPTION, WEIGHTS])
    assert (folder / CARD).read_text(encoding="utf-8") == "# Card\n"
    saved = load_checkpoint(folder)
    assert saved.labels == LABELS
    assert (saved.preprocessing, saved.thresholds, saved.extra) == (PREPROCESSING, THRESHOLDS, EXTRA)
    assert saved.model.spec == model.spec
    assert not saved.model.training
    before, after = model.state_dict(), saved.model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[key], after[key]) for key in before)
    images = torch.rand(1, 3, 33, 40)
    with torch.inference_mode():
        torch.testing.assert_close(saved.model(images), model.eval()(images), atol=1e-5, rtol=1e-5)


def test_card_is_never_empty(tmp_path: Path, model: Segmenter, name: str) -> None:
    assert (save(tmp_path / "a", model) / CARD).read_text(encoding="utf-8") == f"# {name}\n"


def test_saving_again_replaces(tmp_path: Path, model: Segmenter, name: str) -> None:
    folder = save(tmp_path / "runs" / "best", model)
    (folder / "left_over.txt").touch()
    save(folder, model, extra={"step": 8})
    assert load_checkpoint(folder, trusted_name=name).extra == {"step": 8}
    assert not (folder / "left_over.txt").exists()
    assert list(folder.parent.iterdir()) == [folder]


def fail(*_args: object) -> None:
    raise OSError("No space left on device")


def fail_on_new(source: Path, target: Path) -> None:
    """A rename that fails for the new folder and works for the old one."""
    if "old" not in f"{source} {target}":
        fail()
    os.replace(source, target)


@pytest.mark.parametrize(
    ("module", "function", "failing"),
    [
        (checkpoint, "save_file", fail),
        (checkpoint, "write_json", fail),
        (checkpoint, "write_text_atomic", fail),
        (checkpoint.os, "rename", fail_on_new),
    ],
)
def test_an_interrupted_save_keeps_the_older_one(
    tmp_path: Path,
    model: Segmenter,
    name: str,
    module: Any,
    function: str,
    failing: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = save(tmp_path / "runs" / "best", model)
    with monkeypatch.context() as patch:
        patch.setattr(module, function, failing)
        with pytest.raises(OSError, match="No space left"):
            save(folder, model, extra={"step": 8})
    assert load_checkpoint(folder, trusted_name=name).extra == EXTRA
    assert list(folder.parent.iterdir()) == [folder]


def killed(*_args: object) -> None:
    raise KeyboardInterrupt


def test_a_save_killed_between_its_renames_keeps_the_older_one(
    tmp_path: Path, model: Segmenter, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save(tmp_path / "runs" / "best", model)
    folder.rename(checkpoint.moved_aside(folder))  # what SIGKILL leaves behind
    assert load_checkpoint(folder, trusted_name=name).extra == EXTRA
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.os, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            save(folder, model, extra={"step": 8})
    assert load_checkpoint(folder, trusted_name=name).extra == EXTRA
    save(folder, model, extra={"step": 9})
    assert load_checkpoint(folder, trusted_name=name).extra == {"step": 9}
    assert list(folder.parent.iterdir()) == [folder]


def test_nothing_is_saved_that_cannot_be_read(tmp_path: Path, model: Segmenter) -> None:
    with pytest.raises(ValueError, match=r"Expected 2 classes for the 1 editors .* got a model with 3"):
        save(tmp_path / "a", model, labels=LabelSpace(("telea",)))
    with pytest.raises(ValueError, match="got none for image, source"):
        save(tmp_path / "a", model, thresholds={"pixel": 0.5, "pooling": "mean"})
    with pytest.raises(ValueError, match="JSON"):
        save(tmp_path / "a", model, extra={"loss": float("nan")})
    assert not (tmp_path / "a").exists()


def edit(folder: Path, **changed: Any) -> None:
    path = folder / DESCRIPTION
    values = {**json.loads(path.read_text(encoding="utf-8")), **changed}
    path.write_text(json.dumps({key: value for key, value in values.items() if value != "gone"}), encoding="utf-8")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": "a dataset"}, "to be a forensegm checkpoint, got JSON of another kind"),
        ({"format": "gone"}, "to be a forensegm checkpoint, got JSON of another kind"),
        ({"format_version": 2}, "format version 1 or older .* got 2. Upgrade"),
        ({"format_version": "gone"}, "format version 1 or older .* got None"),
        ({"labels": ["a", "b", "c"]}, "Expected 4 classes for the 3 editors .* got a model with 3"),
        ({"labels": "ab"}, "'labels' in .* to be a list, got 'ab'"),
        ({"labels": ["a", "a"]}, "each editor once, got a more than once"),
        ({"model": {"name": "smp:unet/resnet18"}}, "'classes' in model of .*, got none"),
        ({"model": "gone"}, "'model' in .*, got none"),
        ({"thresholds": {"pixel": 0.5}}, "'image' in thresholds of .*, got none"),
        ({"thresholds": {**THRESHOLDS, "image": "0.5"}}, "'image' in thresholds of .* to be a number, got '0.5'"),
        ({"thresholds": {**THRESHOLDS, "pooling": 3}}, "'pooling' in thresholds of .* to be a str, got 3"),
        ({"model": {"name": "smp:unett/resnet18", "classes": 3, "frontend": "none"}}, "unett.*checkpoint.json"),
        ({"model": {"name": "smp:unet/resnet18", "classes": 3, "frontend": "x"}}, "front end.*checkpoint.json"),
        ({"extra": "gone"}, "'extra' in .*, got none"),
        (
            {"model": {"name": "smp:unet/resnet18", "classes": 3, "frontend": "highpass", "weights": "random"}},
            "to fit the model 'smp:unet/resnet18', got .* other tensors, for example",
        ),
        ({"model": {"name": "my_checkpointed_models:tiny", "classes": 3, "frontend": "srm"}}, "network.0.weight"),
    ],
)
def test_a_description_that_does_not_fit(
    tmp_path: Path, model: Segmenter, name: str, changed: dict[str, Any], message: str
) -> None:
    folder = save(tmp_path / "best", model)
    edit(folder, **changed)
    with pytest.raises(ValueError, match=message):
        load_checkpoint(folder, trusted_name=name)


@pytest.mark.parametrize("content", [b"", b"[1, 2", b"\xff\xfe\x00"])
def test_a_damaged_description(tmp_path: Path, model: Segmenter, name: str, content: bytes) -> None:
    folder = save(tmp_path / "best", model)
    (folder / DESCRIPTION).write_bytes(content)
    with pytest.raises(ValueError, match="to be JSON, got a damaged file"):
        load_checkpoint(folder, trusted_name=name)


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9])
def test_truncated_weights(tmp_path: Path, model: Segmenter, name: str, kept: float) -> None:
    folder = save(tmp_path / "best", model)
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[: int(kept * len(content))])
    with pytest.raises(ValueError, match="to hold weights, got a damaged file"):
        load_checkpoint(folder, trusted_name=name)


def test_missing_files(tmp_path: Path, model: Segmenter, name: str) -> None:
    with pytest.raises(FileNotFoundError, match=r"checkpoint folder with checkpoint.json, got .*absent"):
        load_checkpoint(tmp_path / "absent")
    folder = save(tmp_path / "best", model)
    (folder / WEIGHTS).unlink()
    with pytest.raises(FileNotFoundError, match="The checkpoint is not complete"):
        load_checkpoint(folder, trusted_name=name)


def test_a_device_that_is_not_there(tmp_path: Path, model: Segmenter, name: str) -> None:
    with pytest.raises(ValueError, match="a device that is there, got 'tpu9'"):
        load_checkpoint(save(tmp_path / "best", model), trusted_name=name, device="tpu9")


@pytest.mark.parametrize("trusted_name", [None, "", "smp:unet/resnet18", "my_checkpointed_models:other"])
def test_a_name_in_a_file_is_not_imported(
    tmp_path: Path, model: Segmenter, own_module: str, trusted_name: str | None
) -> None:
    folder = save(tmp_path / "best", model)
    del sys.modules[own_module]
    with pytest.raises(ValueError, match=own_module):
        load_checkpoint(folder, trusted_name=trusted_name)
    assert own_module not in sys.modules
    assert load_checkpoint(folder, trusted_name=f"{own_module}:tiny").model.classes == 3
