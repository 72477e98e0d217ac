"""The native data set on disk: `dataset.yaml`, `records.jsonl` (one line per image), and the files they name."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Literal, NoReturn, Self

import yaml

from forensegm.datasets.fields import check_choice, checked, fail
from forensegm.datasets.rle import rle_decode, rle_encode
from forensegm.imageio import write_text_atomic
from forensegm.sample import LabelSpace

__all__ = [
    "DATASET_FILE",
    "RECORDS_FILE",
    "DatasetMeta",
    "Edit",
    "Record",
    "check_inside",
    "read_dataset_yaml",
    "read_records",
    "rle_decode",
    "rle_encode",
    "write_dataset_yaml",
    "write_records",
]

DATASET_FILE = "dataset.yaml"
RECORDS_FILE = "records.jsonl"

EditKind = Literal["add", "remove", "change"]
Composite = Literal["splice", "regenerate"]
Base = Literal["photo", "generated"]


@dataclass
class Edit:
    """One turn of editing.

    Attributes:
        turn: 1, 2, ... in the order of the turns that were made.
        editor: its name in the label space.
        kind: what was asked for: add, remove or change.
        instruction: what was asked for, in words.
        seed: everything the editor drew follows from it.
        parameters: of the editor: plain JSON types.
        composite: splice (only the region was pasted back) or regenerate (the whole frame is the editor's: outside the
            mask, 0 then means not asked to change, not untouched).
        mask: COCO run-length code of the requested region (see `rle_encode`).
        changed_inside: share of the region's pixels that changed, 0..1.
        changed_outside: share of the other pixels that changed, 0..1.
        changed_mask: run-length code of the pixels that changed; None where it was not measured.
        measured: what the audit found beside that, for example ssim_inside, mean_outside, agreement.
    """

    turn: int
    editor: str
    kind: EditKind
    instruction: str
    seed: int
    parameters: dict[str, Any]
    composite: Composite
    mask: dict[str, Any]
    changed_inside: float
    changed_outside: float
    changed_mask: dict[str, Any] | None = None
    measured: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, where: str = "edit") -> Self:
        """Build from a dict as `to_dict` of a record holds it; raises ValueError naming `where` and what is wrong."""
        edit = cls(**checked(cls, values, where))
        check_choice("kind", edit.kind, EditKind, where)
        check_choice("composite", edit.composite, Composite, where)
        return edit


@dataclass
class Record:
    """One image.

    Attributes:
        id: unique in the data set.
        image: its file: posix path relative to the root, inside it.
        mask: its mask file (ids), likewise.
        turns: its turn map, likewise; None where the data set has none.
        split: train, val, test, or any other name.
        group: the base photograph; a split never cuts a group.
        size: height and width in pixels.
        base: whether the edits began from a photo or a generated image.
        codec: true codec, quality and subsampling of the image file.
        source: where the base image is from: name, licence, ...: plain JSON types.
        edits: its turns in order; empty = authentic.
    """

    id: str
    image: str
    mask: str
    turns: str | None
    split: str
    group: str
    size: list[int]
    base: Base
    codec: dict[str, Any]
    source: dict[str, Any]
    edits: list[Edit] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain nested dict of JSON types, the inverse of `from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, where: str = "record") -> Self:
        """Build from a dict; raises ValueError naming `where` for a wrong key, type, choice or path."""
        found = checked(cls, values, where)
        found["edits"] = [Edit.from_dict(edit, where=f"an edit of {where}") for edit in found.get("edits", [])]
        record = cls(**found)
        record.check(where=where)
        return record

    def check(self, *, where: str = "record") -> None:
        """Raise ValueError, naming `where`, for an empty id, a path outside the root or an impossible size or base."""
        if not self.id:
            fail(where, "a non-empty id", "an empty one")
        for name in ("image", "mask", "turns"):
            path = getattr(self, name)
            if path is not None:
                check_inside(path, where=f"{name} of {where}")
        if len(self.size) != 2 or not all(isinstance(side, int) and side > 0 for side in self.size):
            fail(where, "size to be [height, width] in pixels", repr(self.size))
        check_choice("base", self.base, Base, where)


@dataclass
class DatasetMeta:
    """What `dataset.yaml` says.

    Attributes:
        name: of the data set.
        version: of the data set.
        labels: the label space of its masks.
        mask: what mask values mean; native data sets hold ids.
        licence: of the images.
        built: how it was built: plain types.
        counts: how much of what it holds: plain types.
    """

    name: str
    version: str
    labels: LabelSpace
    mask: str
    licence: str
    built: dict[str, Any]
    counts: dict[str, Any]


def check_inside(path: str, *, where: str) -> str:
    """Return a relative posix path that stays inside its root; raise ValueError, naming `where`, for any other."""
    parts = PurePosixPath(path).parts
    if (
        not parts
        or ".." in parts
        or path.startswith("/")
        or "\\" in path
        or "\0" in path
        or PureWindowsPath(path).drive
    ):
        fail(where, "a relative path with /, inside the data set", f"'{path}'")
    return path


def write_dataset_yaml(root: str | Path, meta: DatasetMeta) -> None:
    """Write `dataset.yaml` under `root`, complete or not at all."""
    values = {item.name: getattr(meta, item.name) for item in fields(meta)}
    values["labels"] = list(meta.labels.editors)
    write_text_atomic(Path(root) / DATASET_FILE, yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=120))


def read_dataset_yaml(root: str | Path) -> DatasetMeta:
    """Read `dataset.yaml` under `root`.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is not YAML, or a key is missing, unknown or of a wrong type.
    """
    path = Path(root) / DATASET_FILE
    values = _parse(path, _read(path), yaml.safe_load, yaml.YAMLError)
    labels = values.get("labels")
    if isinstance(labels, list):
        try:
            values = {**values, "labels": LabelSpace(tuple(labels))}
        except ValueError as error:
            raise ValueError(f"{error} It says so in {path}, under labels.") from error
    return DatasetMeta(**checked(DatasetMeta, values, str(path)))


def write_records(root: str | Path, records: Iterable[Record]) -> None:
    """Write `records.jsonl` under `root`, complete or not at all; raises ValueError as `read_records` would."""
    lines, path = [], Path(root) / RECORDS_FILE
    for record in records:
        record.check(where=f"record '{record.id}'")
        lines.append((record.id, json.dumps(record.to_dict(), ensure_ascii=False, allow_nan=False)))
    _check_unique((name for name, _ in lines), path)
    write_text_atomic(path, "".join(f"{line}\n" for _, line in lines))


def read_records(root: str | Path) -> list[Record]:
    """Read `records.jsonl` under `root`, in its order.

    Raises:
        FileNotFoundError: there is none.
        ValueError: a line that is not JSON, a wrong key or type, a path outside the root, or an id used twice; the
            error names file and line.
    """
    path = Path(root) / RECORDS_FILE
    # Not splitlines(): inside JSON it would also cut at U+2028 and the like.
    lines = enumerate(_read(path).split("\n"), start=1)
    records = [
        Record.from_dict(_parse(f"{path}:{number}", line, _load_json, ValueError), where=f"{path}:{number}")
        for number, line in lines
        if line.strip()
    ]
    _check_unique((record.id for record in records), path)
    return records


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"Expected a native data set with {DATASET_FILE} and {RECORDS_FILE}, got no {path}. "
            "Check the path; an unfinished build is finished by running it again."
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(f"Expected UTF-8 text in {path}, got other bytes ({error}).") from error


def _load_json(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _parse(where: str | Path, text: str, load: Any, error_type: type[Exception]) -> dict[str, Any]:
    try:
        values = load(text)
    except (error_type, RecursionError) as error:
        raise ValueError(f"Expected valid text in {where}, got: {' '.join(str(error).split())}.") from error
    if not isinstance(values, dict):
        fail(str(where), "keys with values", type(values).__name__)
    return values


def _check_unique(ids: Iterable[str], path: Path) -> None:
    doubled = sorted(name for name, count in Counter(ids).items() if count > 1)
    if doubled:
        fail(str(path), "each id once", f"{', '.join(doubled[:5])} more than once")
