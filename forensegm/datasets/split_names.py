"""The split that the name of a part of a data set says."""

from __future__ import annotations

import re

PART = re.compile(r"(?P<split>.+?)-\d{5,}(-of-\d{5})?(-[0-9a-f]+)?")
PLAIN_SPLITS = ("train", "validation", "val", "dev", "test")


def split_of_part(stem: str) -> str:
    """Return the split that the name of a file, without its suffix, says; empty where it says none.

    >>> split_of_part("train-00000-of-00010"), split_of_part("val-000001"), split_of_part("all-000000")
    ('train', 'val', '')
    """
    match = PART.fullmatch(stem)
    name = match["split"] if match else stem if stem in PLAIN_SPLITS else ""
    return "" if name == "all" else name
