"""The row of pictures of one image, and the words for it."""

import numpy as np
import pytest

from forensegm.reports.draw import FALSE_ALARM, HIT, IGNORE_COLOUR, MISS, WRONG_EDITOR
from forensegm.reports.tiles import class_error_map, describe_errors, describe_mask, shown_hw, tiles
from forensegm.sample import LabelSpace

TWO = LabelSpace(("telea", "copy_move"))
SIZES = [(1, 1), (3, 5), (3, 500), (500, 3), (31, 33), (200, 630)]


@pytest.mark.parametrize(
    ("hw", "expected"),
    [
        ((1, 1), (96, 96)),
        ((256, 256), (256, 256)),
        ((1000, 500), (256, 128)),
        ((3, 500), (2, 256)),
        ((20, 30), (60, 90)),
    ],
)
def test_shown_hw(hw, expected):
    assert shown_hw(hw, 256) == expected


@pytest.mark.parametrize("hw", SIZES)
def test_tiles_have_one_size_whatever_the_image(hw):
    rng = np.random.default_rng(0)
    mask = rng.integers(0, 3, hw).astype(np.uint8)

    row = tiles(
        np.zeros((*hw, 3), dtype=np.uint8), TWO, truth=mask, class_map=mask, edited_prob=rng.random(hw), side=128
    )

    assert [tile.kind for tile in row] == ["image", "truth", "prediction", "probability", "error"]
    assert {tile.image.shape for tile in row} == {(*shown_hw(hw, 128), 3)}
    assert all(tile.alt and tile.image.dtype == np.uint8 for tile in row)


def test_tiles_hold_only_what_is_known():
    image, mask = np.zeros((4, 4, 3), dtype=np.uint8), np.zeros((4, 4), dtype=np.uint8)

    assert [tile.kind for tile in tiles(image, TWO)] == ["image"]
    assert [tile.kind for tile in tiles(image, TWO, class_map=mask)] == ["image", "prediction"]
    assert [tile.kind for tile in tiles(image, TWO, truth=mask)] == ["image", "truth"]


def test_tiles_errors_name_the_image():
    image = np.zeros((4, 5, 3), dtype=np.uint8)

    with pytest.raises(ValueError, match=r"'crop_7'.*4x5.*swapped"):
        tiles(image, TWO, truth=np.zeros((5, 4), dtype=np.uint8), name="crop_7")
    with pytest.raises(ValueError, match="crop_7"):
        tiles(np.zeros((4,), dtype=np.uint8), TWO, name="crop_7")
    with pytest.raises(ValueError, match="got 9"):
        tiles(image, TWO, truth=np.full((4, 5), 9, dtype=np.uint8))


def test_class_error_map_marks_the_wrong_editor():
    truth = np.array([[1, 1, 1, 0, 0, 255]], dtype=np.uint8)
    guess = np.array([[1, 2, 0, 1, 0, 1]], dtype=np.uint8)

    picture = class_error_map(guess, truth)

    expected = [HIT, WRONG_EDITOR, MISS, FALSE_ALARM, (0, 0, 0), IGNORE_COLOUR]
    assert [tuple(pixel) for pixel in picture[0].tolist()] == expected


def test_describe_mask_counts_judged_pixels_only():
    mask = np.array([[1, 2, 2, 0], [255, 255, 255, 255]], dtype=np.uint8)

    assert describe_mask(mask, TWO) == "telea 25 %, copy_move 50 % of pixels"
    assert describe_mask(np.zeros((2, 2), dtype=np.uint8), TWO) == "no edited pixel"
    assert describe_mask(np.full((2, 2), 255, dtype=np.uint8), TWO) == "no judged pixel"


def test_describe_errors():
    truth = np.array([[1, 1, 0, 0, 0, 0, 255]], dtype=np.uint8)
    guess = np.array([[2, 0, 1, 0, 0, 0, 1]], dtype=np.uint8)

    assert describe_errors(guess, truth) == "50 % of the edited pixels found, 25 % of the authentic pixels flagged"
    assert describe_errors(guess, np.full_like(truth, 255)) == "no judged pixel"
