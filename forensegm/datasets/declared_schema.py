"""What a `dataset.yaml` for the reader `declared` may say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from forensegm.lookup import unknown_name

MASK_KEYS = ("kind", "values", "threshold", "ignore", "on_mismatch")


@dataclass(frozen=True)
class Part:
    """Images that are declared alike.

    Attributes:
        images: patterns of their paths (see `forensegm.datasets.declared.pattern`).
        mask: template of the mask's path, with the pattern's fields and {stem}, {dir} and {name} of the image;
            "authentic"; or "full" (every pixel is the editor's).
        editor: name of the editor, or a template; empty = the masks name it, or there is only one.
        group: template of the base photograph; empty = every image is its own.
        split: name of a split, or a template; empty = none.
        exclude: patterns of images to leave out.
        shared_masks: whether several images may have one mask.
    """

    images: Sequence[str]
    mask: str
    editor: str = ""
    group: str = ""
    split: str = ""
    exclude: Sequence[str] = ()
    shared_masks: bool = False


@dataclass(frozen=True)
class Declaration:
    """A declared data set.

    Attributes:
        name: of the data set.
        reader: always "declared".
        labels: names of the editors in id order; empty = one unnamed editor.
        mask: kind, values, threshold, ignore and on_mismatch of its masks, see `declare`.
        parts: what its files are.
        names: how fields are translated to names of editors and splits.
        root: where its files are, relative to the declaration.
        format: instead of parts: `reader`, `location` and options of another reader.
        version: of the data set.
        licence: of the data set.
        source: where it comes from.
        checked: whether the layout was compared with the real files.
        unchecked: what could not be checked.
    """

    name: str
    reader: str = "declared"
    labels: Sequence[str] = ()
    mask: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[Part] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    root: str = "."
    format: Mapping[str, Any] | None = None
    version: str = ""
    licence: str = ""
    source: str = ""
    checked: bool = False
    unchecked: str = ""


def read_declaration(path: Path) -> Declaration:
    """Read and check a declaration.

    Raises:
        ValueError: no YAML, an unknown or missing key, or a value of the wrong kind; the error names file and key.
    """
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"Expected YAML in '{path}', got: {' '.join(str(error).split())}.") from error
    checked = _keys(values, Declaration, where=f"'{path}'")
    if checked.get("reader") != "declared":
        raise ValueError(f"Expected reader: declared in '{path}', got {checked.get('reader')!r}.")
    for name in ("labels", "parts"):
        if not isinstance(checked.get(name, []), list):
            raise ValueError(f"Expected {name} of '{path}' to be a list, got {checked[name]!r}.")
    for name in ("mask", "names", "format"):
        if not isinstance(checked.get(name, {}), dict):
            raise ValueError(f"Expected {name} of '{path}' to be keys with values, got {checked[name]!r}.")
    for key in checked.get("mask", {}):
        if key not in MASK_KEYS:
            raise unknown_name(str(key), MASK_KEYS, what=f"key of mask in '{path}'")
    parts = [_part(part, f"part {number} of '{path}'") for number, part in enumerate(checked.get("parts", []), start=1)]
    if bool(parts) == ("format" in checked):
        raise ValueError(f"Expected either parts or format in '{path}', got {'both' if parts else 'neither'}.")
    if "format" in checked and not isinstance(checked["format"].get("reader"), str):
        raise ValueError(f"Expected the name of a reader under format in '{path}', got {checked['format']!r}.")
    names = {str(key): str(value) for key, value in checked.get("names", {}).items()}
    return Declaration(**{**checked, "parts": parts, "names": names})


def _part(value: Any, where: str) -> Part:
    checked = _keys(value, Part, where=where)
    for name in ("images", "exclude"):
        if name in checked:
            given = checked[name]
            checked[name] = [given] if isinstance(given, str) else given
            if not isinstance(checked[name], list) or not all(isinstance(text, str) and text for text in checked[name]):
                raise ValueError(f"Expected {name} of {where} to be a pattern or a list of them, got {given!r}.")
    for name in ("mask", "editor", "group", "split"):
        if not isinstance(checked.get(name, ""), str):
            raise ValueError(f"Expected {name} of {where} to be text, got {checked[name]!r}.")
    if ".." in checked["mask"].split("/"):
        raise ValueError(f"Expected mask of {where} to stay inside the root, got '{checked['mask']}'.")
    return Part(**checked)


def _keys(values: Any, kind: type, *, where: str) -> dict[str, Any]:
    """The keys of a mapping, checked against a dataclass's fields."""
    if not isinstance(values, dict):
        raise ValueError(f"Expected keys with values in {where}, got {type(values).__name__}.")
    known = {part.name: part for part in fields(kind)}
    for key in values:
        if key not in known:
            raise unknown_name(str(key), known, what=f"key in {where}")
    needed = {Part: ("images", "mask"), Declaration: ("name",)}[kind]
    missing = [name for name in needed if name not in values]
    if missing:
        raise ValueError(f"Expected {' and '.join(missing)} in {where}, got none.")
    return dict(values)
