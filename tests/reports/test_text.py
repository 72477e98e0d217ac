"""Text that may not break a picture, a page or the encoding."""

import pytest

from forensegm.reports.text import clean, drawable, elide, text_width, wrap


def test_clean_keeps_readable_text_and_escapes_what_utf8_cannot_hold():
    text = clean("caf\u0065\u0301 写真 \udcff\x07")

    assert text == "café 写真 \\udcff\\x07"
    text.encode("utf-8")


def test_drawable_escapes_only_characters_without_a_glyph():
    assert drawable("écran  写\n.png") == "écran \\u5199 .png"
    assert drawable("plain_name.png") == "plain_name.png"


@pytest.mark.parametrize("width", [40, 90, 200, 2000])
def test_elide_fits_and_keeps_both_ends(width):
    name = "a_long_folder/with_photographs/crop_0001.png"

    short = elide(name, 14, width)

    assert text_width(short, 14) <= width
    assert short == name or (short.startswith("a") and "..." in short)
    assert elide(name, 14, 2000) == name


def test_elide_never_fails_on_no_room():
    assert elide("name", 14, 1) == "..."


def test_wrap_keeps_every_word_and_the_width():
    lines = wrap("one two three four five six seven", 14, 80)

    assert " ".join(lines) == "one two three four five six seven"
    assert all(text_width(line, 14) <= 80 for line in lines)
    assert wrap("", 14, 80) == []
