"""Pixel facts of masks, overlays, error maps and heat maps."""

import numpy as np
import pytest

from forensegm.reports.draw import (
    EDITOR_COLOURS,
    FALSE_ALARM,
    HIT,
    IGNORE_COLOUR,
    MISS,
    WRONG_EDITOR,
    color_mask,
    editor_colour,
    error_map,
    heat,
    overlay,
    palette,
    to_gray,
)
from forensegm.sample import LabelSpace

TWO = LabelSpace(("telea", "copy_move"))

# Severity 1.0 of Machado, Oliveira and Fernandes 2009, on linear RGB.
SIMULATIONS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def oklab(colours, simulation):
    srgb = np.asarray(colours) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.asarray(simulation).T, 0, 1)
    to_lms = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.cbrt(seen @ np.transpose(to_lms)) @ np.transpose(to_lab)


@pytest.mark.parametrize("name", SIMULATIONS)
def test_editor_colours_can_be_told_apart(name):
    lab = oklab([*EDITOR_COLOURS, IGNORE_COLOUR, (0, 0, 0)], SIMULATIONS[name])

    distances = np.linalg.norm(lab[:, None] - lab[None], axis=-1) + np.eye(len(lab))

    assert distances.min() > 0.06  # about three times the smallest difference that is seen side by side (0.02)


def test_palette_keeps_the_colour_of_an_id_in_every_label_space():
    large = palette(LabelSpace.opaque(254))

    assert large.shape == (255, 3)
    assert large[0].tolist() == [0, 0, 0]
    assert np.array_equal(palette(TWO), large[:3])
    assert len(np.unique(large, axis=0)) == 255
    assert large[1].tolist() == [213, 94, 0]


@pytest.mark.parametrize("value", [0, 255, -1])
def test_editor_colour_refuses_what_is_no_editor(value):
    with pytest.raises(ValueError, match="Expected an editor id"):
        editor_colour(value)


def test_color_mask_paints_authentic_black_and_ignore_grey():
    painted = color_mask(np.array([[0, 1, 2, 255]], dtype=np.uint8), TWO)

    assert painted.tolist() == [[[0, 0, 0], list(EDITOR_COLOURS[0]), list(EDITOR_COLOURS[1]), [110, 110, 110]]]


def test_color_mask_refuses_an_id_outside_the_label_space():
    with pytest.raises(ValueError, match=r"ids 0\.\.2 or 255, got 3"):
        color_mask(np.array([[3]], dtype=np.uint8), TWO)


def test_overlay_blends_edited_pixels_and_leaves_the_others():
    image = np.full((1, 3, 3), 100, dtype=np.uint8)
    mask = np.array([[0, 1, 255]], dtype=np.uint8)

    result = overlay(image, mask, TWO, alpha=0.5, outline=0)

    assert result[0, 0].tolist() == [100, 100, 100]
    assert result[0, 1].tolist() == [156, 97, 50]  # halfway between 100 and (213, 94, 0), ties to even
    assert result[0, 2].tolist() == [105, 105, 105]
    assert (image == 100).all()


def test_overlay_draws_the_rim_inside_the_region_in_full_colour():
    mask = np.zeros((9, 9), dtype=np.uint8)
    mask[2:7, 2:7] = 1

    result = overlay(np.zeros((9, 9, 3), dtype=np.uint8), mask, TWO, alpha=0.0, outline=1)

    rim = (result == EDITOR_COLOURS[0]).all(axis=-1)
    assert rim.sum() == 16  # the border of the 5x5 square
    assert not rim[3:6, 3:6].any()
    assert not result[mask == 0].any()


def test_overlay_of_a_full_mask_has_no_rim_at_the_image_border():
    result = overlay(np.zeros((8, 8, 3), dtype=np.uint8), np.ones((8, 8), dtype=np.uint8), TWO, alpha=0.0)

    assert not result.any()


@pytest.mark.parametrize(
    ("shape", "alpha", "message"), [((2, 3), 0.5, "swapped"), ((4, 4), 0.5, "size 3x2"), ((3, 2), 1.5, "alpha")]
)
def test_overlay_errors(shape, alpha, message):
    with pytest.raises(ValueError, match=message):
        overlay(np.zeros((3, 2, 3), dtype=np.uint8), np.zeros(shape, dtype=np.uint8), TWO, alpha=alpha)


def test_error_map_colours_each_case():
    found = np.array([[1, 1, 0, 0, 1, 1]])
    real = np.array([[1, 0, 1, 0, 1, 1]])
    valid = np.array([[1, 1, 1, 1, 1, 0]])
    wrong = np.array([[0, 1, 1, 1, 1, 0]])

    picture = error_map(found, real, valid, wrong_editor=wrong)

    assert [tuple(pixel) for pixel in picture[0].tolist()] == [
        HIT,
        FALSE_ALARM,
        MISS,
        (0, 0, 0),
        WRONG_EDITOR,
        IGNORE_COLOUR,
    ]


def test_error_map_refuses_other_shapes():
    with pytest.raises(ValueError, match="true_edited"):
        error_map(np.zeros((2, 2)), np.zeros((2, 3)))


def test_heat_runs_from_black_to_bright_and_is_monotone_in_brightness():
    ramp = heat(np.linspace(0, 1, 256, dtype=np.float32)[None])

    brightness = ramp[0].astype(int).sum(axis=1)
    assert brightness[0] < 10
    assert brightness[-1] > 550
    assert (np.diff(brightness) >= -3).all()
    assert ramp.flags["C_CONTIGUOUS"]
    assert heat(np.zeros((1, 1), dtype=np.float16)).shape == (1, 1, 3)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1.5, -0.5])
def test_heat_refuses_what_is_no_probability(value):
    with pytest.raises(ValueError, match=r"0\.\.1"):
        heat(np.array([[0.5, value]]))


def test_to_gray_is_luma():
    gray = to_gray(np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [200, 200, 200]]], dtype=np.uint8))

    assert gray[0].tolist() == [[76] * 3, [150] * 3, [29] * 3, [200] * 3]
