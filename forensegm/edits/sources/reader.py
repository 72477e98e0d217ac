"""The authentic images of any data set that forensegm reads, as base images."""

from __future__ import annotations

from pathlib import Path

from forensegm.datasets import open_dataset
from forensegm.edits.sources.photo import Photo


def list_reader(source: str) -> list[Photo]:
    """List the images of a data set, each with its group as scene; those whose mask holds an edit are left out.

    Masks are read for that, once: an edited image is no base for a data set that says what was edited.

    Args:
        source: "kind:location", as `forensegm.open_dataset` takes it.
    """
    dataset = open_dataset(source)
    photos = []
    for index, (name, group) in enumerate(zip(dataset.ids, dataset.groups, strict=True)):
        try:
            sample = dataset[index]
        except (OSError, ValueError):  # listed all the same: probing names it among the skipped
            photos.append(_photo(source, index, name, group, licence="not stated"))
            continue
        if sample.label.fake is False:
            licence = str(dict(sample.meta.get("source") or {}).get("licence", "not stated"))
            photos.append(_photo(source, index, name, sample.group, licence=licence))
    return photos


def _photo(source: str, index: int, name: str, group: str, *, licence: str) -> Photo:
    return Photo(name, Path(source), group or name, licence, reader=source, index=index)
