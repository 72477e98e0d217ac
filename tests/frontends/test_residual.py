"""Residuals by hand: flat images, an impulse, truncation, and that colours stay apart."""

import pytest
import torch
from torch import Tensor

from forensegm.frontends import FRONTENDS, HighPass, SRMFilters, make_frontend
from forensegm.frontends.residual import SRM_KERNELS, TRUNCATION

FILTERS = [name for name in FRONTENDS if name != "none"]


def impulse(height: float, *, colour: int = 1) -> Tensor:
    pixels = torch.full((1, 3, 9, 9), 100.0)
    pixels[0, colour, 4, 4] += height
    return pixels


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("hw", [(1, 1), (3, 5), (8, 8)])
def test_flat_images_have_no_residual(name: str, hw: tuple[int, int]) -> None:
    frontend = make_frontend(name)
    assert frontend is not None
    residual = frontend(torch.full((2, 3, *hw), 201.0))
    assert residual.shape == (2, frontend.channels, *hw)
    assert residual.abs().max() < 1e-5


def test_none_is_no_front_end() -> None:
    assert make_frontend("none") is None


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match=r"front end, got 'smr'. Did you mean srm"):
        make_frontend("smr")


def test_channels() -> None:
    assert (SRMFilters().channels, HighPass().channels) == (9, 3)


def test_kernels_sum_to_zero() -> None:
    for norm, kernel in SRM_KERNELS:
        assert norm == max(abs(value) for row in kernel for value in row)
        assert sum(map(sum, kernel)) == 0


def test_high_pass_of_an_impulse() -> None:
    residual = HighPass()(impulse(2.0))[0] * TRUNCATION
    expected = torch.zeros(3, 9, 9)
    expected[1, 3:6, 3:6] = -2 / 8
    expected[1, 4, 4] = 2
    torch.testing.assert_close(residual, expected)


def test_srm_of_an_impulse_is_its_kernel() -> None:
    # The kernels are symmetric, so that correlation and convolution agree.
    residual = SRMFilters()(impulse(2.0, colour=2))[0] * TRUNCATION
    expected = torch.zeros(9, 9, 9)
    for number, (norm, kernel) in enumerate(SRM_KERNELS):
        expected[6 + number, 2:7, 2:7] = 2 * torch.tensor(kernel, dtype=torch.float32) / norm
    expected[8] = 0
    expected[8, 4, 3:6] = torch.tensor([1.0, -2.0, 1.0])
    torch.testing.assert_close(residual, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", FILTERS)
def test_truncation(name: str) -> None:
    frontend = make_frontend(name)
    assert frontend is not None
    pixels = torch.randint(0, 256, (2, 3, 16, 16), generator=torch.Generator().manual_seed(0)).float()
    assert frontend(pixels).abs().max() == 1
    assert frontend(impulse(155.0))[0, frontend.channels // 3, 4, 4].abs() == 1


def test_kernels_are_not_saved_and_not_trained() -> None:
    frontend = SRMFilters()
    assert not frontend.state_dict()
    assert not list(frontend.parameters())
