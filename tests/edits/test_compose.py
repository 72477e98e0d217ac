"""Composition: nothing outside the label changes, and the last editor wins."""

import numpy as np
import pytest

from forensegm.edits.compose import COMPOSITES, Layers, compose


def image_of(value, hw=(2, 3)):
    return np.full((*hw, 3), value, np.uint8)


def test_last_editor_wins_by_hand():
    layers = Layers.of(image_of(0))
    first = np.array([[1, 1, 0], [1, 0, 0]], bool)
    second = np.array([[0, 1, 1], [0, 0, 0]], bool)
    layers = layers.with_turn(image_of(1), first, editor_id=7, turn=1)
    layers = layers.with_turn(image_of(2), second, editor_id=3, turn=2)
    assert layers.mask.tolist() == [[7, 3, 3], [7, 0, 0]]
    assert layers.turn_map.tolist() == [[1, 2, 2], [1, 0, 0]]
    assert layers.image[0, 0, 0] == 2


def test_with_turn_leaves_the_layers_before_it():
    before = Layers.of(image_of(0))
    before.with_turn(image_of(1), np.ones((2, 3), bool), editor_id=1, turn=1)
    assert not before.mask.any()
    assert not before.turn_map.any()


def test_splice_is_bit_equal_outside():
    region = np.array([[1, 0, 0], [0, 0, 1]], bool)
    composed = compose(image_of(10), image_of(11), region, mode="splice", editor="any")
    assert composed.image[..., 0].tolist() == [[11, 10, 10], [10, 10, 11]]
    assert (composed.whole == 11).all()
    assert composed.how == ""


def test_shared_case_of_an_editor_that_changes_everything(shared):
    from forensegm.imageio import read_image

    case = shared / "cases" / "43_inpaint_outside_changes"
    source, output = read_image(case / "source.png"), read_image(case / "editor_output.png")
    region = read_image(case / "mask.png")[..., 0] > 0
    assert region.sum() == 36
    assert (np.abs(output.astype(int) - source).max(axis=2) > 0).sum() == 256
    result = COMPOSITES["splice"](source, output, region)
    assert np.abs(result.astype(int) - source)[~region].max() == 0


@pytest.mark.parametrize("edited", [image_of(90, (3, 2)), image_of(1).astype(float), image_of(1)[..., 0]])
def test_another_size_or_type_is_refused(edited):
    with pytest.raises(ValueError, match="Expected the editor 'mine' to keep to its input"):
        compose(image_of(0), edited, np.eye(2, 3, dtype=bool), mode="splice", editor="mine")


def test_feather_lies_inside_the_label():
    region = np.zeros((20, 20), bool)
    region[4:16, 4:16] = True
    before, edited = image_of(10, (20, 20)), image_of(210, (20, 20))
    result = compose(before, edited, region, mode="splice", editor="any", fade=3).image
    assert np.array_equal(result[~region], before[~region])
    assert (result[9, 4:10, 0] > 10).all()  # from the first pixel of the label on it is mixed
    assert np.all(np.diff(result[9, 4:8, 0].astype(int)) > 0)
    assert result[9, 9, 0] == 210


def test_regenerate_takes_the_whole_frame_and_labels_what_was_asked():
    region = np.array([[1, 0, 0], [0, 0, 1]], bool)
    result = compose(image_of(10), image_of(11), region, mode="regenerate", editor="any", fade=2).image
    assert (result == 11).all()
    layers = Layers.of(image_of(10)).with_turn(result, region, editor_id=4, turn=1)
    assert layers.mask.tolist() == [[4, 0, 0], [0, 0, 4]]
