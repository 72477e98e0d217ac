"""Text in pictures and pages: fonts, characters that cannot be drawn or encoded, and names that are too long."""

from __future__ import annotations

import functools
import unicodedata
from pathlib import Path

from PIL import Image as PILImage
from PIL import ImageDraw, ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

ELLIPSIS = "..."


def clean(text: str) -> str:
    """Make a text safe for UTF-8 files: what cannot be encoded or shown is written as an escape, never dropped.

    File names may hold bytes that are no UTF-8 (Python reads them as lone surrogates) and control characters.

    >>> clean("caf\\u00e9 \\udcff")
    'café \\\\udcff'
    """
    composed = unicodedata.normalize("NFC", text)
    return "".join(_escape(char) if _unshowable(char) else char for char in composed)


def _unshowable(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


@functools.cache
def _dejavu() -> tuple[str, frozenset[int]]:
    """Path of the font that matplotlib ships, and the characters it can draw."""
    import matplotlib
    from matplotlib.ft2font import FT2Font

    path = str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf")
    return path, frozenset(FT2Font(path).get_charmap())


def drawable(text: str) -> str:
    """One line that our fonts can draw: characters without a glyph become escapes, so that names stay distinct.

    >>> drawable("écran 写.png")
    'écran \\\\u5199.png'
    """
    line = " ".join(clean(text).split())
    if line.isascii():
        return line
    known = _dejavu()[1]
    return "".join(char if char.isascii() or ord(char) in known else _escape(char) for char in line)


@functools.cache
def _font(size: int, ascii_only: bool) -> Font:
    return ImageFont.load_default(size) if ascii_only else ImageFont.truetype(_dejavu()[0], size)


def font_for(text: str, size: int) -> Font:
    """Return a font that holds every character of a `drawable` text, at `size` pixels."""
    return _font(size, text.isascii())


def text_width(text: str, size: int) -> int:
    """Width in pixels of a `drawable` text."""
    return int(font_for(text, size).getlength(text)) + 1


def elide(text: str, size: int, width: int) -> str:
    """Shorten a text in its middle until it is at most `width` pixels wide: ids differ at their ends."""
    text = drawable(text)
    if text_width(text, size) <= width:
        return text
    for keep in range(len(text) - 1, 0, -1):
        short = text[: (keep + 1) // 2] + ELLIPSIS + text[len(text) - keep // 2 :]
        if text_width(short, size) <= width:
            return short
    return ELLIPSIS


def wrap(text: str, size: int, width: int) -> list[str]:
    """Break a text between words into lines of at most `width` pixels; a word that is wider is shortened."""
    lines: list[str] = []
    for word in drawable(text).split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(joined, size) <= width:
            lines[-1] = joined
        else:
            lines.append(elide(word, size, width))
    return lines


def draw_text(canvas: PILImage.Image, xy: tuple[int, int], text: str, size: int, colour: tuple[int, int, int]) -> None:
    """Draw a `drawable` text with its left edge and the middle of its line at `xy`."""
    ImageDraw.Draw(canvas).text(xy, text, font=font_for(text, size), fill=colour, anchor="lm")
