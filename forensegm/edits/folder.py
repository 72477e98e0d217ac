"""The output folder: what may be built into it, and how an unfinished build is kept from looking finished.

`building.json` holds the settings while a build goes on. `dataset.yaml` makes a data set; it is removed first and
written last, and only then is `building.json` removed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from forensegm.datasets.records import (
    DatasetMeta,
    Record,
    read_dataset_yaml,
    write_dataset_yaml,
    write_records,
)
from forensegm.imageio import write_json

MARK = "building.json"
META = "dataset.yaml"
RECORDS = "records.jsonl"
PARTS = ("images", "masks", "turns")
TEMPORARY = ".*.tmp"  # what a killed process leaves of a file that it was writing


def check(root: Path, settings: Mapping[str, Any]) -> None:
    """Raise ValueError unless `root` is absent, empty, or holds a build, finished or not, of the same settings."""
    if not root.exists():
        return
    if not root.is_dir():
        raise ValueError(f"Expected '{root}' to be a folder or absent, got a file. Name another edit.out.")
    names = sorted(path.name for path in root.iterdir())
    if not names:
        return
    foreign = [name for name in names if name not in (MARK, META, RECORDS, *PARTS) and not fnmatch(name, TEMPORARY)]
    if foreign or not {MARK, META} & set(names):
        listed = ", ".join((foreign or names)[:5]) + (", ..." if len(foreign or names) > 5 else "")
        raise ValueError(
            f"Expected '{root}' to be empty, absent or a build of the same settings, got other files in it: {listed}. "
            "Name another edit.out, or move them."
        )
    earlier = _settings(root)
    different = sorted(key for key in {*earlier, *settings} if earlier.get(key) != settings.get(key))
    if different:
        listed = ", ".join(f"{key} was {earlier.get(key)}, now {settings.get(key)}" for key in different[:3])
        more = f" and {len(different) - 3} more" if len(different) > 3 else ""
        raise ValueError(
            f"Expected '{root}' to be empty, absent or a build of the same settings, got one of other settings "
            f"({listed}{more}). Name another edit.out, or delete it."
        )


def _settings(root: Path) -> dict[str, Any]:
    """The settings that `root` was, or was being, built with."""
    try:
        found = (
            read_dataset_yaml(root).built if (root / META).exists() else json.loads((root / MARK).read_text("utf-8"))
        )
        settings = found["settings"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"Expected '{root}' to hold a data set that was built here, got one that does not say how it was built "
            f"({error}). Name another edit.out."
        ) from error
    return dict(settings)


def start(root: Path, settings: Mapping[str, Any]) -> None:
    """Make the folders, and take away what would make an earlier build in `root` look finished."""
    for part in PARTS:
        (root / part).mkdir(parents=True, exist_ok=True)
    write_json(root / MARK, {"settings": dict(settings)})
    for name in (META, RECORDS):
        (root / name).unlink(missing_ok=True)
    for part in (".", *PARTS):
        for leftover in (root / part).glob(TEMPORARY):
            leftover.unlink()


def finish(root: Path, records: Sequence[Record], meta: DatasetMeta) -> None:
    """Write the records, then the file that makes them a data set, then drop the mark of the unfinished build."""
    write_records(root, records)
    write_dataset_yaml(root, meta)
    (root / MARK).unlink()
