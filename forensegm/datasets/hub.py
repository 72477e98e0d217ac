"""Read data sets from the Hugging Face hub through the `datasets` library, whose cache and authentication it uses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forensegm.datasets.declare import declare
from forensegm.datasets.hub_rows import HubDataset, StreamDataset, unreachable
from forensegm.datasets.rows import Columns, MissingMask, RowSpec, labels_beside
from forensegm.imageio import MaskKind, Mismatch
from forensegm.lookup import require
from forensegm.sample import IGNORE, LabelSpace

__all__ = ["HubDataset", "StreamDataset", "hub"]

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
PLAIN = ("string", "large_string", "bool", "int", "uint", "float")  # how the names of types of text and numbers begin


def hub(
    location: str | Path,
    *,
    split: str | None = None,
    streaming: bool = False,
    revision: str | None = None,
    cache_dir: str | None = None,
    image: str = "image",
    mask: str | None = "mask",
    mask_kind: MaskKind = "ids",
    labels: LabelSpace | Sequence[str] | int | None = None,
    editor: str | None = None,
    ignore: int | None = None,
    on_mismatch: Mismatch = "error",
    mask_values: Mapping[Any, Any] | None = None,
    mask_threshold: int | None = None,
    missing_mask: MissingMask = "error",
    label: str | None = None,
    classes: Mapping[Any, str] | None = None,
    id: str | None = "id",
    group: str | None = "group",
    turns: str | None = "turns",
    record: str | None = "record",
) -> Any:
    """A data set of the Hugging Face hub, or a folder laid out like one, through `datasets.load_dataset`.

    Args:
        location: "org/name", or a local folder; a folder that exists is never taken for an id.
        split: name of the split to read; None = all.
        streaming: rows one after the other, nothing kept (see `StreamDataset`); otherwise everything is fetched once.
        revision: commit, tag or branch; name a commit to read the same data again.
        cache_dir: where the library keeps what it fetched; None = its own place.
        image: as in `parquet`, like all that follow.
        mask: see there.
        mask_kind: see there.
        labels: see there.
        editor: see there.
        ignore: see there.
        on_mismatch: see there.
        mask_values: see there.
        mask_threshold: see there.
        missing_mask: see there.
        label: see there.
        classes: see there.
        id: see there.
        group: see there.
        turns: see there.
        record: see there.

    Returns:
        A `HubDataset`, or a `StreamDataset` with streaming.

    Raises:
        FileNotFoundError: there is no such folder or data set.
        ValueError: an unknown split, a missing column, an id used twice or a wrong declaration.
        RuntimeError: the hub cannot be reached, or the extra `hub` is not installed.
    """
    path = Path(location).expanduser()
    if not path.is_dir() and not HUB_ID.fullmatch(str(location)):
        raise FileNotFoundError(f"Expected a hub id org/name, or a folder, got '{location}'. Check the path.")
    if labels is None and mask_kind == "ids":
        labels = labels_beside(path) if path.is_dir() else None
        ignore = IGNORE if ignore is None and labels is not None else ignore  # as our own masks have it
    values: dict[str, Any] = {"mask_values": mask_values, "mask_threshold": mask_threshold}
    space, meaning = declare(mask_kind, labels, editor=editor, ignore=ignore, on_mismatch=on_mismatch, **values)
    source = str(path) if path.is_dir() else str(location)
    parts = _load(source, streaming=streaming, revision=revision, cache_dir=cache_dir)
    first = next(iter(parts.values()))
    wanted = Columns(image, mask, id, group, "split", turns, record, label)
    columns = wanted.check(list(first.features or {}), where=location)
    spec = RowSpec(columns, space, meaning, missing_mask, classes or {})
    parts = {key: _undecoded(part, columns) for key, part in parts.items()}
    name = path.resolve().name if path.is_dir() else str(location)
    reader = StreamDataset if streaming else HubDataset
    return reader(name, parts, spec, split=split)


def _load(location: str, *, streaming: bool, revision: str | None, cache_dir: str | None) -> dict[str, Any]:
    """The library's data set of each split."""
    library = require("datasets", extra="hub")
    if not hasattr(library, "load_dataset"):  # any folder called datasets on the path can be imported
        raise RuntimeError("Expected the library 'datasets', got none. Install it with: pip install 'forensegm[hub]'")
    try:
        parts = library.load_dataset(location, streaming=streaming, revision=revision, cache_dir=cache_dir)
    except FileNotFoundError as error:
        detail = " ".join(str(error).split())
        raise FileNotFoundError(
            f"Expected a data set at '{location}', got none ({detail}). Check the name, and that you may read it."
        ) from error
    except Exception as error:  # the libraries below raise errors of many kinds, their HTTP client's too
        raise unreachable(location, error) from error
    return dict(parts.items())


def _undecoded(part: Any, columns: Columns) -> Any:
    """The columns that are read, images as the bytes they are: the library's decoder would fill in broken ones."""
    library = require("datasets", extra="hub")
    features = part.features
    plain = [name for name, kind in features.items() if str(getattr(kind, "dtype", "")).startswith(PLAIN)]
    needed = {*columns.large(), *columns.small(), *plain}
    part = part.select_columns([name for name in features if name in needed])
    for name in (columns.image, columns.mask, columns.turns):
        if name and isinstance(features[name], library.Image):
            part = part.cast_column(name, library.Image(decode=False))
    return part
