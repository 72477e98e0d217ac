"""The output folder: what may be built into it, what of it is done, and how an unfinished build is kept from looking
finished.

`building.json` holds the settings while a build goes on, and `parts/` a file for every finished image. `dataset.yaml`
makes a data set; it is written last, and only then are those two removed. Every file is written whole or not at all, an
image's part after its pictures: a build that is killed goes on where it stopped, and no image is half there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from forensegm.config import EditConfig, plain
from forensegm.datasets.records import (
    DatasetMeta,
    Record,
    read_dataset_yaml,
    write_dataset_yaml,
    write_records,
)
from forensegm.edits.build import Built
from forensegm.edits.outcomes import Outcome
from forensegm.imageio import write_json, write_text_atomic

MARK = "building.json"
META = "dataset.yaml"
RECORDS = "records.jsonl"
PARTS = "parts"
PROBED = "probed.jsonl"
PICTURES = ("images", "masks", "turns", "steps")
AUDIT, CONTACT = "audit.json", "contact.html"
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
    known = (MARK, META, RECORDS, PARTS, PROBED, AUDIT, CONTACT, *PICTURES)
    foreign = [name for name in names if name not in known and not fnmatch(name, TEMPORARY)]
    if foreign or not {MARK, META} & set(names):
        listed = ", ".join((foreign or names)[:5]) + (", ..." if len(foreign or names) > 5 else "")
        raise ValueError(
            f"Expected '{root}' to be empty, absent or a build of the same settings, got other files in it: {listed}. "
            "Name another edit.out, or move them."
        )
    # A build of an earlier version does not know the options that came later: it had their defaults.
    earlier = {
        **{key: value for key, value in plain(EditConfig()).items() if key in settings},
        **_built(root)["settings"],
    }
    different = sorted(key for key in {*earlier, *settings} if earlier.get(key) != settings.get(key))
    if different:
        listed = ", ".join(f"{key} was {earlier.get(key)}, now {settings.get(key)}" for key in different[:3])
        more = f" and {len(different) - 3} more" if len(different) > 3 else ""
        raise ValueError(
            f"Expected '{root}' to be empty, absent or a build of the same settings, got one of other settings "
            f"({listed}{more}). Name another edit.out, or delete it."
        )


def check_same(root: Path, identity: Mapping[str, Any]) -> None:
    """Raise ValueError where the build in `root` had other libraries or photographs: what is new would not fit."""
    if not root.exists() or not any(root.iterdir()):
        return
    earlier = _built(root)
    for key, value in identity.items():
        if earlier.get(key) not in (None, value):
            raise ValueError(
                f"Expected '{root}' to have been built with the same {key}, got {earlier[key]} then, {value} now: its "
                "images would not be those of one build. Delete the folder, or name another edit.out."
            )


def _built(root: Path) -> dict[str, Any]:
    """What `root` says of how it was, or is being, built."""
    try:
        found = (
            read_dataset_yaml(root).built if (root / META).exists() else json.loads((root / MARK).read_text("utf-8"))
        )
        return {**found, "settings": dict(found["settings"])}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"Expected '{root}' to hold a data set that was built here, got one that does not say how it was built "
            f"({error}). Name another edit.out."
        ) from error


def is_finished(root: Path) -> bool:
    """Whether `root` holds a whole data set, and every file that its build wrote."""
    return (root / META).exists() and not (root / MARK).exists()


def start(root: Path, settings: Mapping[str, Any], identity: Mapping[str, Any], *, alone: bool) -> None:
    """Make the folders and the mark. `alone`: nobody else builds into it, so that what a killed process left can go."""
    for part in (PARTS, *PICTURES[:3]):
        (root / part).mkdir(parents=True, exist_ok=True)
    write_json(root / MARK, {"settings": dict(settings), **identity})
    if alone:
        _clear(root)


def _clear(root: Path) -> None:
    for part in (".", PARTS, *PICTURES):
        for leftover in (root / part).glob(TEMPORARY):
            leftover.unlink(missing_ok=True)


def keep(root: Path, built: Iterable[Built]) -> None:
    """Write the part files of finished images, which makes them done."""
    for one in built:
        part = {
            "record": one.record.to_dict(),
            "coverage": one.coverage,
            "editor_ids": list(one.editor_ids),
            "outcomes": [asdict(outcome) for outcome in one.outcomes],
        }
        write_text_atomic(root / PARTS / f"{one.record.id}.json", json.dumps(part, ensure_ascii=False, allow_nan=False))


def done(root: Path) -> set[str]:
    """Ids of the images that are done."""
    return {path.stem for path in (root / PARTS).glob("*.json")}


def read_part(root: Path, name: str) -> Built:
    """Read what `keep` wrote.

    Raises:
        ValueError: the file was changed.
    """
    path = root / PARTS / f"{name}.json"
    try:
        part = json.loads(path.read_text("utf-8"))
        record = Record.from_dict(part["record"], where=str(path))
        outcomes = tuple(Outcome(**{**values, "reasons": tuple(values["reasons"])}) for values in part["outcomes"])
        return Built(record, str(part["coverage"]), tuple(part["editor_ids"]), outcomes)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"Expected a finished image in '{path}', got {error}. Delete it: it is made again.") from error


def forget(root: Path, names: Iterable[str]) -> None:
    """Count images as not done: they are made again."""
    for name in names:
        (root / PARTS / f"{name}.json").unlink(missing_ok=True)


def finish(root: Path, records: Sequence[Record], meta: DatasetMeta) -> None:
    """Write the records, then the file that makes them a data set, then drop what belongs to the unfinished build.

    Several processes may finish at once: they write the same.
    """
    write_records(root, records)
    write_dataset_yaml(root, meta)
    (root / MARK).unlink(missing_ok=True)
    (root / PROBED).unlink(missing_ok=True)
    shutil.rmtree(root / PARTS, ignore_errors=True)
    for part in PICTURES:
        for leftover in (root / part).glob(TEMPORARY):
            leftover.unlink(missing_ok=True)
