"""One image and whatever is known of it as a row of pictures of one size, each with words for what it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from forensegm.reports.draw import error_map, heat, overlay, to_gray
from forensegm.reports.numbers import format_value
from forensegm.sample import (
    AUTHENTIC,
    IGNORE,
    Image,
    LabelSpace,
    Mask,
    check_image,
    check_mask,
    check_same_size,
    class_areas,
)

SMALLEST_SIDE = 96
MASK_ALPHA = 0.65
DIMMED = 0.85


@dataclass(frozen=True, eq=False)
class Tile:
    """One picture of an image's row.

    Attributes:
        kind: image, truth, prediction, probability or error.
        caption: what it is, in two or three words.
        alt: what it shows, for those who do not see it.
        image: uint8 HxWx3.
        flat: few colours in large areas (encode it without loss).
    """

    kind: str
    caption: str
    alt: str
    image: Image
    flat: bool = False


def shown_hw(hw: tuple[int, int], side: int) -> tuple[int, int]:
    """Size at which an image is shown: its longer side at most `side`; tiny ones are enlarged by a whole factor."""
    longest = max(hw)
    if longest > side:
        return max(1, round(hw[0] * side / longest)), max(1, round(hw[1] * side / longest))
    factor = max(1, min(SMALLEST_SIDE, side) // longest)
    return hw[0] * factor, hw[1] * factor


def resize_to(picture: NDArray[Any], hw: tuple[int, int], *, exact: bool = False) -> NDArray[Any]:
    """Resize for display: area average down, nearest up; `exact` (ids) is nearest both ways."""
    if picture.shape[:2] == hw:
        return picture
    smaller = hw[0] < picture.shape[0] or hw[1] < picture.shape[1]
    method = cv2.INTER_AREA if smaller and not exact else cv2.INTER_NEAREST_EXACT
    return np.asarray(cv2.resize(picture, hw[::-1], interpolation=method))


def describe_mask(mask: Mask, labels: LabelSpace) -> str:
    """Say in words what a mask holds: the share of the judged pixels of each editor.

    >>> describe_mask(np.array([[0, 1]], dtype=np.uint8), LabelSpace(("telea",)))
    'telea 50 % of pixels'
    """
    areas = class_areas(check_mask(mask, num_classes=labels.num_classes))[:IGNORE]
    valid = int(areas.sum())
    if valid == 0:
        return "no judged pixel"
    shares = [
        f"{labels.name_of(value)} {_share(areas[value] / valid)}"
        for value in range(1, labels.num_classes)
        if areas[value]
    ]
    return f"{', '.join(shares)} of pixels" if shares else "no edited pixel"


def _share(share: Any) -> str:
    return format_value(share, percent=True, digits=0)


def tiles(
    image: Image,
    labels: LabelSpace,
    *,
    truth: Mask | None = None,
    class_map: Mask | None = None,
    edited_prob: NDArray[np.float32] | None = None,
    side: int = 256,
    name: str = "image",
) -> list[Tile]:
    """Draw an image and whatever is known of it, each at most `side` pixels long.

    Args:
        image: uint8 HxWx3.
        labels: label space of `truth` and `class_map`.
        truth: uint8 HxW, 255 = ignore.
        class_map: the prediction, uint8 HxW.
        edited_prob: float HxW in 0..1.
        side: longest side of a tile; smaller images are not enlarged, except tiny ones.
        name: whose alt texts they are.

    Returns:
        Tiles of one size, in the order image, truth, prediction, probability, error; the error map needs truth and
        prediction.

    Raises:
        ValueError: sizes that differ or ids that are not in the label space.
    """
    height, width = check_image(image, name=name).shape[:2]
    for part in (truth, class_map, edited_prob):
        if part is not None:
            check_same_size((height, width), part.shape, name=name)
    hw = shown_hw((height, width), side)
    photo = resize_to(image, hw)
    row = [Tile("image", "image", f"{name}: the image", photo)]
    base, small = to_gray(photo, brightness=DIMMED), {}
    for kind, mask in (("truth", truth), ("prediction", class_map)):
        if mask is not None:
            alt = f"{name}, {kind}: {describe_mask(mask, labels)}"
            small[kind] = resize_to(mask, hw, exact=True)
            row.append(Tile(kind, kind, alt, overlay(base, small[kind], labels, alpha=MASK_ALPHA)))
    if edited_prob is not None:
        alt = f"{name}, edited probability: mean {edited_prob.mean():.2f}, highest {edited_prob.max():.2f}"
        row.append(Tile("probability", "edited probability", alt, resize_to(heat(edited_prob), hw)))
    if truth is not None and class_map is not None:
        alt = f"{name}, errors: {describe_errors(class_map, truth)}"
        row.append(Tile("error", "errors", alt, class_error_map(small["prediction"], small["truth"]), flat=True))
    return row


def class_error_map(class_map: Mask, truth: Mask) -> Image:
    """Error map of a class map (both uint8 HxW): editors count as edited, and a wrong one is marked as such."""
    return error_map(class_map != AUTHENTIC, truth != AUTHENTIC, truth != IGNORE, wrong_editor=class_map != truth)


def describe_errors(class_map: Mask, truth: Mask) -> str:
    """Say in words how much was found, missed and flagged wrongly, over the judged pixels."""
    valid = truth != IGNORE
    found, real = (class_map != AUTHENTIC) & valid, (truth != AUTHENTIC) & valid
    authentic = valid & ~real
    parts = []
    if real.any():
        parts.append(f"{_share((found & real).sum() / real.sum())} of the edited pixels found")
    if authentic.any():
        parts.append(f"{_share((found & authentic).sum() / authentic.sum())} of the authentic pixels flagged")
    return ", ".join(parts) or "no judged pixel"
