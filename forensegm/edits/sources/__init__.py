"""Where base images come from. A source lists them; each is decoded when it is needed.

`edit.photos` names a source as "kind:location"; a bare path is a folder. One of your own is a function of the location
that returns a list of `Photo`: name it "pkg.mod:fn:location".
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from forensegm.datasets import READERS
from forensegm.edits.sources.captions import list_captions
from forensegm.edits.sources.coco import list_coco
from forensegm.edits.sources.folder import list_folder
from forensegm.edits.sources.packaged import list_packaged
from forensegm.edits.sources.photo import KnownObject, Photo, Skipped, forget, load, probe, sift
from forensegm.edits.sources.reader import list_reader
from forensegm.lookup import lookup

__all__ = [
    "SOURCES",
    "KnownObject",
    "Photo",
    "Skipped",
    "forget",
    "list_captions",
    "list_photos",
    "load",
    "probe",
    "sift",
]

Source = Callable[[str], list[Photo]]
SOURCES: dict[str, Source] = {
    "folder": list_folder,
    "packaged": list_packaged,
    "coco": list_coco,
    "dataset": list_reader,
}


def list_photos(source: str) -> list[Photo]:
    """List the base images that `edit.photos` names; empty = those that installed packages ship.

    "folder:path" or a bare path, "coco:instances.json", "packaged", "dataset:kind:location" or "kind:location" of any
    reader of `forensegm.open_dataset`, and "pkg.mod:fn:location".

    Raises:
        FileNotFoundError: nothing at the location.
        ValueError: an unknown source or one that cannot be read.
    """
    kind, _, location = source.partition(":")
    if not source or source == "packaged":
        return list_packaged()
    if Path(source).expanduser().is_dir() or not location:
        return list_folder(source)
    if kind in SOURCES:
        return SOURCES[kind](location)
    if kind in READERS:
        return list_reader(source)
    function, colon, rest = location.partition(":")
    if colon and function.isidentifier():
        return lookup(SOURCES, f"{kind}:{function}", what="source", trusted=True)(rest)
    return list_folder(source)
