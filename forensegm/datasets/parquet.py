"""Read Parquet files whose columns hold encoded images and masks, as the hub serves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forensegm.datasets.declare import declare
from forensegm.datasets.parquet_files import ParquetDataset, ParquetFiles
from forensegm.datasets.rows import Columns, MissingMask, RowSpec, labels_beside
from forensegm.datasets.split_names import split_of_part
from forensegm.imageio import MaskKind, Mismatch
from forensegm.sample import IGNORE, LabelSpace

__all__ = ["ParquetDataset", "find_parquet", "list_parquet", "parquet", "split_of"]

SUFFIX = ".parquet"


def parquet(
    location: str | Path,
    *,
    split: str | None = None,
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
    split_column: str | None = "split",
    turns: str | None = "turns",
    record: str | None = "record",
) -> ParquetDataset:
    """Rows of Parquet files, as the Hugging Face hub serves them and as `forensegm data convert` writes them.

    Images are columns of bytes, or of structs with bytes and path. Splits are a column, or what the files are called
    (train-00000-of-00010.parquet, or default/train/0000.parquet).

    Args:
        location: a file, a folder that is searched with its sub-folders, or a pattern such as data/train-*.parquet.
        split: name of the split to read; None = all.
        image: column of images.
        mask: column of masks; None = there is none, and `label` says what each row is.
        mask_kind: what mask values mean, see `declare`.
        labels: label space, names of the editors or their number; by default what the file itself, or a dataset.yaml
            beside it, says.
        editor: name of the editor of a binary mask.
        ignore: mask value of pixels to leave out.
        on_mismatch: what to do with a mask of another size: error, nearest or crop.
        mask_values: file value to class, see `declare`.
        mask_threshold: see `declare`.
        missing_mask: what a row with an empty mask is: an error, or authentic.
        label: column that says what the whole row is, see `classes`.
        classes: value of `label` to "authentic", an editor's name (every pixel is its) or "mask" (the mask says).
        id: column of ids; None or missing = split and running number.
        group: column of base photographs; None or missing = every row is its own.
        split_column: column of splits; None or missing = what the files are called.
        turns: column of turn maps; None or missing = there are none.
        record: column of JSON records, which become the samples' meta; None or missing = there are none.

    Raises:
        FileNotFoundError: there is nothing at the location.
        ValueError: no Parquet files, a broken one, a missing column, an id used twice, an unknown split or a wrong
            declaration.
        RuntimeError: the extra `hub` is not installed.
    """
    paths = find_parquet(location)
    files = ParquetFiles(paths)
    if labels is None and mask_kind == "ids":
        labels = files.labels or labels_beside(location)
        ignore = IGNORE if ignore is None and labels is not None else ignore  # as our own masks have it
    options: dict[str, Any] = {"mask_values": mask_values, "mask_threshold": mask_threshold}
    space, meaning = declare(mask_kind, labels, editor=editor, ignore=ignore, on_mismatch=on_mismatch, **options)
    wanted = Columns(image, mask, id, group, split_column, turns, record, label)
    columns = wanted.check(files.columns, where=paths[0])
    spec = RowSpec(columns, space, meaning, missing_mask, classes or {})
    return ParquetDataset(files, spec, split=split, file_splits=[split_of(path) for path in paths])


def find_parquet(location: str | Path) -> list[Path]:
    """Return the Parquet files at a location (see `parquet`), sorted; raises FileNotFoundError or ValueError."""
    path = Path(location).expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        found = list_parquet(path)
    else:
        found = sorted(path.parent.glob(path.name)) if any(sign in path.name for sign in "*?[") else []
        if not found:
            raise FileNotFoundError(f"Expected Parquet files at '{path}', got nothing there. Check the path.")
    if not found:
        raise ValueError(f"Expected files that end in {SUFFIX} in '{path}', got none. Name another reader or folder.")
    return found


def list_parquet(folder: Path) -> list[Path]:
    """Return the Parquet files below a folder, sorted."""
    return sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file() and not path.name.startswith("."))


def split_of(path: Path) -> str:
    """Return the split that the name of a Parquet file says, or "".

    >>> split_of(Path("data/train-00000-of-00010.parquet")), split_of(Path("default/test/0000.parquet"))
    ('train', 'test')
    """
    return path.parent.name if path.stem.isdigit() else split_of_part(path.stem)
