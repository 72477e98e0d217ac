"""Region proposals: hard masks of the size that was asked for."""

import numpy as np
import pytest
from skimage.measure import label

from forensegm.edits.regions import OFFLINE, draw_region, known_objects, pixel_limits, shapes
from forensegm.edits.view import SceneObject, View


def scene(hw=(96, 128)):
    y, x = np.mgrid[: hw[0], : hw[1]]
    image = np.stack([60 + x, 80 + y, 100 + 0 * x], axis=2).clip(0, 255).astype(np.uint8)
    image[(np.hypot(y - hw[0] / 2, x - hw[1] / 3) < min(hw) / 5)] = (220, 40, 30)
    return image


def propose(name, image, area, seed):
    found = OFFLINE[name](View(image, area, np.random.default_rng(seed)))
    return None if found is None else found.region


@pytest.mark.parametrize("name", OFFLINE)
def test_contract(name):
    image, area = scene(), (0.02, 0.2)
    kept = image.copy()
    found = [propose(name, image, area, seed) for seed in range(12)]
    again = [propose(name, image, area, seed) for seed in range(12)]
    assert np.array_equal(image, kept)
    smallest, largest = pixel_limits(image.shape[:2], area)
    fitting = [region for region in found if region is not None]
    assert len(fitting) >= 4
    for region in fitting:
        assert region.dtype == bool
        assert region.shape == image.shape[:2]
        assert smallest <= region.sum() <= largest
    assert len({region.tobytes() for region in fitting}) > 1
    for one, other in zip(found, again, strict=True):
        assert (one is None) == (other is None)
        assert one is None or np.array_equal(one, other)


@pytest.mark.parametrize("hw", [(32, 32), (61, 83), (200, 40)])
@pytest.mark.parametrize("area", [(0.1, 0.1), (0.001, 0.9), (0.9, 0.95)])
def test_draw_region_always_fits(hw, area):
    smallest, largest = pixel_limits(hw, area)
    for seed in range(4):
        found, name = draw_region(View(scene(hw), area, np.random.default_rng(seed)))
        assert name in OFFLINE
        assert smallest <= found.region.sum() <= largest


def test_pixel_limits_by_hand():
    assert pixel_limits((10, 10), (0.02, 0.2)) == (2, 20)
    assert pixel_limits((10, 10), (0.021, 0.029)) == (3, 3)  # no whole number between: the next one up
    assert pixel_limits((4, 4), (0.001, 0.01)) == (1, 1)


def test_shapes_are_one_piece_without_holes():
    for seed in range(12):
        region = shapes(scene(), (0.05, 0.3), np.random.default_rng(seed))
        assert label(region).max() == 1
        assert label(np.pad(~region, 1, constant_values=True)).max() == 1


def test_grabcut_finds_the_disc():
    image = scene()
    disc = image[..., 0] == 220
    found = [propose("grabcut", image, (0.02, 0.2), seed) for seed in range(12)]
    overlaps = [(region & disc).sum() / (region | disc).sum() for region in found if region is not None]
    assert max(overlaps) > 0.7


def test_own_proposer_and_the_way_out_where_it_finds_nothing():
    def nothing(*_):
        return None

    found, name = draw_region(View(scene(), (0.1, 0.2), np.random.default_rng(0)), {"nothing": nothing})
    assert name == "shapes"
    assert found.region.any()


def block(rows, columns, hw=(96, 128)):
    region = np.zeros(hw, bool)
    region[rows, columns] = True
    return region


def test_known_objects_are_grown_and_filtered_by_area_and_border():
    fitting = SceneObject("cup", block(slice(30, 60), slice(40, 70)), border=False)
    others = [
        SceneObject("speck", block(slice(5, 7), slice(5, 7)), border=False),
        SceneObject("wall", block(slice(2, 94), slice(2, 126)), border=False),
        SceneObject("cut off", block(slice(0, 30), slice(0, 30)), border=True),
    ]
    view = View(scene(), (0.02, 0.2), np.random.default_rng(0), objects=(fitting, *others))
    found = [known_objects(view) for _ in range(8)]
    assert {one.name for one in found} == {"cup"}
    assert found[0].region[fitting.region].all()
    assert found[0].region.sum() == 30 * 30 + 4 * 30 * 2 + 4  # a diamond of two pixels: four corners of one pixel
    assert known_objects(View(scene(), (0.02, 0.2), np.random.default_rng(0), objects=tuple(others))) is None
