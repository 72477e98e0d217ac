"""The photographs of a folder."""

from __future__ import annotations

from pathlib import Path

from forensegm.edits.sources.photo import Photo
from forensegm.imageio import IMAGE_SUFFIXES

# HEIC cannot be decoded here: listed all the same, so that such files are named among the skipped.
SUFFIXES = IMAGE_SUFFIXES | {".heic", ".heif"}


def list_folder(folder: str) -> list[Photo]:
    """List the image files of a folder and its sub-folders, sorted by path, each its own scene.

    Hidden files and files without an image suffix are no photographs and are passed over.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    root = Path(folder).expanduser()
    if not root.is_dir():
        found = "a file" if root.exists() else "nothing"
        raise FileNotFoundError(f"Expected a folder of photographs at '{folder}', got {found} there.")
    files = [path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file()]
    names = sorted((path.relative_to(root).as_posix(), path) for path in files if not path.name.startswith("."))
    return [Photo(name, path, scene=name, licence="not stated") for name, path in names]
