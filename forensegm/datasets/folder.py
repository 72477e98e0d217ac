"""Read images and masks that lie in two parallel folder trees."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from forensegm.datasets.declare import declare
from forensegm.datasets.entries import Entry, EntryDataset
from forensegm.datasets.pairing import Pair, key_of, list_files, listed, pair_by_key
from forensegm.datasets.storage import FolderStorage
from forensegm.imageio import MaskKind, MaskSpec, Mismatch
from forensegm.lookup import unknown_name
from forensegm.sample import LabelSpace

logger = logging.getLogger(__name__)


class FolderDataset(EntryDataset):
    """Images with their masks, or of one class; made by `folder`. Its ids are image paths relative to the root.

    Args:
        root: what the paths are relative to.
        entries: the items.
        labels: the label space of the masks.
        spec: what mask values mean.
        orphan_masks: mask files that belong to no image.
        ignored: files that are no images.
    """

    def __init__(
        self,
        root: Path,
        entries: Sequence[Entry],
        *,
        labels: LabelSpace,
        spec: MaskSpec,
        orphan_masks: Sequence[str] = (),
        ignored: Sequence[str] = (),
    ) -> None:
        """Keep the entries; the files are read item by item."""
        super().__init__(root.resolve().name, entries, labels=labels, spec=spec, storage=FolderStorage(root))
        self.orphan_masks, self.ignored = list(orphan_masks), list(ignored)


def folder(
    location: str | Path,
    *,
    split: str | None = None,
    images: str | None = "images",
    masks: str = "masks",
    authentic: str | Sequence[str] | None = None,
    generated: str | Sequence[str] | Mapping[str, str] | None = None,
    mask_kind: MaskKind = "binary",
    labels: LabelSpace | Sequence[str] | int | None = None,
    editor: str | None = None,
    ignore: int | None = None,
    on_mismatch: Mismatch = "error",
    mask_values: Mapping[Any, Any] | None = None,
    mask_threshold: int | None = None,
    mask_suffix: str = "",
) -> FolderDataset:
    """Images and masks in parallel folders, paired by their path less its last suffix.

    Every image needs a mask of its own, unless it lies in a folder declared authentic or generated. Masks without an
    image and files that are no images are logged and kept as attributes. Names are compared as Unicode NFC.

    Args:
        location: the folder that holds the others.
        split: name of a sub-folder of `location` to look in instead; None = `location` itself.
        images: folder of edited images, searched with its sub-folders; None = there are none with masks.
        masks: folder of masks, likewise.
        authentic: folder, or folders, of images without masks; all of their pixels are authentic.
        generated: folder, or folders, of images without masks; all of their pixels are edited. A mapping names the
            editor of each folder; without, it is that of the binary masks.
        mask_kind: binary (0; 1 or 255), ids (0, 1..K), tones, colours or palette; see `declare`.
        labels: label space, names of the editors or their number; needed for ids, by default one unnamed editor.
        editor: name of the editor of a binary mask; by default the only one of `labels`.
        ignore: mask value of pixels to leave out.
        on_mismatch: what to do with a mask of another size: error, nearest or crop.
        mask_values: class of each file value, for tones, colours and palette; see `declare`.
        mask_threshold: value at and above which a graded binary mask is edited; None = no value between is allowed.
        mask_suffix: what a mask's name has more than its image's, before the suffix, for example "_gt".

    Raises:
        FileNotFoundError: a folder is missing.
        ValueError: several images or masks of one key, images without a mask, no images, or a wrong declaration.
    """
    space, spec = declare(
        mask_kind,
        labels,
        editor=editor,
        ignore=ignore,
        on_mismatch=on_mismatch,
        mask_values=mask_values,
        mask_threshold=mask_threshold,
    )
    root = find_root(location, split)
    editor_of = {name: labels_editor(space, spec, own) for name, own in _folders(generated).items()}
    whole = {**dict.fromkeys(_folders(authentic), 0), **editor_of}
    files, ignored = list_files(root, [*([images, masks] if images is not None else []), *whole])
    entries: list[Entry] = []
    orphans: list[str] = []
    if images is not None:
        pairs, orphans = _pair(files, images, masks, mask_suffix, root=root)
        entries = [Entry(pair.image, pair.image, pair.mask, split=split or "") for pair in pairs]
    for name, value in whole.items():
        entries += [Entry(path, path, whole=value, split=split or "") for path in files[name]]
    if not entries:
        raise ValueError(f"Expected images in '{root / (images or '')}', got none. Check the folder names.")
    if orphans:
        logger.warning("Left out %d masks without an image in '%s': %s.", len(orphans), root, listed(orphans))
    if ignored:
        logger.info("Left out %d files that are no images in '%s': %s.", len(ignored), root, listed(ignored))
    entries.sort(key=lambda entry: entry.image)
    return FolderDataset(root, entries, labels=space, spec=spec, orphan_masks=sorted(orphans), ignored=ignored)


def labels_editor(labels: LabelSpace, spec: MaskSpec, editor: str | None) -> int:
    """Return the id of the editor of images that are edited everywhere."""
    if editor is not None:
        return labels.id_of(editor)
    if spec.kind != "binary" and len(labels.editors) > 1:
        raise ValueError(f"Expected the editor of each generated folder, one of {', '.join(labels.editors)}, got none.")
    return spec.editor


def _folders(names: str | Sequence[str] | Mapping[str, str] | None) -> dict[str, str | None]:
    """Folders, and the editor of each where one is named."""
    if isinstance(names, Mapping):
        return dict(names)
    return dict.fromkeys([names] if isinstance(names, str) else names or [])


def _pair(
    files: Mapping[str, list[str]], images: str, masks: str, mask_suffix: str, *, root: Path
) -> tuple[list[Pair], list[str]]:
    """Pairs of image and mask, and masks that belong to no image."""
    together = PurePath(images) == PurePath(masks)
    if together and not mask_suffix:
        raise ValueError(f"Expected mask_suffix to tell masks from images, both in '{images}', got none.")
    mask_files = {path: key_of(path, masks) for path in files[masks]}
    fitting = {path: key.removesuffix(mask_suffix) for path, key in mask_files.items() if key.endswith(mask_suffix)}
    image_files = {path: key_of(path, images) for path in files[images] if not (together and path in fitting)}
    pairs, orphans = pair_by_key(image_files, fitting, root=root)
    return pairs, orphans if together else [*orphans, *(path for path in mask_files if path not in fitting)]


def find_root(location: str | Path, split: str | None) -> Path:
    """Return the folder to look in; raises FileNotFoundError where it, or the split in it, is missing."""
    root = Path(location).expanduser()
    if not root.is_dir():
        raise FileNotFoundError(f"Expected a folder at '{root}', got {'a file' if root.exists() else 'nothing'} there.")
    if split is None:
        return root
    if not (root / split).is_dir() or PurePath(split).name != split:
        known = [path.name for path in root.iterdir() if path.is_dir()]
        raise unknown_name(split, known, what=f"split, a sub-folder of '{root}'")
    return root / split
