"""Rows of a table whose cells hold encoded images: what the columns mean, and a sample from one row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from forensegm.datasets.fields import fail
from forensegm.datasets.pairing import listed
from forensegm.datasets.records import DATASET_FILE, read_dataset_yaml
from forensegm.imageio import MaskSpec, read_image_and_info, read_mask
from forensegm.lookup import unknown_name
from forensegm.sample import AUTHENTIC, LabelSpace, Mask, Sample

Progress = Callable[[str, int, int, str], None]
MissingMask = Literal["error", "authentic"]

BY_MASK = "mask"  # the value of `classes` for rows whose mask says where they are edited
SCALARS = (str, int, float, bool)


@dataclass(frozen=True)
class Columns:
    """The columns of a table.

    Attributes:
        image: encoded images.
        mask: encoded masks; None = there are none, and every row is of one class.
        id: unique ids; where the table has none, rows are numbered.
        group: base photographs; where the table has none, every row is its own.
        split_column: splits; where the table has none, the file names say them.
        turns: encoded turn maps, optional.
        record: what else is known of each row, as JSON text, optional.
        label: a class of the whole row, whose meaning `classes` of `RowSpec` gives; None = there is none.
    """

    image: str = "image"
    mask: str | None = "mask"
    id: str | None = "id"
    group: str | None = "group"
    split_column: str | None = "split"
    turns: str | None = "turns"
    record: str | None = "record"
    label: str | None = None

    def check(self, known: Sequence[str], *, where: str | Path) -> Columns:
        """Return the columns that there are; raises ValueError for a missing one that is needed or was named."""
        found: dict[str, str | None] = {}
        for item in fields(self):
            name = getattr(self, item.name)
            optional = item.name not in ("image", "mask") and name == item.default
            if name is not None and name not in known and not optional:
                raise unknown_name(name, known, what=f"column of '{where}' (option {item.name})")
            found[item.name] = name if name in known else None
        return Columns(**found)  # type: ignore[arg-type]

    def small(self) -> list[str]:
        """The columns that are read when a table is opened."""
        return [name for name in (self.id, self.group, self.split_column) if name]

    def large(self) -> list[str]:
        """The columns that are read item by item."""
        return [name for name in (self.image, self.mask, self.turns, self.record, self.label) if name]


@dataclass(frozen=True)
class RowSpec:
    """What the cells of a row mean.

    Attributes:
        columns: their names.
        labels: the label space of the masks.
        mask: what mask values mean.
        missing_mask: what a row without a mask is: an error, or authentic.
        classes: for a table with a label column, what its values mean: "authentic", an editor's name (every pixel is
            its), or "mask" (the mask says). Compared as text, since YAML and JSON keys may be numbers or text.

    Raises:
        ValueError: a class that is none of these.
    """

    columns: Columns
    labels: LabelSpace
    mask: MaskSpec
    missing_mask: MissingMask = "error"
    classes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the declaration."""
        if self.missing_mask not in get_args(MissingMask):
            raise unknown_name(self.missing_mask, get_args(MissingMask), what="meaning of a missing mask")
        object.__setattr__(self, "classes", {str(key): value for key, value in self.classes.items()})
        for value in self.classes.values():
            if value != BY_MASK:
                self.labels.id_of(value)
        if bool(self.columns.label) != bool(self.classes):
            raise ValueError(
                "Expected label (a column) and classes (what its values mean) together, got one of them. Name both."
            )


def read_row(row: Mapping[str, Any], spec: RowSpec, *, id: str, group: str, where: str) -> Sample:
    """Decode one row.

    Args:
        row: cells by column; images as bytes or as {"bytes": ..., "path": ...}.
        spec: what they mean.
        id: of the sample.
        group: of the sample; empty = its own.
        where: file and row, for errors.

    Raises:
        ValueError: an empty cell, a broken image or mask, an undeclared value, or a record that is no JSON.
    """
    columns = spec.columns
    image_name = f"{where}/{columns.image}"
    data = cell_bytes(row[columns.image], image_name)
    if data is None:
        fail(image_name, "an image", "an empty cell")
    image, info = read_image_and_info(data, name=image_name)
    hw = (image.shape[0], image.shape[1])
    codec = {key: value for key, value in asdict(info).items() if key != "hw"}
    mask = _mask(row, spec, hw, where)
    turn_map = None
    if columns.turns and (turns := cell_bytes(row[columns.turns], f"{where}/{columns.turns}")) is not None:
        turn_map = read_mask(turns, MaskSpec("ids"), image_hw=hw, name=f"{where}/{columns.turns}")
    return Sample(id, image, mask, group, turn_map, {"codec": codec, **_meta(row, columns, where)})


def cell_bytes(value: Any, name: str) -> bytes | None:
    """Return the encoded file in a cell, None for an empty one; raises ValueError for a cell of another kind.

    A cell that only names a path is refused: what it names lies outside of the table.
    """
    if isinstance(value, Mapping):
        path, value = value.get("path"), value.get("bytes")
        if value is None and path:
            fail(name, "the bytes of a file", f"only a path, '{path}'")
    if value is not None and not isinstance(value, bytes):
        fail(name, "the bytes of a file", type(value).__name__)
    return value


def numbered(split: str, row: int) -> str:
    """Return the id of a row of a table that has none: its running number within the split.

    >>> numbered("train", 12)
    'train/00000012'
    """
    return f"{split}/{row:08d}" if split else f"{row:08d}"


def check_unique(ids: Sequence[str], *, where: str) -> None:
    """Raise ValueError for an id that stands more than once."""
    doubled = sorted(name for name, count in Counter(ids).items() if count > 1)
    if doubled:
        raise ValueError(
            f"Expected each id of {where} once, got {listed(doubled)} more than once. Name another column as id, or "
            "none (id: null) to number the rows."
        )


def labels_beside(location: str | Path) -> LabelSpace | None:
    """Return the label space that a `dataset.yaml` in the folder, or beside the file, declares; None without one."""
    path = Path(location).expanduser()
    root = path if path.is_dir() else path.parent
    return read_dataset_yaml(root).labels if (root / DATASET_FILE).is_file() else None


def _mask(row: Mapping[str, Any], spec: RowSpec, hw: tuple[int, int], where: str) -> Mask:
    """The mask of the row, or a mask of one class where the row says so."""
    columns = spec.columns
    if columns.label:
        value = str(row[columns.label])
        if value not in spec.classes:
            fail(f"{where}/{columns.label}", f"one of the declared classes {', '.join(spec.classes)}", f"'{value}'")
        if spec.classes[value] != BY_MASK:
            return np.full(hw, spec.labels.id_of(spec.classes[value]), dtype=np.uint8)
    name = f"{where}/{columns.mask}"
    data = cell_bytes(row[columns.mask], name) if columns.mask else None
    if data is not None:
        return read_mask(data, spec.mask, image_hw=hw, name=name)
    if spec.missing_mask == "error":
        fail(name, "a mask (missing_mask: authentic declares rows without one untouched)", "an empty cell")
    return np.full(hw, AUTHENTIC, dtype=np.uint8)


def _meta(row: Mapping[str, Any], columns: Columns, where: str) -> dict[str, Any]:
    """What else is known: the record, and the plain cells of other columns."""
    named = set(columns.large()) | set(columns.small())
    others = {key: value for key, value in row.items() if key not in named and isinstance(value, SCALARS)}
    meta: dict[str, Any] = {"row": others} if others else {}
    text = row.get(columns.record) if columns.record else None
    if not isinstance(text, str):
        return meta
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Expected JSON in {where}/{columns.record}, got: {' '.join(str(error).split())}.") from error
    if not isinstance(record, dict):
        fail(f"{where}/{columns.record}", "keys with values", type(record).__name__)
    return {**record, **meta}
