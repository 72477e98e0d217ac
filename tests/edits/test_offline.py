"""What the offline techniques do, beyond the contract that all of them keep."""

import numpy as np
import pytest

from forensegm.edits import EDITORS, EditTask
from forensegm.edits.editors.offline.blend import as_grey, feather, mix, rim, ring
from forensegm.edits.editors.offline.fill import MAX_UNKNOWNS, noise_level
from forensegm.imageio import encode_image, read_image


def edit(name, image, region, *, seed=0, donor=None):
    rng = np.random.default_rng(seed)
    return EDITORS[name](EditTask(image, region, rng, lambda: image if donor is None else donor))


def square(hw, top, left, side):
    region = np.zeros(hw, bool)
    region[top : top + side, left : left + side] = True
    return region


def noise(hw, sigma=40.0, seed=0):
    return np.clip(np.random.default_rng(seed).normal(128, sigma, (*hw, 3)), 0, 255).astype(np.uint8)


def test_feather_rises_inside_only():
    region = square((9, 9), 2, 2, 5)
    weight = feather(region, 1.0)
    assert (weight[~region] == 0).all()
    assert weight[2, 4] == pytest.approx(0.5, abs=0.03)  # one pixel from the outside, of 1 + 1
    assert weight[4, 4] == 1.0


def test_feather_is_full_at_the_image_border():
    region = square((20, 20), 0, 0, 10)
    assert feather(region, 2.0)[0, 0] == 1.0


def test_mix_by_hand():
    image, edited = np.full((1, 2, 3), 100, np.uint8), np.full((1, 2, 3), 203.0)
    mixed = mix(image, edited, np.array([[0.0, 0.25]], np.float32))
    assert mixed[0, :, 0].tolist() == [100, 126]


def test_ring_and_rim():
    region = square((9, 9), 3, 3, 3)
    assert ring(region, 1).sum() == 5 * 5 - 9
    assert len(rim(region)) == 8
    assert len(rim(np.ones((3, 3), bool))) == 9  # no outside: all of it


def test_noise_level_finds_the_sigma_and_drops_gradients():
    y, x = np.mgrid[:200, :200]
    rng = np.random.default_rng(0)
    shade = np.repeat((40 + x / 4 + y / 3)[..., None], 3, axis=2) + rng.normal(0, 6, (200, 200, 1))
    assert noise_level(np.rint(shade).astype(np.uint8), np.ones((200, 200), bool)) == pytest.approx(6, rel=0.1)


@pytest.mark.parametrize("name", ["telea", "navier_stokes", "biharmonic"])
@pytest.mark.parametrize("place", [(20, 30), (0, 0)])
def test_fills_continue_a_shade(name, place):
    x = np.mgrid[:80, :100][1]
    image = np.repeat((40 + x).astype(np.uint8)[..., None], 3, axis=2)
    region = square((80, 100), *place, 20)
    holed = image.copy()
    holed[region] = 255
    filled = edit(name, holed, region).image
    inner = square((80, 100), place[0] + 2, place[1] + 2, 16)  # the rim is feathered into what was there
    assert np.abs(filled[inner].astype(int) - image[inner]).mean() < 8


def test_large_biharmonic_regions_are_solved_on_a_coarser_grid():
    region = square((300, 300), 20, 20, 260)
    output = edit("biharmonic", noise((300, 300)), region)
    assert region.sum() / output.parameters["step"] ** 2 <= MAX_UNKNOWNS
    assert output.parameters["step"] > 2


def test_biharmonic_grain_follows_the_surroundings():
    region = square((96, 96), 30, 30, 30)
    rough, calm = (edit("biharmonic", noise((96, 96), sigma), region) for sigma in (20.0, 2.0))
    assert rough.parameters["grain_sigma"] > 5 * calm.parameters["grain_sigma"] > 0


def test_copy_move_copies_what_lies_elsewhere():
    hw = (128, 128)
    image = noise(hw)
    region = square(hw, 20, 20, 24)
    output = edit("copy_move", image, region)
    shift = np.array(output.parameters["shift_xy"])
    assert np.abs(shift).max() > 12
    # A pixel well inside is near the mean of the source pixels that cubic interpolation takes it from.
    center = np.argwhere(region).mean(axis=0)
    source = np.rint(center + shift[::-1]).astype(int)
    around = image[source[0] - 2 : source[0] + 3, source[1] - 2 : source[1] + 3].astype(int)
    value = output.image[tuple(np.rint(center).astype(int))]
    assert (value >= around.min(axis=(0, 1)) - 40).all()
    assert (value <= around.max(axis=(0, 1)) + 40).all()


def test_copy_move_of_a_ramp_gives_the_shifted_ramp():
    y, x = np.mgrid[:128, :128]
    image = np.stack([20 + x, 20 + y, np.full_like(x, 7)], axis=2).astype(np.uint8)
    region = square((128, 128), 40, 40, 30)
    output = edit("copy_move", image, region, seed=3)
    center = np.argwhere(region).mean(axis=0)  # row, column
    expected = 20 + center + np.array(output.parameters["shift_xy"])[::-1]
    row, column = np.rint(center).astype(int)
    found = output.image[row, column, :2][::-1].astype(float)  # green holds the row, red the column
    assert found == pytest.approx(expected, abs=1.5)


def test_poisson_splice_keeps_the_donors_structure_at_the_right_place():
    y, x = np.mgrid[:96, :96]
    image = np.full((96, 96, 3), 90, np.uint8)
    donor = np.repeat(np.where((x // 6 + y // 6) % 2, 160, 60).astype(np.uint8)[..., None], 3, axis=2)
    region = square((96, 96), 30, 40, 30)
    output = edit("poisson_splice", image, region, seed=1, donor=donor)
    source = donor[:, ::-1] if output.parameters["flip"] else donor
    shift_x, shift_y = output.parameters["shift_xy"]
    rows, columns = (np.clip(axis[36:54, 46:64] + shift, 0, 95) for axis, shift in ((y, shift_y), (x, shift_x)))
    patch, copied = source[rows, columns, 0].astype(float), output.image[36:54, 46:64, 0].astype(float)
    assert np.corrcoef(patch.ravel(), copied.ravel())[0, 1] > 0.9


def test_recompress_is_the_jpeg_of_the_image():
    image, region = noise((64, 64)), square((64, 64), 0, 0, 64)
    output = edit("recompress", image, region)
    top, left = output.parameters["grid_shift"]
    shifted = np.pad(image, ((top, 0), (left, 0), (0, 0)), mode="edge")
    expected = read_image(encode_image(shifted, f"jpeg:{output.parameters['quality']}"))[top:, left:]
    assert np.array_equal(output.image, expected)


def test_resample_takes_fine_detail_away():
    image, region = noise((96, 96)), square((96, 96), 20, 20, 50)
    smooth = edit("resample", image, region).image
    inner = square((96, 96), 30, 30, 30)
    assert noise_level(smooth, inner) < 0.5 * noise_level(image, inner)


def test_as_grey():
    red = np.zeros((1, 1, 3), np.uint8)
    red[..., 0] = 255
    assert as_grey(red).ravel().tolist() == [76, 76, 76]  # 0.299 * 255
