"""Masks whose values are declared one by one: tones, colours, palettes and thresholds."""

import io
import json

import numpy as np
import pytest
from PIL import Image as PillowImage

from forensegm.imageio import MaskSpec, read_mask
from forensegm.imageio.mask_values import present


def png(array, mode=None, palette=None):
    picture = PillowImage.fromarray(np.asarray(array, dtype=np.uint8))
    if mode:
        picture = picture.convert(mode)
    if palette:
        picture = PillowImage.fromarray(np.asarray(array, dtype=np.uint8)).convert("L")
        picture.putpalette(palette)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


TONES = MaskSpec("tones", values={0: 0, 128: 255, 255: 2})
COLOURS = MaskSpec("colours", values={"#000000": 0, "#ff0000": 1, "#00ff00": 2, "#808080": 255})


def test_case_08_tones_and_grades(shared):
    case = shared / "cases" / "08_mask_unknown_band_and_grades"
    expected = json.loads((case / "expected.json").read_text())
    mask = read_mask(case / "tri.png", MaskSpec("tones", values={0: 0, 128: 255, 255: 1}))
    found = {"authentic": (mask == 0).sum(), "ignore": (mask == 255).sum(), "edited": (mask == 1).sum()}
    assert found == expected["tri"]
    with pytest.raises(ValueError, match=r"got 128, 255 in '.*tri\.png'|tones"):
        read_mask(case / "tri.png", MaskSpec("binary"))
    graded = read_mask(case / "ramp.png", MaskSpec("binary", threshold=128))
    assert graded.sum() == expected["ramp_ge128"]
    with pytest.raises(ValueError, match=r"mask_threshold.*ramp\.png"):
        read_mask(case / "ramp.png", MaskSpec("binary"))


def test_tones():
    assert read_mask(png([[0, 128, 255]]), TONES).tolist() == [[0, 255, 2]]
    with pytest.raises(ValueError, match="declared values 0, 128, 255, got 7"):
        read_mask(png([[0, 7]]), TONES)


def test_sixteen_bit_tones():
    buffer = io.BytesIO()
    PillowImage.fromarray(np.array([[0, 40000]], dtype=np.uint16)).save(buffer, "PNG")
    assert read_mask(buffer.getvalue(), MaskSpec("tones", values={0: 0, 40000: 3})).tolist() == [[0, 3]]


def test_colours_are_what_the_file_displays():
    pixels = [[[0, 0, 0], [255, 0, 0], [0, 255, 0], [128, 128, 128]]]
    assert read_mask(png(pixels), COLOURS).tolist() == [[0, 1, 2, 255]]
    indexed = png([[0, 1, 2]], palette=[0, 255, 0, 255, 0, 0, 0, 0, 0])
    assert read_mask(indexed, COLOURS).tolist() == [[2, 1, 0]]
    assert read_mask(png([[0, 128]]), COLOURS).tolist() == [[0, 255]]
    with pytest.raises(ValueError, match=r"declared colours .*, got #0000ff in"):
        read_mask(png([[[0, 0, 255]]]), COLOURS)


def test_transparent_colours_are_refused():
    with pytest.raises(ValueError, match="without transparency"):
        read_mask(png([[[255, 0, 0, 90]]]), COLOURS)
    assert read_mask(png([[[255, 0, 0, 255]]]), COLOURS).tolist() == [[1]]


def test_palette_reads_indices():
    indexed = png([[0, 1, 2]], palette=[9, 9, 9, 1, 2, 3, 200, 0, 0])
    assert read_mask(indexed, MaskSpec("palette", num_classes=3)).tolist() == [[0, 1, 2]]
    assert read_mask(indexed, MaskSpec("palette", values={0: 255, 1: 0, 2: 4})).tolist() == [[255, 0, 4]]
    with pytest.raises(ValueError, match=r"ids 0\.\.1 and no ignore value, got 2"):
        read_mask(indexed, MaskSpec("palette", num_classes=2))
    with pytest.raises(ValueError, match="an indexed mask in 'image in memory', got mode L"):
        read_mask(png([[0, 1]]), MaskSpec("palette", num_classes=3))


@pytest.mark.parametrize("spec", [TONES, COLOURS, MaskSpec("ids"), MaskSpec("palette")], ids=lambda spec: spec.kind)
def test_lossy_masks_are_refused(spec):
    buffer = io.BytesIO()
    PillowImage.fromarray(np.zeros((8, 8), np.uint8)).save(buffer, "JPEG")
    with pytest.raises(ValueError, match=f"{spec.kind} in 'image in memory', got lossy JPEG"):
        read_mask(buffer.getvalue(), spec)


def test_a_threshold_also_cuts_lossy_masks():
    buffer = io.BytesIO()
    PillowImage.fromarray(np.repeat(np.uint8([[40, 200]]), 8, axis=0).repeat(8, axis=1)).save(buffer, "JPEG")
    assert read_mask(buffer.getvalue(), MaskSpec("binary", threshold=30)).all()
    assert (read_mask(buffer.getvalue(), MaskSpec("binary", threshold=100)) > 0).mean() == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "tones"}, "class of each value"),
        ({"kind": "tones", "values": {"#000000": 0}}, r"a number of 0\.\.65535"),
        ({"kind": "colours", "values": {0: 0}}, "#rrggbb"),
        ({"kind": "colours", "values": {"#00000": 0}}, "#rrggbb"),
        ({"kind": "tones", "values": {0: 300}}, "an id or 255"),
        ({"kind": "tones", "values": {0: 5}, "num_classes": 3}, "an id or 255"),
        ({"kind": "tones", "values": {0: 0}, "ignore": 128}, "among values"),
        ({"kind": "ids", "values": {0: 0}}, "values only for masks"),
        ({"kind": "ids", "threshold": 9}, "threshold"),
        ({"kind": "binary", "threshold": 0}, "threshold"),
        ({"kind": "binary", "threshold": 9, "ignore": 128}, "threshold"),
    ],
)
def test_wrong_declarations(options, message):
    with pytest.raises(ValueError, match=message):
        MaskSpec(**options)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32])
def test_present_is_unique(dtype):
    values = np.random.default_rng(0).integers(0, 200, (50, 40)).astype(dtype)
    assert present(values[:, ::2]) == np.unique(values[:, ::2]).tolist()
