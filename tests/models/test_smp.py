"""The contract of a model over architectures of segmentation-models-pytorch."""

import copy
import itertools
import random
from functools import cache
from pathlib import Path

import pytest
import timm
import torch

from forensegm.imageio import read_image
from forensegm.models import Segmenter, create_model, list_models
from forensegm.models.smp import IMAGENET_MEAN, IMAGENET_STD, REFUSED, encoder_names, full_name, statistics

MODELS = (
    "smp:unet/resnet18",
    "smp:fpn/resnet18",
    "smp:deeplabv3plus/resnet18",
    "smp:pspnet/resnet18",
    "smp:segformer/resnet18",
    "smp:pan/resnet18",
    "smp:dpt/vit_tiny_patch16_224",
    "smp:unet/swin_tiny_patch4_window7_224",
)
CLASSES = 4
SIZES_HW = ((1, 1), (3, 5), (31, 33), (32, 32), (200, 630))  # those of case 32


@cache
def model_of(name: str) -> Segmenter:
    torch.manual_seed(0)
    return create_model(name, classes=CLASSES, weights="none").eval()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("hw", SIZES_HW)
def test_logits_at_input_size(name: str, hw: tuple[int, int]) -> None:
    images = torch.rand(1, 3, *hw, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        logits, again = model_of(name)(images), model_of(name)(images)
    assert logits.shape == (1, CLASSES, *hw)
    assert logits.dtype == torch.float32
    assert logits.isfinite().all()
    assert torch.equal(logits, again)


def test_case_32_odd_sizes(shared: Path) -> None:
    for path in sorted((shared / "cases" / "32_odd_sizes").glob("i*[0-9].png")):
        image = read_image(path)
        batch = torch.from_numpy(image).permute(2, 0, 1)[None] / 255
        with torch.inference_mode():
            assert model_of(MODELS[0])(batch).shape[-2:] == image.shape[:2], path.name


@pytest.mark.parametrize("name", MODELS)
def test_images_of_a_batch_do_not_meet(name: str) -> None:
    images = torch.rand(2, 3, 40, 50, generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        together, alone = model_of(name)(images), model_of(name)(images[1:])
    torch.testing.assert_close(together[1:], alone, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "frontend"), [*((name, "none") for name in MODELS), ("smp:unet/tf_efficientnet_lite0", "srm")]
)
def test_gradients_reach_every_parameter(name: str, frontend: str) -> None:
    torch.manual_seed(0)
    model = create_model(name, classes=CLASSES, weights="none", frontend=frontend).train()
    model(torch.rand(2, 3, 40, 70)).square().mean().backward()
    trained = {key: value.grad for key, value in model.named_parameters() if value.requires_grad}
    assert not [key for key, gradient in trained.items() if gradient is None or not gradient.isfinite().all()]
    frozen = [key for key, value in model.named_parameters() if not value.requires_grad]
    unused = {"smp:pspnet/resnet18": ".layer", "smp:dpt/vit_tiny_patch16_224": "encoder.model."}
    assert all(unused[name] in key for key in frozen)  # what nothing depends on: late stages, the classifier
    encoder, decoder = list(model.encoder_parameters()), list(model.decoder_parameters())
    assert encoder
    assert decoder
    assert {id(value) for value in itertools.chain(encoder, decoder)} == {id(value) for value in model.parameters()}
    assert len(encoder) + len(decoder) == len(list(model.parameters()))


def test_names_of_encoders() -> None:
    assert full_name("resnet18") == "resnet18"
    assert full_name("tf_efficientnet_lite0") == "tu-tf_efficientnet_lite0"
    assert full_name("tu-convnext_atto") == "tu-convnext_atto"
    for name in encoder_names():
        assert full_name(name).removeprefix("tu-").removeprefix("timm-") == name


def test_statistics_are_those_of_the_weights() -> None:
    assert statistics("resnet18") == (IMAGENET_MEAN, IMAGENET_STD)
    config = timm.get_pretrained_cfg("tf_efficientnet_lite0")
    assert config is not None
    assert statistics("tu-tf_efficientnet_lite0") == (config.mean, config.std) == ((0.5,) * 3, (0.5,) * 3)


@pytest.mark.parametrize("arch", sorted({name.split("/")[0] for name in list_models("smp:*")}))
def test_names_that_are_listed_can_be_built(arch: str) -> None:
    names = list_models(f"{arch}/*")
    small = [name for name in names if name.endswith(("18", "b0", "lite0", "s0", "small_patch32_224"))]
    assert len(small) >= 1
    for name in random.Random(arch).sample(small, min(len(small), 3)):
        assert create_model(name, classes=2, weights="none").spec["name"] == name


@pytest.mark.parametrize("arch", list(REFUSED))
def test_names_that_are_not_listed_are_refused(arch: str) -> None:
    start = random.Random(arch).choice(REFUSED[arch])
    encoder = min((name for name in encoder_names() if name.startswith(start)), key=len)
    assert f"smp:{arch}/{encoder}" not in list_models(f"smp:{arch}/*")
    with pytest.raises(ValueError, match=f"architecture '{arch}' and encoder '{encoder}' to go together, got: "):
        create_model(f"smp:{arch}/{encoder}", classes=2, weights="none")


@pytest.mark.parametrize(
    "name", ["smp:dpt/vit_small_patch14_dinov2", "smp:unet/maxvit_pico_rw_256", "smp:unet/mvitv2_tiny"]
)
def test_an_encoder_of_one_size_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="to go together, got: "):
        create_model(name, classes=2, weights="none")


def test_third_party_warnings_stay_inside(recwarn: pytest.WarningsRecorder) -> None:
    create_model("smp:unet/skresnet18", classes=2, weights="none")
    create_model("smp:dpt/tf_efficientnet_lite0", classes=2, weights="none")
    assert not [str(warning.message) for warning in recwarn]


def test_further_arguments_of_the_library():
    narrow = create_model(
        "smp:unet/resnet18", classes=2, weights="none", options={"decoder_channels": [32, 16, 16, 8, 8]}
    )
    assert narrow.spec["options"] == {"decoder_channels": [32, 16, 16, 8, 8]}
    full = create_model("smp:unet/resnet18", classes=2, weights="none")
    encoder = sum(p.numel() for p in narrow.network.encoder.parameters())
    assert sum(p.numel() for p in narrow.parameters()) - encoder < sum(p.numel() for p in full.parameters()) - encoder


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decoder_chanels": [8]}, "got 'decoder_chanels'. Did you mean decoder_channels"),
        ({"decoder_channels": [8]}, "decoder_channels.* to go together"),
        ({"in_channels": 4}, "yours to set, got 'in_channels'"),
        ({"encoder_weights": "imagenet"}, "yours to set, got 'encoder_weights'"),
    ],
)
def test_arguments_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        create_model("smp:unet/resnet18", classes=2, weights="none", options=options)


def test_a_copy_knows_its_own_encoder():
    model = create_model("smp:unet/resnet18", classes=2, weights="none")
    copied = copy.deepcopy(model)
    count = len(list(model.encoder_parameters()))
    assert len(list(copied.encoder_parameters())) == count > 0
    assert not {id(p) for p in copied.encoder_parameters()} & {id(p) for p in model.parameters()}
