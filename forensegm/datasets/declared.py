"""Read data sets that a `dataset.yaml` declares: known benchmarks and users' own, without code.

reader: declared
name: casia_v2
labels: [splicing, copy_move]
mask: {kind: binary}
parts:
  - images: Tp/Tp_D_*.{suffix}
    mask: CASIA 2 Groundtruth/{stem}_gt.png
    editor: splicing
  - {images: Au/*, mask: authentic}
"""

from __future__ import annotations

import logging
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from forensegm.datasets.archive import open_storage
from forensegm.datasets.declare import declare
from forensegm.datasets.declared_schema import Declaration, Part, read_declaration
from forensegm.datasets.entries import Entry, EntryDataset, select_split
from forensegm.datasets.pairing import listed
from forensegm.datasets.records import DATASET_FILE
from forensegm.imageio import IMAGE_SUFFIXES
from forensegm.sample import AUTHENTIC_NAME, LabelSpace

logger = logging.getLogger(__name__)

SHIPPED = Path("datasets")  # of the working folder: the repository's declarations
FULL = "full"
FIELD = re.compile(r"\{(\w+)\}")
TOKEN = re.compile(r"\{(\w+)\}|\*\*/|\*\*|\*")


@dataclass(frozen=True)
class Found:
    """One image that a part names: its path, its part, and the fields that the pattern caught."""

    path: str
    part: Part
    fields: Mapping[str, str]


def declared(location: str | Path, *, split: str | None = None, root: str | Path | None = None) -> Any:
    """The data set that a declaration describes.

    Args:
        location: a dataset.yaml, its folder, or the name of a folder in ./datasets that holds one.
        split: name of the split to read; None = all.
        root: folder or zip with the files; None = `root` of the declaration, or the declaration's folder.

    Returns:
        An indexed data set (of the reader that the declaration names under `format`, where it names one).

    Raises:
        FileNotFoundError: no declaration, or no files at the root.
        ValueError: a declaration that does not hold together, images without their masks, images that two parts name,
            or an unknown split.
    """
    path = find_declaration(location)
    declaration = read_declaration(path)
    place = Path(root).expanduser() if root is not None else path.parent / declaration.root
    if declaration.format is not None:
        return _delegated(declaration, place, split=split)
    labels, spec = declare(
        declaration.mask.get("kind", "binary"),
        LabelSpace(tuple(declaration.labels)) if declaration.labels else None,
        editor=declaration.labels[0]
        if declaration.labels and declaration.mask.get("kind", "binary") == "binary"
        else None,
        ignore=declaration.mask.get("ignore"),
        on_mismatch=declaration.mask.get("on_mismatch", "error"),
        mask_values=declaration.mask.get("values"),
        mask_threshold=declaration.mask.get("threshold"),
    )
    storage = open_storage(place)
    names = storage.names()
    found = list(match_parts(declaration.parts, names, where=path))
    entries = _entries(found, declaration, labels, names, where=path)
    if not entries:
        raise ValueError(
            f"Expected files that the parts of '{path}' name in '{place}', got none of {len(names)}. Set root to the "
            f"folder that holds, for example, {declaration.parts[0].images[0]}."
        )
    return EntryDataset(
        declaration.name,
        select_split(entries, split, where=f"'{path}'"),
        labels=labels,
        spec=spec,
        storage=storage,
    )


def find_declaration(location: str | Path) -> Path:
    """Return the dataset.yaml that a location means; raises FileNotFoundError naming where it was looked for."""
    path = Path(location).expanduser()
    tried = [path, path / DATASET_FILE, SHIPPED / path / DATASET_FILE]
    for one in tried:
        if one.is_file():
            return one
    raise FileNotFoundError(f"Expected a declaration at one of {', '.join(map(str, tried))}, got none. Check the path.")


def is_declared(folder: Path) -> bool:
    """Whether a folder holds a declaration for this reader (and no native data set)."""
    try:
        return bool(
            re.search(r"^reader:\s*declared\s*$", (folder / DATASET_FILE).read_text(encoding="utf-8"), re.MULTILINE)
        )
    except (OSError, UnicodeDecodeError):
        return False


def pattern(text: str) -> re.Pattern[str]:
    """Compile a path pattern: * stands for a name's part, ** for any folders, {field} for a part that is caught.

    >>> pattern("Tp/{scene}_*.jpg").fullmatch("Tp/a_b_c.JPG")["scene"]
    'a'
    """
    parts, at, seen = [], 0, set()
    for token in TOKEN.finditer(text):
        parts.append(re.escape(text[at : token.start()]))
        name = token[1]
        if name is not None:
            parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>[^/]+?)")
            seen.add(name)
        else:
            parts.append({"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}[token[0]])
        at = token.end()
    return re.compile("".join(parts) + re.escape(text[at:]), re.IGNORECASE)


def fill(template: str, fields: Mapping[str, str], *, where: str) -> str:
    """Fill {field} in a template; raises ValueError for a field that the pattern does not catch."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in fields:
            raise ValueError(f"Expected a known field in {where}, got '{{{match[1]}}}'. Known: {', '.join(fields)}.")
        return fields[match[1]]

    return FIELD.sub(value, template)


def match_parts(parts: Sequence[Part], names: Sequence[str], *, where: Path) -> Iterator[Found]:
    """Yield the images of every part; raises ValueError for images that two parts name."""
    images = [name for name in names if PurePosixPath(name).suffix.lower() in IMAGE_SUFFIXES]
    taken: dict[str, int] = {}
    twice = []
    for number, part in enumerate(parts):
        wanted = [pattern(text) for text in part.images]
        unwanted = [pattern(text) for text in part.exclude]
        for name in images:
            match = next((found for one in wanted if (found := one.fullmatch(name))), None)
            if match is None or any(one.fullmatch(name) for one in unwanted):
                continue
            if taken.setdefault(name, number) != number:
                twice.append(name)
                continue
            path = PurePosixPath(name)
            yield Found(
                name, part, {**match.groupdict(), "stem": path.stem, "dir": path.parent.as_posix(), "name": path.name}
            )
    if twice:
        raise ValueError(
            f"Expected each image in one part of '{where}', got two for {listed(twice)}. Exclude them in one."
        )


def _entries(
    found: Sequence[Found], declaration: Declaration, labels: LabelSpace, names: Sequence[str], *, where: Path
) -> list[Entry]:
    known = set(names)
    entries, lost = [], []
    used: dict[str, str] = {}
    for one in found:
        part, place = one.part, f"'{where}'"
        editor = _editor(one, declaration, labels, where=place)
        mask = None
        if part.mask not in (AUTHENTIC_NAME, FULL):
            mask = _mask(posixpath.normpath(fill(part.mask, one.fields, where=place)), known)
            if mask is None:
                lost.append(one.path)
                continue
            if not part.shared_masks and used.setdefault(mask, one.path) != one.path:
                raise ValueError(
                    f"Expected one image per mask in {place}, got '{used[mask]}' and '{one.path}' with '{mask}'. Say "
                    "shared_masks: true in the part if that is meant."
                )
        entries.append(
            Entry(
                one.path,
                one.path,
                mask,
                whole=(editor or 1) if part.mask == FULL else 0,
                editor=editor if mask is not None else None,
                group=fill(part.group, one.fields, where=place),
                split=_named(fill(part.split, one.fields, where=place), declaration),
            )
        )
    if lost:
        raise ValueError(
            f"Expected a mask for every image that '{where}' pairs with one, got none for {len(lost)}: {listed(lost)}. "
            "Add the masks, or exclude the images."
        )
    return sorted(entries, key=lambda entry: entry.id)


def _editor(one: Found, declaration: Declaration, labels: LabelSpace, *, where: str) -> int | None:
    """The id of the editor that the part names for an image; None where the masks name it."""
    if not one.part.editor:
        several = len(labels.editors) > 1 and one.part.mask != AUTHENTIC_NAME
        if several and (one.part.mask == FULL or declaration.mask.get("kind", "binary") == "binary"):
            raise ValueError(
                f"Expected the editor of part {one.part.images[0]} in {where}, one of {', '.join(labels.editors)}, got "
                "none."
            )
        return None
    name = _named(fill(one.part.editor, one.fields, where=where), declaration)
    if name not in labels.editors:
        raise ValueError(
            f"Expected the editor of '{one.path}' to be one of {', '.join(labels.editors)}, got '{name}'. Add it to "
            f"labels in {where}, or translate it under names."
        )
    return labels.id_of(name)


def _named(text: str, declaration: Declaration) -> str:
    """A text as `names` translates it."""
    return str(declaration.names.get(text, text))


def _mask(template: str, known: set[str]) -> str | None:
    """The mask's name: as it stands, or the only one that a pattern with * fits."""
    if "*" not in template:
        return template if template in known else None
    wanted = pattern(template.replace("{", "").replace("}", ""))
    fitting = [name for name in known if wanted.fullmatch(name)]
    return fitting[0] if len(fitting) == 1 else None


def _delegated(declaration: Declaration, place: Path, *, split: str | None) -> Any:
    """Open the data set with another reader of the table."""
    from forensegm.datasets import open_dataset

    given = dict(declaration.format or {})
    kind, location = given.pop("reader"), given.pop("location", "")
    source = location if kind == "hub" else str(place / location) if location else str(place)
    if declaration.labels:
        given.setdefault("labels", list(declaration.labels))
    return open_dataset(f"{kind}:{source}", split=split, **given)
