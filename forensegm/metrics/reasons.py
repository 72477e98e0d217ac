"""Undefined scores: None in the result, and the reason under the score's path in its "undefined" part."""

from __future__ import annotations

from collections.abc import Mapping

NO_PIXEL = "no pixel has a known truth"
NO_EDITED = "no edited pixel in the truth"
NO_AUTHENTIC = "no authentic pixel in the truth"
NO_FLAGGED = "no pixel is flagged"
ONE_CLASS = "only one class of pixels in the truth"
CONSTANT = "truth or prediction holds only one class of pixels"
NO_EDITED_IMAGE = "no image with an edited pixel"
NO_AUTHENTIC_IMAGE = "no authentic image"
NO_EDITOR = "no editor's pixels in the truth"
NO_CLASS = "no pixel of this editor in the truth"

NO_IMAGE = "no image with a known label"
ONE_IMAGE_CLASS = "only fake or only authentic images"
NO_FAKE = "no fake image"
NO_IMAGE_FLAGGED = "no image is judged fake"
NO_IDENTITY = "no fake image with a known editor"

Scores = dict[str, float | None]


def split_reasons(path: str, scores: Mapping[str, tuple[float | None, str]], undefined: dict[str, str]) -> Scores:
    """Return the values of `scores` (value, reason if it is None), and add each None's reason to `undefined`.

    >>> undefined = {}
    >>> split_reasons("image", {"auc": (None, "one class"), "f1": (0.5, "")}, undefined), undefined
    ({'auc': None, 'f1': 0.5}, {'image.auc': 'one class'})
    """
    undefined.update({f"{path}.{name}": reason for name, (value, reason) in scores.items() if value is None})
    return {name: value for name, (value, _) in scores.items()}
