"""What the wrapper does around a network that can be computed by hand."""

import pytest
import torch
from torch import Tensor, nn

from forensegm.frontends import HighPass
from forensegm.models.segmenter import Network, Segmenter

SPEC = {"name": "by hand", "classes": 2, "frontend": "none", "weights": "by hand"}


class Spy(nn.Module):
    """Gives back its first two channels, and keeps what it was given."""

    seen: Tensor

    def forward(self, inputs: Tensor) -> Tensor:
        self.seen = inputs
        return inputs[:, :2]


def segmenter(*, stride: int = 8, minimum: int = 0, frontend: nn.Module | None = None) -> tuple[Segmenter, Spy]:
    spy = Spy()
    mean, std = (0.5, 0.25, 0.0), (0.5, 0.25, 1.0)
    network = Network(spy, stride=stride, mean=mean, std=std, origin="by hand", minimum=minimum)
    return Segmenter(network, spec=SPEC, frontend=frontend), spy


def test_normalization_by_hand() -> None:
    model, spy = segmenter(stride=1)
    logits = model(torch.ones(1, 3, 2, 2))
    assert spy.seen[0, :, 0, 0].tolist() == [1.0, 3.0, 1.0]
    assert logits[0, :, 1, 1].tolist() == [1.0, 3.0]


@pytest.mark.parametrize("hw", [(1, 1), (3, 5), (8, 8), (9, 16), (17, 7)])
def test_padding_is_on_the_right_and_cut_off(hw: tuple[int, int]) -> None:
    model, spy = segmenter()
    plain, _ = segmenter(stride=1)
    images = torch.rand(2, 3, *hw)
    logits = model(images)
    assert torch.equal(logits, plain(images))
    padded = spy.seen.shape[-2:]
    assert all(side % 8 == 0 and side - size < 8 for side, size in zip(padded, hw, strict=True))
    assert torch.equal(spy.seen[..., -1, -1], spy.seen[..., hw[0] - 1, hw[1] - 1])  # repeats the border


@pytest.mark.parametrize(
    ("hw", "padded"), [((1, 1), (24, 24)), ((23, 24), (24, 24)), ((25, 3), (32, 24)), ((40, 33), (40, 40))]
)
def test_minimum_by_hand(hw: tuple[int, int], padded: tuple[int, int]) -> None:
    model, spy = segmenter(minimum=24)
    assert model(torch.rand(1, 3, *hw)).shape == (1, 2, *hw)
    assert spy.seen.shape[-2:] == padded


@pytest.mark.parametrize(
    "layer", [nn.Conv2d(3, 2, 1, stride=2), nn.Conv2d(3, 3, 1), nn.Upsample(scale_factor=2), nn.Flatten()]
)
def test_a_network_that_returns_something_else(layer: nn.Module) -> None:
    network = Network(layer, stride=8, mean=(0.0,) * 3, std=(1.0,) * 3, origin="by hand")
    with pytest.raises(ValueError, match=r"network 'by hand' to return logits of shape \[1, 2, 8, 16\].*, got \["):
        Segmenter(network, spec=SPEC)(torch.rand(1, 3, 5, 9))


def test_front_end_sees_grey_levels_beside_rgb() -> None:
    model, spy = segmenter(stride=1, frontend=HighPass())
    images = torch.zeros(1, 3, 5, 5)
    images[0, :, 2, 2] = 1 / 255
    model(images)
    assert spy.seen.shape[1] == 6
    torch.testing.assert_close(spy.seen[0, 3:, 2, 2], torch.full((3,), 1 / 3))  # one grey level of three


def test_front_end_is_not_rounded_under_autocast() -> None:
    model, spy = segmenter(stride=1, frontend=HighPass())
    images = torch.rand(1, 3, 9, 9)
    model(images)
    exact = spy.seen[:, 3:]
    with torch.autocast("cpu", torch.bfloat16):
        model(images)
    assert torch.equal(spy.seen[:, 3:].float(), exact)


def test_spec_is_a_copy_and_statistics_are_saved() -> None:
    model, _ = segmenter()
    assert model.spec == SPEC
    assert model.spec is not SPEC
    assert (model.classes, model.stride) == (2, 8)
    assert set(model.state_dict()) == {"mean", "std"}
