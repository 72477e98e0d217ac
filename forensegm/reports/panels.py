"""Pictures made of pictures: one image with its maps side by side, contact sheets, legends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PILImage
from PIL import ImageDraw

from forensegm.reports.draw import ERROR_LEGEND, IGNORE_COLOUR, Colour, editor_colour
from forensegm.reports.numbers import format_value
from forensegm.reports.text import draw_text, drawable, elide, text_width, wrap
from forensegm.reports.tiles import SMALLEST_SIDE, resize_to, shown_hw, tiles
from forensegm.sample import AUTHENTIC, IGNORE, Image, LabelSpace, Mask, check_image

PAPER: Colour = (255, 255, 255)
INK: Colour = (28, 30, 33)
FAINT: Colour = (178, 182, 188)
GAP = 10


def panel(
    image: Image,
    labels: LabelSpace,
    *,
    truth: Mask | None = None,
    class_map: Mask | None = None,
    edited_prob: NDArray[np.float32] | None = None,
    caption: str | Mapping[str, Any] = "",
    side: int = 320,
) -> Image:
    """Draw an image, its maps, a caption and a legend of what is there as one picture.

    See `tiles` for the arguments; `caption` is a text, or a mapping shown as "key value, key value".
    """
    row = tiles(image, labels, truth=truth, class_map=class_map, edited_prob=edited_prob, side=side)
    size = max(13, side // 22)
    captions = [f"{tile.caption}, bright = 1" if tile.kind == "probability" else tile.caption for tile in row]
    sheet = contact_sheet([tile.image for tile in row], columns=len(row), captions=captions, font_size=size)
    parts = [sheet]
    text = (
        caption
        if isinstance(caption, str)
        else ", ".join(f"{key} {format_value(value)}" for key, value in caption.items())
    )
    if text:
        parts.insert(0, text_block(text, width=sheet.shape[1], font_size=size))
    present = {int(value) for mask in (truth, class_map) if mask is not None for value in np.unique(mask)}
    if present - {AUTHENTIC}:
        parts.append(legend(labels, present=present, width=sheet.shape[1], font_size=size))
    if any(tile.kind == "error" for tile in row):
        entries = [
            (name, colour) for name, colour in ERROR_LEGEND.items() if colour != IGNORE_COLOUR or IGNORE in present
        ]
        parts.append(swatches(entries, width=sheet.shape[1], font_size=size))
    return stack(parts)


def stack(pictures: Sequence[Image]) -> Image:
    """Put pictures below one another, left-aligned on white."""
    width = max(picture.shape[1] for picture in pictures)
    rows = []
    for picture in pictures:
        row = np.full((picture.shape[0], width, 3), PAPER, dtype=np.uint8)
        row[:, : picture.shape[1]] = picture
        rows.append(row)
    return np.concatenate(rows)


def text_block(text: str, *, width: int, font_size: int = 14) -> Image:
    """Draw a text, wrapped to `width` pixels."""
    lines = wrap(text, font_size, width - 2 * GAP) or [""]
    step = round(font_size * 1.5)
    canvas = PILImage.new("RGB", (width, step * len(lines) + GAP // 2), PAPER)
    for number, line in enumerate(lines):
        draw_text(canvas, (GAP, step * number + step // 2 + GAP // 2), line, font_size, INK)
    return np.asarray(canvas)


def contact_sheet(
    images: Sequence[Image],
    *,
    columns: int | None = None,
    captions: Sequence[str] | None = None,
    cell: int | None = None,
    font_size: int = 14,
) -> Image:
    """Lay pictures of any sizes out on white, each with its caption below.

    Args:
        images: uint8 HxWx3 each.
        columns: pictures per row; None = about as many rows as make a landscape page.
        captions: one per picture; too long ones are shortened in their middle.
        cell: longest side of a picture (tiny ones are enlarged); None = each at its own size.
        font_size: of the captions, in pixels.

    Raises:
        ValueError: no picture, or another number of captions.
    """
    if not images:
        raise ValueError("Expected at least one picture for a contact sheet, got none.")
    if captions is not None and len(captions) != len(images):
        raise ValueError(f"Expected one caption per picture ({len(images)}), got {len(captions)}.")
    pictures = [
        resize_to(check_image(image), shown_hw(image.shape[:2], cell)) if cell else check_image(image)
        for image in images
    ]
    heights, widths = zip(*(picture.shape[:2] for picture in pictures), strict=True)
    width, text_height = max(max(widths), SMALLEST_SIDE), round(font_size * 1.6) if captions else 0
    if columns is None:
        columns = round((len(pictures) * max(heights) / width * 1.5) ** 0.5)
    columns = min(len(pictures), max(1, columns))
    rows = [range(start, min(start + columns, len(pictures))) for start in range(0, len(pictures), columns)]
    row_heights = [max(heights[index] for index in row) + text_height + GAP for row in rows]
    canvas = PILImage.new("RGB", (columns * (width + GAP) + GAP, sum(row_heights) + GAP), PAPER)
    top = GAP
    for row, row_height in zip(rows, row_heights, strict=True):
        for place, index in enumerate(row):
            left = GAP + place * (width + GAP)
            canvas.paste(PILImage.fromarray(np.ascontiguousarray(pictures[index])), (left, top))
            if captions is not None:
                middle = top + heights[index] + text_height // 2 + 1
                draw_text(canvas, (left, middle), elide(captions[index], font_size, width), font_size, INK)
        top += row_height
    return np.asarray(canvas)


def legend_entries(labels: LabelSpace, *, present: Iterable[int] | None = None) -> list[tuple[str, Colour]]:
    """Names and colours of a legend: the editors present (None = all), and "not judged" if 255 is."""
    ids = set(range(1, labels.num_classes)) if present is None else {int(value) for value in present}
    entries = [(labels.name_of(value), editor_colour(value)) for value in sorted(ids - {AUTHENTIC, IGNORE})]
    return [*entries, ("not judged", IGNORE_COLOUR)] if IGNORE in ids else entries


def legend(labels: LabelSpace, *, present: Iterable[int] | None = None, width: int = 640, font_size: int = 14) -> Image:
    """Draw the editors' colours and names, wrapped to `width` pixels.

    Args:
        labels: the label space.
        present: ids to show, 255 for ignored pixels; None = every editor.
        width: of the picture, in pixels.
        font_size: in pixels.
    """
    entries = legend_entries(labels, present=present)
    return swatches(entries or [("no edited pixel", PAPER)], width=width, font_size=font_size)


def swatches(entries: Sequence[tuple[str, Colour]], *, width: int, font_size: int = 14) -> Image:
    """Draw named colours in lines of at most `width` pixels."""
    box, step = font_size, round(font_size * 1.7)
    room = max(width - 2 * GAP, 4 * font_size)
    places: list[tuple[int, int, str, Colour]] = []
    left, line = 0, 0
    for name, colour in entries:
        text = elide(drawable(name), font_size, room - 2 * box)
        used = box + font_size // 2 + text_width(text, font_size)
        if left and left + used > room:
            left, line = 0, line + 1
        places.append((left, line, text, colour))
        left += used + round(font_size * 1.4)
    canvas = PILImage.new("RGB", (room + 2 * GAP, step * (line + 1) + GAP), PAPER)
    pen = ImageDraw.Draw(canvas)
    for left, line, text, colour in places:
        x, middle = GAP + left, GAP // 2 + line * step + step // 2
        pen.rectangle((x, middle - box // 2, x + box - 1, middle - box // 2 + box - 1), fill=colour, outline=FAINT)
        draw_text(canvas, (x + box + font_size // 2, middle), text, font_size, INK)
    return np.asarray(canvas)
