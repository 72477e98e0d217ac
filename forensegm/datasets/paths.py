"""Paths that data name: they stay inside the root, whatever a file says."""

from __future__ import annotations

import os
from pathlib import Path, PureWindowsPath


def inside(text: str, root: Path, *, where: str) -> str:
    """Return a path that a file names as a posix path relative to `root`.

    Relative paths, with or without "./" or "..", and absolute ones are taken as long as they lie in the root; links
    are not followed for that, since a user's own tree may hold some.

    Args:
        text: the path as it stands there.
        root: the folder that it must lie in.
        where: what names it, for errors.

    Raises:
        ValueError: a path outside the root, of a Windows drive, or with a NUL.
    """
    normal = text.replace("\\", "/") if "\\" in text and "/" not in text else text
    base = os.path.abspath(root)
    path = os.path.normpath(os.path.join(base, normal))
    relative = os.path.relpath(path, base)
    if "\0" in text or PureWindowsPath(text).drive or relative == os.curdir or relative.split(os.sep)[0] == os.pardir:
        raise ValueError(
            f"Expected {where} to be a path inside '{root}', got '{text}'. Set root to the folder that holds the files."
        )
    return relative.replace(os.sep, "/")
