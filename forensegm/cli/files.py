"""Find the image files that a user means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from forensegm.cli.errors import UsageError

CLASSES, OVERLAY, DESCRIPTION = ".classes.png", ".overlay.png", ".json"
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".mpo")


def image_files(paths: Sequence[str]) -> list[Path]:
    """List image files: files as given, folders searched with their sub-folders; sorted within a folder, each once.

    Hidden files and the pictures that an earlier `forensegm predict` left in a folder are not taken.

    Raises:
        UsageError: no path, a missing one, or a folder without images.
    """
    if not paths:
        raise UsageError("Expected at least one image or folder of images, got none.")
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            images = _search(path)
            if not images:
                raise UsageError(f"Expected images ({', '.join(SUFFIXES)}) in folder {path}, got none.")
            found.extend(images)
        elif path.exists():
            found.append(path)
        else:
            raise UsageError(f"Expected an image or a folder, got '{path}', which does not exist.")
    return list(dict.fromkeys(found))


def _search(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and not path.name.endswith((CLASSES, OVERLAY))
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def result_names(files: Sequence[Path]) -> list[Path]:
    """A relative path for the results of each file: as short as keeps the files apart.

    >>> result_names([Path("a/x.png"), Path("a/b/x.png")])
    [PosixPath('x.png'), PosixPath('b/x.png')]
    """
    absolute = [Path(os.path.abspath(path)) for path in files]
    common = Path(os.path.commonpath([path.parent for path in absolute]))
    return [path.relative_to(common) for path in absolute]
