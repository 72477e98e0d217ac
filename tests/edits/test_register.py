"""Outputs of another size are laid back on their input, or refused."""

import cv2
import numpy as np
import pytest

from forensegm.edits.register import register
from forensegm.imageio import read_image


def scene(hw=(60, 90)):
    y, x = np.mgrid[: hw[0], : hw[1]]
    waves = np.stack([60 * np.sin(x / 9 + c) + 50 * np.cos(y / 7 - c) for c in range(3)], axis=2)
    return np.clip(128 + waves, 0, 255).astype(np.uint8)


MIDDLE = np.zeros((60, 90), bool)
MIDDLE[20:40, 30:60] = True


def edited():
    image = scene()
    image[MIDDLE] = 255 - image[MIDDLE]
    return image


def test_the_right_size_is_left_alone():
    image, how = register(scene(), edited(), MIDDLE)
    assert np.array_equal(image, edited())
    assert how == ""


@pytest.mark.parametrize("hw", [(64, 96), (48, 72), (64, 64), (120, 180)])
def test_a_stretched_frame_is_stretched_back(hw):
    output = cv2.resize(edited(), hw[::-1], interpolation=cv2.INTER_AREA)
    image, how = register(scene(), output, MIDDLE)
    assert how == f"resized from {hw[0]}x{hw[1]}"
    assert np.abs(image.astype(int) - edited())[MIDDLE].mean() < 8


@pytest.mark.parametrize(
    ("rows", "columns", "where"),
    [
        (slice(0, 56), slice(0, 88), "top left"),
        (slice(2, 58), slice(1, 89), "centre"),
        (slice(4, 60), slice(2, 90), "bottom right"),
    ],
)
def test_a_frame_cut_to_a_grid_is_put_back_where_it_was(rows, columns, where):
    image, how = register(scene(), edited()[rows, columns], MIDDLE)
    assert how == f"placed at the {where} from 56x88"
    assert np.array_equal(image, edited())


def test_a_cut_through_the_region_is_refused():
    corner = np.zeros((60, 90), bool)
    corner[:10, :10] = True
    with pytest.raises(ValueError, match="a part of the region cut away"):
        register(scene(), scene()[2:58, 1:89], corner)


def test_another_picture_is_refused():
    with pytest.raises(ValueError, match=r"Expected an output of 60x90 .* got 64x64 with a mean difference of"):
        register(scene(), 255 - scene((64, 64)), MIDDLE)
    with pytest.raises(ValueError, match="nothing to compare"):
        register(scene(), scene((64, 64)), np.ones((60, 90), bool))


@pytest.mark.parametrize(
    "output", [np.zeros((60, 90), np.uint8), np.zeros((60, 90, 3)), np.zeros((0, 90, 3), np.uint8)]
)
def test_no_image_at_all(output):
    with pytest.raises(ValueError, match="Expected an editor to return uint8 HxWx3"):
        register(scene(), output, MIDDLE)


def test_shared_case_of_other_sizes(shared):
    case = shared / "cases" / "44_inpaint_size_multiple"
    source = read_image(case / "source.png")
    region = read_image(case / "mask.png")[..., 0] > 0
    for name in ("out_40x64", "out_64x64"):
        with pytest.raises(ValueError, match=r"Expected an output of 43x64 or one that can be laid on it, got \d+x64"):
            register(source, 255 - read_image(case / f"{name}.png"), region)
        image, how = register(source, read_image(case / f"{name}.png"), region)
        assert image.shape == source.shape == (43, 64, 3)
        assert how
