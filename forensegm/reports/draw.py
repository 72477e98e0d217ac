"""Masks and maps as pictures: class colours, overlays, error maps, heat maps. uint8 RGB HxWx3 throughout."""

from __future__ import annotations

import colorsys
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from forensegm.sample import AUTHENTIC, IGNORE, Image, LabelSpace, Mask, check_image, check_mask, check_same_size

Colour = tuple[int, int, int]
Flags = NDArray[np.bool_]

# The first seven are Okabe and Ito's (jfly.uni-koeln.de/color). The others were added one by one, each the 8-bit colour
# farthest in OKLab from those before and from black, white and grey, as seen with normal vision and with simulated
# protanopia, deuteranopia and tritanopia (Machado et al. 2009), whichever is worst.
EDITOR_COLOURS: tuple[Colour, ...] = (
    (213, 94, 0),
    (86, 180, 233),
    (0, 158, 115),
    (240, 228, 66),
    (204, 121, 167),
    (0, 114, 178),
    (230, 159, 0),
    (135, 0, 60),
    (0, 0, 210),
    (90, 30, 135),
    (135, 225, 195),
    (180, 45, 255),
    (150, 75, 45),
    (120, 75, 120),
    (165, 120, 240),
    (240, 195, 135),
    (210, 0, 180),
    (135, 180, 120),
    (210, 195, 255),
    (180, 255, 165),
)
AUTHENTIC_COLOUR: Colour = (0, 0, 0)
IGNORE_COLOUR: Colour = (110, 110, 110)  # the grey farthest from all editors, measured in the same way

HIT: Colour = (245, 245, 245)
WRONG_EDITOR: Colour = (245, 211, 60)
FALSE_ALARM: Colour = (255, 90, 54)
MISS: Colour = (77, 166, 255)
CORRECT_AUTHENTIC: Colour = (0, 0, 0)

ERROR_LEGEND: dict[str, Colour] = {
    "edit found": HIT,
    "found, wrong editor": WRONG_EDITOR,
    "false alarm": FALSE_ALARM,
    "missed": MISS,
    "authentic, left alone": CORRECT_AUTHENTIC,
    "not judged": IGNORE_COLOUR,
}

GOLDEN_RATIO = 0.618033988749895


def editor_colour(class_id: int) -> Colour:
    """Colour of an editor by its mask value (1..254), the same in every label space.

    After the twenty of `EDITOR_COLOURS`, hues follow at golden-ratio steps in three shades.
    """
    if not 1 <= class_id < IGNORE:
        raise ValueError(f"Expected an editor id of 1..{IGNORE - 1}, got {class_id}.")
    if class_id <= len(EDITOR_COLOURS):
        return EDITOR_COLOURS[class_id - 1]
    extra = class_id - len(EDITOR_COLOURS)
    saturation, value = ((0.85, 0.95), (0.55, 0.8), (0.95, 0.6))[extra % 3]
    red, green, blue = colorsys.hsv_to_rgb((extra * GOLDEN_RATIO) % 1.0, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)


def palette(labels: LabelSpace) -> NDArray[np.uint8]:
    """Colours by class id, uint8 (K+1)x3: black for authentic, then one per editor.

    A shorter label space has the first colours of a longer one, so that ids keep theirs.
    """
    colours = [AUTHENTIC_COLOUR, *(editor_colour(value) for value in range(1, labels.num_classes))]
    return np.array(colours, dtype=np.uint8)


def color_mask(mask: Mask, labels: LabelSpace) -> Image:
    """Paint a mask: black where authentic, each editor in its colour, grey where ignored.

    Raises:
        ValueError: not a mask, or an id that is not in the label space.
    """
    check_mask(mask, num_classes=labels.num_classes)
    table = np.zeros((256, 3), dtype=np.uint8)
    table[: labels.num_classes] = palette(labels)
    table[IGNORE] = IGNORE_COLOUR
    return table[mask]


def edges(mask: Mask, thickness: int) -> Flags:
    """Pixels of a mask within `thickness` of another value, on both sides; the image's own border is no edge."""
    kernel = np.ones((2 * thickness + 1, 2 * thickness + 1), dtype=np.uint8)
    inner, outer = cv2.erode(mask, kernel), cv2.dilate(mask, kernel)
    return np.asarray(inner != outer)


def overlay(image: Image, mask: Mask, labels: LabelSpace, *, alpha: float = 0.5, outline: int | None = None) -> Image:
    """Lay the class colours over an image; authentic pixels keep theirs.

    Args:
        image: uint8 HxWx3.
        mask: uint8 HxW.
        labels: the label space of the mask.
        alpha: share of the class colour inside a region, 0..1.
        outline: width in pixels of the full-colour rim inside each region; 0 = none, None = by the image's size.

    Raises:
        ValueError: sizes that differ, an id that is not in the label space, an alpha outside 0..1.
    """
    check_same_size(check_image(image).shape[:2], mask.shape, name="overlay")
    if not 0 <= alpha <= 1:
        raise ValueError(f"Expected alpha to be 0..1, got {alpha}.")
    colours, painted = color_mask(mask, labels), mask != AUTHENTIC
    blended = cv2.addWeighted(image, 1 - alpha, colours, alpha, 0)
    result = np.where(painted[..., None], blended, image)
    thickness = max(1, round(min(mask.shape) / 200)) if outline is None else outline
    if thickness:
        rim = painted & (mask != IGNORE) & edges(mask, thickness)
        result[rim] = colours[rim]
    return result


def error_map(
    pred_edited: NDArray[Any],
    true_edited: NDArray[Any],
    valid: NDArray[Any] | None = None,
    *,
    wrong_editor: NDArray[Any] | None = None,
) -> Image:
    """Paint what was found, missed and flagged wrongly; the colours are those of `ERROR_LEGEND`.

    Args:
        pred_edited: HxW, true where the prediction says edited.
        true_edited: HxW, true where it is.
        valid: HxW, false where nothing is judged (painted grey); None = everything is.
        wrong_editor: HxW, true where the named editor is not the true one; it counts on found edits only.
    """
    found, real = pred_edited.astype(bool), true_edited.astype(bool)
    for name, flags in (("true_edited", real), ("valid", valid), ("wrong_editor", wrong_editor)):
        if flags is not None and flags.shape != found.shape:
            raise ValueError(f"Expected {name} to have the shape {list(found.shape)}, got {list(flags.shape)}.")
    picture = np.empty((*found.shape, 3), dtype=np.uint8)
    picture[...] = CORRECT_AUTHENTIC
    picture[found & real] = HIT
    if wrong_editor is not None:
        picture[found & real & wrong_editor.astype(bool)] = WRONG_EDITOR
    picture[found & ~real] = FALSE_ALARM
    picture[~found & real] = MISS
    if valid is not None:
        picture[~valid.astype(bool)] = IGNORE_COLOUR
    return picture


def heat(prob: NDArray[Any]) -> Image:
    """Paint probabilities (float HxW in 0..1) with matplotlib's "inferno": dark = 0, bright = 1.

    Raises:
        ValueError: not HxW, not finite, or outside 0..1 by more than rounding.
    """
    if prob.ndim != 2 or prob.size == 0:
        raise ValueError(f"Expected probabilities of shape HxW, got {list(prob.shape)}.")
    low, high = float(prob.min()), float(prob.max())
    if not (low >= -1e-4 and high <= 1 + 1e-4):
        raise ValueError(f"Expected probabilities in 0..1, got {low:g}..{high:g}.")
    levels = np.rint(np.clip(prob, 0, 1) * 255).astype(np.uint8)
    return np.ascontiguousarray(cv2.applyColorMap(levels, cv2.COLORMAP_INFERNO)[..., ::-1])


def to_gray(image: Image, *, brightness: float = 1.0) -> Image:
    """A photograph without its colours (Rec. 601 luma), so that class colours stand out on it; uint8 HxWx3."""
    luma = check_image(image) @ np.array([0.299, 0.587, 0.114]) * brightness
    return np.repeat(np.rint(luma).astype(np.uint8)[..., None], 3, axis=2)
