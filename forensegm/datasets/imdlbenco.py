"""Read data sets in IMDLBenCo's two forms: a JSON list of [image, mask or "Negative"], or a folder with Tp/ and Gt/."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forensegm.datasets.declare import declare
from forensegm.datasets.entries import Entry, EntryDataset
from forensegm.datasets.folder import folder
from forensegm.datasets.manifest import NEGATIVE, parse_json, read_text
from forensegm.datasets.paths import inside
from forensegm.datasets.storage import FolderStorage
from forensegm.imageio import Mismatch
from forensegm.sample import LabelSpace

TAMPERED, TRUTH = "Tp", "Gt"


def imdlbenco(
    location: str | Path,
    *,
    split: str | None = None,
    root: str | Path | None = None,
    labels: LabelSpace | Sequence[str] | int | None = None,
    editor: str | None = None,
    mask_threshold: int | None = None,
    mask_suffix: str = "",
    on_mismatch: Mismatch = "error",
) -> EntryDataset:
    """IMDLBenCo's `JsonDataset` or `ManiDataset`.

    Masks are black and white. IMDLBenCo itself cuts graded ones at 127.5, silently; here mask_threshold=128 does. Its
    folders pair by listing order, ours by name (`mask_suffix` for truths named a_gt.png).

    Args:
        location: the .json file, or the folder with Tp/ and Gt/.
        split: must be None: neither form has splits.
        root: of the JSON form: what relative paths are relative to, and what all must lie in; None = the JSON's folder.
        labels: by default one unnamed editor.
        editor: editor of the masks.
        mask_threshold: value at and above which a graded mask is edited; None = no value between is allowed.
        mask_suffix: of the folder form: what a mask's name has more than its image's.
        on_mismatch: what to do with a mask of another size: error, nearest or crop.

    Raises:
        FileNotFoundError: there is nothing at the location.
        ValueError: another form, a path outside the root, an image listed twice, or a split.
    """
    path = Path(location).expanduser()
    if split is not None:
        raise ValueError(f"Expected no split of '{path}', which names none, got split '{split}'.")
    if path.is_dir():
        return folder(
            path,
            images=TAMPERED,
            masks=TRUTH,
            labels=labels,
            editor=editor,
            mask_threshold=mask_threshold,
            mask_suffix=mask_suffix,
            on_mismatch=on_mismatch,
        )
    if not path.is_file():
        raise FileNotFoundError(f"Expected a JSON list, or a folder with Tp and Gt, at '{path}', got nothing there.")
    space, spec = declare("binary", labels, editor=editor, mask_threshold=mask_threshold, on_mismatch=on_mismatch)
    base = Path(root).expanduser() if root is not None else path.parent
    entries = [_entry(pair, base, f"{path}, row {row}") for row, pair in enumerate(_pairs(path), start=1)]
    return EntryDataset(path.stem, entries, labels=space, spec=spec, storage=FolderStorage(base))


def _pairs(path: Path) -> list[Any]:
    values = parse_json(read_text(path), f"'{path}'")
    if not isinstance(values, list) or not values:
        found = "an empty list" if values == [] else type(values).__name__
        raise ValueError(f"Expected a list of [image, mask or \"Negative\"] in '{path}', got {found}.")
    return values


def _entry(pair: Any, base: Path, where: str) -> Entry:
    if isinstance(pair, Mapping):
        raise ValueError(f"Expected [image, mask] in {where}, got an object. Such a table is of kind manifest.")
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(item, str) and item for item in pair):
        raise ValueError(f'Expected [image, mask or "Negative"] in {where}, got {pair!r}.')
    image = inside(pair[0], base, where=f"the image in {where}")
    if pair[1].lower() == NEGATIVE:
        return Entry(image, image)
    return Entry(image, image, inside(pair[1], base, where=f"the mask in {where}"))
