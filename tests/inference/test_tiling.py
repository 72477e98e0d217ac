"""Tiles cover every pixel, the blend loses nothing, and the number and size of calls is bounded."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from forensegm.imageio import read_image
from forensegm.inference.tiling import tile_starts, tiled, window

TILE, OVERLAP = 16, 4
SIZES_HW = [
    (1, 1),
    (TILE - 1, TILE - 1),
    (TILE, TILE),
    (TILE + 1, TILE + 1),
    (3 * TILE + 5, 3 * TILE + 5),
    (1, 5 * TILE),
    (5 * TILE + 3, 7),
]


def pointwise(image: np.ndarray) -> np.ndarray:
    """Two channels that depend on each pixel alone."""
    values = image.astype(np.float32) / 255
    return np.stack([values[..., 0], 1 - values.mean(axis=-1)])


@pytest.mark.parametrize("overlap", [0, OVERLAP, TILE - 1])
@pytest.mark.parametrize("hw", SIZES_HW)
def test_pointwise_functions_are_reproduced(hw: tuple[int, int], overlap: int) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*hw, 3), dtype=np.uint8)
    result = tiled(image, pointwise, tile=TILE, overlap=overlap)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, pointwise(image), atol=1e-6)


@pytest.mark.parametrize("hw", SIZES_HW)
def test_calls_are_bounded(hw: tuple[int, int]) -> None:
    seen: list[tuple[int, ...]] = []

    def spy(image: np.ndarray) -> np.ndarray:
        seen.append(image.shape)
        return pointwise(image)

    tiled(np.zeros((*hw, 3), dtype=np.uint8), spy, tile=TILE, overlap=OVERLAP)
    step = TILE - OVERLAP
    assert len(seen) <= max(-(-(hw[0] - OVERLAP) // step), 1) * max(-(-(hw[1] - OVERLAP) // step), 1)
    assert set(seen) == {(min(hw[0], TILE), min(hw[1], TILE), 3)}


@pytest.mark.parametrize("length", [1, 4, 15, 16, 17, 31, 53, 160])
@pytest.mark.parametrize("overlap", [0, 4, 15])
def test_starts_cover_the_side(length: int, overlap: int) -> None:
    starts = tile_starts(length, TILE, overlap)
    assert starts[0] == 0
    assert starts[-1] == max(length - TILE, 0)
    assert all(0 < later - earlier <= TILE - overlap for earlier, later in itertools.pairwise(starts))


@pytest.mark.parametrize("length", [1, 3, 16])
@pytest.mark.parametrize("overlap", [0, 4, 15])
def test_weights_are_positive(length: int, overlap: int) -> None:
    weights = window(length, overlap)
    assert weights.shape == (length,)
    assert weights.min() > 0
    assert weights.max() <= 1


def test_weights_by_hand() -> None:
    np.testing.assert_allclose(window(6, 2), [1 / 3, 2 / 3, 1, 1, 2 / 3, 1 / 3], rtol=1e-6)


def test_a_step_between_tiles_is_blended() -> None:
    # Each call answers with its own number, so that the seam runs from one to the other without a jump.
    numbers = iter([0.0, 1.0])
    image = np.zeros((1, 2 * TILE - OVERLAP, 3), dtype=np.uint8)

    def number(part: np.ndarray) -> np.ndarray:
        return np.full((1, *part.shape[:2]), next(numbers), np.float32)

    row = tiled(image, number, tile=TILE, overlap=OVERLAP)
    seam = row[0, 0, TILE - OVERLAP : TILE]
    np.testing.assert_allclose(seam, [0.2, 0.4, 0.6, 0.8], atol=1e-6)


@pytest.mark.parametrize("overlap", [-1, TILE, TILE + 1])
def test_overlap_outside_the_tile(overlap: int) -> None:
    with pytest.raises(ValueError, match=f"below the tile 16, got {overlap}"):
        tile_starts(40, TILE, overlap)


def test_case_51_small_images_and_edges(shared: Path) -> None:
    folder = shared / "cases" / "51_tiles_small_and_edge"
    expected = json.loads((folder / "expected.json").read_text())
    tile, overlap = expected["tile"], expected["tile"] - expected["stride"]
    paths = sorted(folder.glob("*.png"))
    assert len(paths) == 5
    for path in paths:
        image = read_image(path)
        result = tiled(image, pointwise, tile=tile, overlap=overlap)
        np.testing.assert_allclose(result, pointwise(image), atol=1e-6, err_msg=path.name)
        constant = tiled(
            image, lambda part: np.full((2, *part.shape[:2]), 0.25, np.float32), tile=tile, overlap=overlap
        )
        assert constant.shape == (2, *image.shape[:2])
        np.testing.assert_allclose(constant, 0.25, atol=1e-6)
