"""Names of models: the table, did-you-mean, and a user's own function, imported on the user's own word only."""

import sys
from pathlib import Path

import pytest
import torch

from forensegm.models import create_model, list_models

OWN = '''
from torch import nn

def tiny(*, classes, channels):
    """A network of one convolution."""
    return nn.Conv2d(channels, classes, 3, padding=1)

def broken(*, classes, channels):
    return "no module"

constant = 3
'''


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name of a module in the user's folder."""
    (tmp_path / "my_own_models.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_own_models", raising=False)
    yield "my_own_models"
    sys.modules.pop("my_own_models", None)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("smp:unett/resnet18", "architecture of smp, got 'unett'. Did you mean unet"),
        ("smp:unet/resnet81", "encoder of smp, got 'resnet81'. Did you mean resnet"),
        ("smp:unet/tf_eficientnet_lite0", "Did you mean tf_efficientnet_lite0"),
        ("snp:unet/resnet18", "model source, got 'snp'. Did you mean smp"),
        ("unet/resnet18", "source:name, for example smp:unet/resnet18, got 'unet/resnet18'"),
        ("smp:unet", "smp:ARCHITECTURE/ENCODER, for example smp:unet/resnet18, got 'smp:unet'"),
        ("", "source:name"),
        ("smp:dpt/resnet18", "'dpt' and encoder 'resnet18' to go together"),
    ],
)
@pytest.mark.parametrize("trusted", [False, True])
def test_unknown_names(name: str, message: str, trusted: bool) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        create_model(name, classes=2, weights="none", trusted=trusted)
    assert len(str(caught.value)) < 300


def test_an_encoder_like_no_other_does_not_list_a_thousand() -> None:
    with pytest.raises(ValueError, match="Known: ") as caught:
        create_model("smp:unet/qqq", classes=2, weights="none")
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("classes", [-1, 0, 1])
def test_too_few_classes(classes: int) -> None:
    with pytest.raises(ValueError, match=f"at least 2 classes .* got {classes}"):
        create_model("smp:unet/resnet18", classes=classes, weights="none")


def test_unknown_front_end() -> None:
    with pytest.raises(ValueError, match="front end, got 'hipass'"):
        create_model("smp:unet/resnet18", classes=2, weights="none", frontend="hipass")


def test_own_function(own_module: str) -> None:
    model = create_model(f"{own_module}:tiny", classes=3, frontend="highpass", trusted=True)
    assert model(torch.rand(2, 3, 7, 9)).shape == (2, 3, 7, 9)
    assert model.spec == {
        "name": "my_own_models:tiny",
        "classes": 3,
        "frontend": "highpass",
        "weights": "as the function made them",
        "options": {},
    }
    assert not list(model.encoder_parameters())
    assert len(list(model.decoder_parameters())) == 2


def test_own_function_is_not_imported_unless_trusted(own_module: str) -> None:
    with pytest.raises(ValueError, match=r"source, got 'my_own_models'.*pass trusted_name=my_own_models:tiny"):
        create_model(f"{own_module}:tiny", classes=3)
    assert own_module not in sys.modules


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_own_models:broken", "return a torch module, got str"),
        ("my_own_models:constant", "name a callable of my_own_models, got 3"),
        ("my_own_models:absent", "name a callable"),
        ("my_absent_models:tiny", "importable, got: No module named"),
    ],
)
@pytest.mark.usefixtures("own_module")
def test_own_function_that_is_none(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        create_model(name, classes=3, trusted=True)


def test_list_models() -> None:
    names = list_models()
    assert names == sorted(set(names))
    assert {"smp:unet/resnet18", "smp:segformer/mit_b0"} <= set(names)
    assert list_models("smp:fpn/resnet1*") == ["smp:fpn/resnet101", "smp:fpn/resnet152", "smp:fpn/resnet18"]
    assert list_models("nothing*") == []
