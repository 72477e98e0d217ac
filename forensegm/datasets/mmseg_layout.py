"""Read data sets laid out for mmsegmentation: img_dir/SPLIT and ann_dir/SPLIT, masks of class ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forensegm.datasets.declare import declare
from forensegm.datasets.entries import Entry, EntryDataset
from forensegm.datasets.pairing import list_files, pair_by_key
from forensegm.datasets.storage import FolderStorage
from forensegm.imageio import MaskKind, Mismatch
from forensegm.lookup import unknown_name
from forensegm.sample import IGNORE, LabelSpace


def mmseg(
    location: str | Path,
    *,
    split: str | None = None,
    img_dir: str = "img_dir",
    ann_dir: str = "ann_dir",
    img_suffix: str = "",
    seg_map_suffix: str = ".png",
    ann_file: str | None = None,
    labels: LabelSpace | Sequence[str] | int | None = None,
    mask_kind: MaskKind = "ids",
    editor: str | None = None,
    ignore: int | None = IGNORE,
    reduce_zero_label: bool = False,
    on_mismatch: Mismatch = "error",
    mask_values: Mapping[Any, Any] | None = None,
) -> EntryDataset:
    """mmsegmentation's `BaseSegDataset`, paired by path instead of by suffix arithmetic alone.

    Args:
        location: the folder that holds the others.
        split: sub-folder of both, or with `ann_file` its name less the suffix; None = all sub-folders.
        img_dir: folder of images.
        ann_dir: folder of masks.
        img_suffix: what image names end in, less of which they pair; empty = any image suffix.
        seg_map_suffix: what mask names end in, likewise.
        ann_file: folder, relative to the location, of SPLIT.txt files that list the images of each split, one per
            line without suffix, as mmsegmentation's `ann_file` does.
        labels: editors' names in id order, or their number; class 0 is authentic.
        mask_kind: see `declare`, like the options that follow.
        editor: see there.
        ignore: by default 255, as in mmsegmentation.
        reduce_zero_label: must be False: it would turn authentic pixels into ignored ones.
        on_mismatch: see there.
        mask_values: see there.

    Raises:
        FileNotFoundError: a folder or list is missing.
        ValueError: images without masks, masks that share a key, an unknown split, or reduce_zero_label.
    """
    if reduce_zero_label:
        raise ValueError(
            "Expected reduce_zero_label=False: class 0 is authentic here, and reducing it would ignore every authentic "
            "pixel. If your masks count editors from 0, declare mask_kind=tones with mask_values."
        )
    if mask_values and mask_kind in ("tones", "colours", "palette"):
        ignore = None
    space, spec = declare(
        mask_kind, labels, editor=editor, ignore=ignore, on_mismatch=on_mismatch, mask_values=mask_values
    )
    root = Path(location).expanduser()
    if not root.is_dir():
        raise FileNotFoundError(f"Expected a folder at '{root}', got {'a file' if root.exists() else 'nothing'} there.")
    files, _ = list_files(root, [img_dir, ann_dir])
    images = {path: key for path in files[img_dir] if (key := _key(path, img_dir, img_suffix)) is not None}
    masks = {path: key for path in files[ann_dir] if (key := _key(path, ann_dir, seg_map_suffix)) is not None}
    listed_in = _lists(root, ann_file, set(images.values())) if ann_file is not None else {}
    split_of = {key: listed_in.get(key, "") if listed_in else _first_folder(key) for key in images.values()}
    if listed_in:
        images = {path: key for path, key in images.items() if key in listed_in}
    if split is not None:
        known = {name for name in split_of.values() if name}
        if split not in known:
            raise unknown_name(split, known or {"(none: it names no splits)"}, what=f"split of '{root}'")
        images = {path: key for path, key in images.items() if split_of[key] == split}
        masks = {path: key for path, key in masks.items() if key in set(images.values())}
    pairs, _ = pair_by_key(images, masks, root=root)
    if not pairs:
        raise ValueError(f"Expected images in '{root / img_dir}', got none. Check the folder and the suffix.")
    entries = [Entry(pair.image, pair.image, pair.mask, split=split_of[images[pair.image]]) for pair in pairs]
    entries.sort(key=lambda entry: entry.id)
    return EntryDataset(root.resolve().name, entries, labels=space, spec=spec, storage=FolderStorage(root))


def _key(path: str, folder: str, suffix: str) -> str | None:
    """The path below its folder without the suffix; None where it does not end in the suffix."""
    relative = Path(path).relative_to(folder).as_posix()
    if suffix:
        return relative.removesuffix(suffix) if relative.endswith(suffix) else None
    return Path(relative).with_suffix("").as_posix()


def _first_folder(key: str) -> str:
    return key.split("/", 1)[0] if "/" in key else ""


def _lists(root: Path, ann_file: str, known: set[str]) -> dict[str, str]:
    """The split of each image that the lists name."""
    folder = root / ann_file
    lists = sorted(folder.glob("*.txt"))
    if not lists:
        raise FileNotFoundError(f"Expected lists such as train.txt in '{folder}', got none there.")
    found: dict[str, str] = {}
    for path in lists:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            key = line.strip()
            if not key:
                continue
            if key not in known:
                raise ValueError(f"Expected an image for each line of '{path}', got none for '{key}' (line {number}).")
            if key in found:
                raise ValueError(f"Expected each image in one list, got '{key}' in {found[key]}.txt and '{path.name}'.")
            found[key] = path.stem
    return found
