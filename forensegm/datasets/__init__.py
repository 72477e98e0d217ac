"""Read data sets: `open_dataset` finds the reader by the kind of the data set.

A reader is a callable `(location, *, split=None, **options) -> Dataset`. One of your own needs no entry in the table:
name it as "pkg.mod:fn:location".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

from forensegm.datasets.coco import coco
from forensegm.datasets.declared import declared, is_declared
from forensegm.datasets.diffseg30k import diffseg30k
from forensegm.datasets.folder import FolderDataset, folder
from forensegm.datasets.hub import hub
from forensegm.datasets.imdlbenco import imdlbenco
from forensegm.datasets.manifest import manifest
from forensegm.datasets.mmseg_layout import mmseg
from forensegm.datasets.native import NativeDataset
from forensegm.datasets.parquet import parquet
from forensegm.datasets.protocol import Dataset
from forensegm.datasets.records import DATASET_FILE
from forensegm.datasets.shards import shards
from forensegm.lookup import lookup, unknown_name

__all__ = ["READERS", "Dataset", "FolderDataset", "NativeDataset", "folder", "open_dataset"]

Reader = Callable[..., Dataset]

READERS: dict[str, Reader] = {
    "native": NativeDataset,
    "folder": folder,
    "manifest": manifest,
    "imdlbenco": imdlbenco,
    "mmseg": mmseg,
    "coco": coco,
    "diffseg30k": diffseg30k,
    "parquet": parquet,
    "hub": hub,
    "shards": shards,
    "declared": declared,
}


def open_dataset(source: str, *, split: str | None = None, **options: object) -> Dataset:
    """Open a data set.

    Args:
        source: "kind:location", for example native:runs/data or folder:my/images; "pkg.mod:fn:location" for a reader
            of your own; or the bare path of a native data set or of a folder with a declaration.
        split: name of the split to read; None = all.
        options: of the reader, see its documentation.

    Raises:
        ValueError: an unknown kind, split or option, or a data set that does not hold together.
        FileNotFoundError: there is nothing at the location.
    """
    reader, location = find_reader(source)
    parameters = inspect.signature(reader).parameters
    known = list(parameters)[1:]
    for name in options:
        if name not in known and not any(value.kind is value.VAR_KEYWORD for value in parameters.values()):
            raise unknown_name(name, known, what=f"option of the reader of '{source}'")
    return reader(location, split=split, **options)


def find_reader(source: str) -> tuple[Reader, str]:
    """Return the reader and the location that a source names; raises as `open_dataset` does."""
    kind, colon, location = source.partition(":")
    if kind in READERS and location:
        return READERS[kind], location
    if (Path(source).expanduser() / DATASET_FILE).exists():
        return READERS["declared" if is_declared(Path(source).expanduser()) else "native"], source
    function, second_colon, rest = location.partition(":")
    if second_colon and function.isidentifier() and all(part.isidentifier() for part in kind.split(".")):
        return lookup(READERS, f"{kind}:{function}", what="reader", trusted=True), rest
    if colon and location:
        raise unknown_name(kind, READERS, what="kind of data set")
    if Path(source).expanduser().exists():
        raise ValueError(
            f"Expected '{source}' to hold {DATASET_FILE}, got none there. If it is another kind of data set, name the "
            f"kind, for example folder:{source}. Kinds: {', '.join(sorted(READERS))}."
        )
    raise FileNotFoundError(f"Expected a data set as kind:location, for example native:runs/data, got '{source}'.")
