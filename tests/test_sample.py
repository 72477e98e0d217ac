import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from forensegm.sample import (
    IGNORE,
    LabelSpace,
    Sample,
    check_image,
    check_mask,
    image_label,
)

MASKS = arrays.arrays(np.uint8, (4, 5), elements=st.sampled_from([0, 1, 2, 7, IGNORE]))


def grey(height=4, width=5):
    return np.zeros((height, width, 3), dtype=np.uint8)


def test_a_label_space_names_its_ids_both_ways():
    labels = LabelSpace(["telea", "copy_move"])
    assert labels.names == ("authentic", "telea", "copy_move")
    assert labels.num_classes == 3
    assert [labels.id_of(name) for name in labels.names] == [0, 1, 2]
    assert [labels.name_of(number) for number in range(3)] == list(labels.names)
    assert LabelSpace.opaque(2).editors == ("editor_1", "editor_2")


@pytest.mark.parametrize(
    ("editors", "named"),
    [
        ((), "got 0"),
        (("a",) * 300, "got 300"),
        (("a", "a"), "a more than once"),
        (("a", " "), "non-empty"),
        (("authentic",), "class 0"),
    ],
)
def test_a_label_space_that_cannot_be_is_refused(editors, named):
    with pytest.raises(ValueError, match=named):
        LabelSpace(editors)


def test_names_and_ids_outside_the_label_space_are_refused():
    with pytest.raises(ValueError, match=r"got 'sd2'"):
        LabelSpace(("telea",)).id_of("sd2")
    with pytest.raises(ValueError, match=r"0\.\.1, got 2"):
        LabelSpace(("telea",)).name_of(2)


@given(MASKS)
def test_the_image_label_is_what_the_pixels_say(mask):
    label = image_label(mask)
    values = mask[mask != IGNORE]
    if values.size == 0:
        assert label.fake is label.edited_share is label.coverage is None
        return
    edited = values[values > 0]
    assert label.fake == (edited.size > 0)
    assert label.editors == tuple(sorted(set(edited.tolist())))
    assert label.edited_share == edited.size / values.size
    assert label.coverage == ("empty" if not edited.size else "full" if edited.size == values.size else "partial")
    if edited.size:
        counts = {value: int((edited == value).sum()) for value in label.editors}
        assert counts[label.dominant] == max(counts.values())
        assert label.dominant == min(value for value in counts if counts[value] == max(counts.values()))


@pytest.mark.parametrize("image", [grey()[..., 0], grey().astype(np.float32), grey()[..., :2], grey(0, 5)])
def test_what_is_no_image_is_refused_with_its_shape(image):
    with pytest.raises(ValueError, match=r"Expected image to be uint8 HxWx3, got"):
        check_image(image)


def test_what_is_no_mask_is_refused():
    with pytest.raises(ValueError, match="uint8 HxW, got int64"):
        check_mask(np.zeros((4, 5), dtype=np.int64))
    with pytest.raises(ValueError, match=r"ids 0\.\.2 or 255, got 3"):
        check_mask(np.array([[0, 3, IGNORE]], dtype=np.uint8), num_classes=3)
    assert check_mask(np.array([[0, 2, IGNORE]], dtype=np.uint8), num_classes=3).size == 3


def test_a_sample_without_a_group_is_its_own():
    assert Sample("a", grey(), np.zeros((4, 5), dtype=np.uint8)).group == "a"


@pytest.mark.parametrize(("hw", "named"), [((5, 4), "swapped"), ((4, 6), "4x5 .height x width., got 4x6")])
def test_a_mask_of_another_size_is_refused(hw, named):
    with pytest.raises(ValueError, match=named):
        Sample("a", grey(), np.zeros(hw, dtype=np.uint8))


def test_a_turn_map_of_another_size_is_refused():
    mask = np.zeros((4, 5), dtype=np.uint8)
    with pytest.raises(ValueError, match="4x4"):
        Sample("a", grey(), mask, turn_map=mask[:, :4])
