import pytest

from forensegm.config import DistortConfig
from forensegm.distortions import GRIDS, grid, parse_chain


@pytest.mark.parametrize("name", GRIDS)
def test_every_grid_parses_and_names_its_source(name: str) -> None:
    assert GRIDS[name].source
    for text in grid(name):
        assert parse_chain(text).drawn
        assert str(parse_chain(text)) == text


def test_the_default_sweep_is_made_of_the_default_grids() -> None:
    defaults = [text for name in GRIDS if name.startswith("default_") for text in grid(name)]
    assert defaults == DistortConfig().chains


def test_imdlbencos_noise_is_stated_as_sigma() -> None:
    sigmas = [parse_chain(text).steps[0].values[0] for text in grid("imdlbenco_noise")]
    assert [float(sigma) ** 2 for sigma in sigmas if not isinstance(sigma, str)] == pytest.approx(
        [3, 7, 11, 15, 19, 23], rel=1e-4
    )


def test_unknown_grid_names_the_closest() -> None:
    with pytest.raises(ValueError, match=r"known grid of distortion levels, got 'lota_blurr'\. Did you mean lota_blur"):
        grid("lota_blurr")
