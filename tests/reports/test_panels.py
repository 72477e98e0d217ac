"""Panels, contact sheets and legends."""

import numpy as np
import pytest

from forensegm.reports.draw import EDITOR_COLOURS, IGNORE_COLOUR
from forensegm.reports.panels import contact_sheet, legend, legend_entries, panel, stack, text_block
from forensegm.sample import LabelSpace

TWO = LabelSpace(("telea", "copy_move"))


def holds(picture, colour):
    return bool((picture == np.array(colour, dtype=np.uint8)).all(axis=-1).any())


@pytest.mark.parametrize("hw", [(1, 1), (3, 500), (500, 3), (64, 48)])
def test_panel_of_any_size_holds_its_tiles(hw):
    mask = np.ones(hw, dtype=np.uint8)
    image = np.full((*hw, 3), (10, 200, 30), dtype=np.uint8)

    picture = panel(
        image,
        TWO,
        truth=mask,
        class_map=mask,
        edited_prob=np.ones(hw, np.float32),
        caption={"score": 0.5, "写": None},
        side=120,
    )

    assert picture.dtype == np.uint8
    assert picture.shape[1] >= 5 * 96
    assert holds(picture, (10, 200, 30))
    assert holds(picture, EDITOR_COLOURS[0])


def test_panel_without_prediction_or_caption():
    picture = panel(np.zeros((40, 40, 3), dtype=np.uint8), TWO, truth=np.zeros((40, 40), dtype=np.uint8))

    assert picture.shape[2] == 3
    assert not holds(picture, EDITOR_COLOURS[0])


def test_contact_sheet_places_pictures_in_rows():
    red, blue = (np.full((96, 96, 3), colour, dtype=np.uint8) for colour in ((255, 0, 0), (0, 0, 255)))

    sheet = contact_sheet([red, blue, red], columns=2)

    assert sheet.shape == (10 + 2 * (96 + 10), 10 + 2 * (96 + 10), 3)
    assert (sheet[10:106, 10:106] == (255, 0, 0)).all()
    assert (sheet[10:106, 116:212] == (0, 0, 255)).all()
    assert (sheet[116:212, 10:106] == (255, 0, 0)).all()
    assert (sheet[116:212, 116:212] == 255).all()


def test_contact_sheet_takes_any_mix_of_sizes_and_captions():
    shapes = [(1, 1), (3, 500), (500, 3), (700, 900)]
    images = [np.zeros((*hw, 3), dtype=np.uint8) for hw in shapes]

    sheet = contact_sheet(images, captions=["a" * 300, "写真.png", "<b>", ""], cell=150, columns=4)

    assert sheet.shape[1] == 4 * 160 + 10
    assert 150 < sheet.shape[0] < 220


def test_contact_sheet_errors():
    with pytest.raises(ValueError, match="at least one picture"):
        contact_sheet([])
    with pytest.raises(ValueError, match=r"one caption per picture \(1\), got 2"):
        contact_sheet([np.zeros((4, 4, 3), dtype=np.uint8)], captions=["a", "b"])


def test_legend_shows_what_is_present():
    assert legend_entries(TWO, present=[0, 2, 255]) == [("copy_move", EDITOR_COLOURS[1]), ("not judged", IGNORE_COLOUR)]
    assert [name for name, _ in legend_entries(TWO)] == ["telea", "copy_move"]

    picture = legend(TWO, present=[2])
    assert holds(picture, EDITOR_COLOURS[1])
    assert not holds(picture, EDITOR_COLOURS[0])
    assert legend(TWO, present=[0]).shape[1] == 640


@pytest.mark.parametrize("width", [1, 100, 640])
def test_legend_of_many_long_names_wraps(width):
    labels = LabelSpace(tuple(f"editor_with_a_long_name_{number}_é写" for number in range(30)))

    picture = legend(labels, width=width)

    assert picture.shape[1] <= max(width, 100)
    assert picture.shape[0] > 100


def test_stack_and_text_block_fill_up_with_white():
    picture = stack([np.zeros((2, 3, 3), dtype=np.uint8), text_block("", width=50)])

    assert picture.shape[1] == 50
    assert (picture[:2, 3:] == 255).all()
