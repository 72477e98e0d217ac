"""The exported file computes what torch computes, at any batch and size, and says what its numbers mean."""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from forensegm.checkpoint import load_checkpoint, save_checkpoint
from forensegm.inference import Predictor, export
from forensegm.models import create_model
from forensegm.sample import LabelSpace
from forensegm.version import __version__

module = import_module("forensegm.inference.export")  # the package's name `export` is the function
LABELS = LabelSpace(("telea", "copy_move"))
THRESHOLDS = {"pixel": 0.25, "image": 0.75, "pooling": "mean", "source": "validation (n=3)"}
MODELS = [("smp:unet/resnet18", "none"), ("smp:unet/tf_efficientnet_lite0", "srm")]


def checkpoint_of(name: str, folder: Path, *, frontend: str = "none") -> Path:
    torch.manual_seed(0)
    model = create_model(name, classes=3, weights="none", frontend=frontend)
    return save_checkpoint(folder, model, labels=LABELS, preprocessing={}, thresholds=THRESHOLDS)


@pytest.fixture(scope="module", params=MODELS, ids=lambda param: param[0])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A checkpoint and its export."""
    name, frontend = request.param
    root = tmp_path_factory.mktemp("export")
    checkpoint = checkpoint_of(name, root / "best", frontend=frontend)
    return checkpoint, export(checkpoint, root / "new" / "model.onnx")


@pytest.mark.filterwarnings("error")
def test_torch_and_onnx_agree(exported: tuple[Path, Path]) -> None:
    checkpoint, path = exported
    predictor = Predictor.from_checkpoint(checkpoint, device="cpu", precision="fp32")
    session = onnxruntime.InferenceSession(path)
    rng = np.random.default_rng(1)
    for batch, height, width in [(1, 32, 32), (2, 96, 160), (1, 161, 63), (3, 3, 5)]:
        images = rng.integers(0, 256, (batch, 3, height, width), dtype=np.uint8)
        (found,) = session.run(None, {"images": images})
        assert found.dtype == np.float32
        assert found.shape == (batch, 3, height, width)
        np.testing.assert_allclose(found, predictor.probabilities(torch.from_numpy(images)), atol=1e-4)


def test_metadata(exported: tuple[Path, Path]) -> None:
    checkpoint, path = exported
    found = onnxruntime.InferenceSession(path).get_modelmeta().custom_metadata_map
    assert json.loads(found["labels"]) == ["authentic", "telea", "copy_move"]
    assert json.loads(found["thresholds"]) == THRESHOLDS
    assert json.loads(found["model"]) == load_checkpoint(checkpoint).model.spec
    assert found["forensegm"] == __version__


def test_only_the_file_is_written(exported: tuple[Path, Path]) -> None:
    assert [path.name for path in exported[1].parent.iterdir()] == ["model.onnx"]


def test_a_path_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ending in .onnx, got '.*model.pt'"):
        export(tmp_path, tmp_path / "model.pt")


def test_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="checkpoint folder"):
        export(tmp_path / "absent", tmp_path / "model.onnx")


@pytest.mark.parametrize("library", ["onnx", "onnxruntime"])
def test_the_extra_is_not_installed(tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(RuntimeError, match=rf"'{library}' to be installed.*forensegm\[export\]"):
        export(tmp_path, tmp_path / "model.onnx")


class Wrong:
    """A session that answers `value` everywhere."""

    def __init__(self, value: float) -> None:
        self.value = value

    def run(self, _names: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        batch, _, height, width = inputs["images"].shape
        return [np.full((batch, 3, height, width), self.value, np.float32)]


@pytest.mark.parametrize("value", [0.9, np.nan])
def test_another_result_is_not_written(tmp_path: Path, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = checkpoint_of("smp:unet/resnet18", tmp_path / "best")
    monkeypatch.setattr(onnxruntime, "InferenceSession", lambda _content: Wrong(value))
    with pytest.raises(RuntimeError, match=r"within 0.001, got a difference of .* at 1x3x64x96. The file was not"):
        export(checkpoint, tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()


def test_an_operator_set_that_does_not_exist() -> None:
    with pytest.raises(RuntimeError, match=r"operator set \(opset 999\)"):
        module.to_onnx(torch.nn.Conv2d(3, 3, 1), opset=999)


def test_a_network_without_onnx_operators(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="that ONNX has the operators for, got: "):
        export(checkpoint_of("smp:pspnet/resnet18", tmp_path / "best"), tmp_path / "model.onnx")
    assert capfd.readouterr() == ("", "")


def test_a_network_with_a_shortest_side(tmp_path: Path) -> None:
    path = export(checkpoint_of("smp:pan/resnet18", tmp_path / "best"), tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(path)
    for hw in [(7, 300), (129, 128)]:
        assert session.run(None, {"images": np.zeros((1, 3, *hw), np.uint8)})[0].shape == (1, 3, *hw)
