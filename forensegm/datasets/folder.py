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
    """Images with their masks, or declared authentic; made by `folder`. Its ids are image paths relative to the root.

    Args:
        root: what the paths are relative to.
        pairs: the items.
        labels: the label space of the masks.
        spec: what mask values mean.
        orphan_masks: mask files that belong to no image.
        ignored: files that are no images.
        split: name of the split that the pairs are.
    """

    def __init__(
        self,
        root: Path,
        pairs: Sequence[Pair],
        *,
        labels: LabelSpace,
        spec: MaskSpec,
        orphan_masks: Sequence[str] = (),
        ignored: Sequence[str] = (),
        split: str = "",
    ) -> None:
        """Keep the pairs; the files are read item by item."""
        entries = [Entry(pair.image, pair.image, pair.mask, split=split) for pair in pairs]
        super().__init__(root.resolve().name, entries, labels=labels, spec=spec, storage=FolderStorage(root))
        self.orphan_masks, self.ignored = list(orphan_masks), list(ignored)


def folder(
    location: str | Path,
    *,
    split: str | None = None,
    images: str = "images",
    masks: str = "masks",
    authentic: str | Sequence[str] | None = None,
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

    Every image needs a mask of its own, unless it lies in a folder declared authentic. Masks without an image and
    files that are no images are logged and kept as attributes. Names are compared as Unicode NFC.

    Args:
        location: the folder that holds the others.
        split: name of a sub-folder of `location` to look in instead; None = `location` itself.
        images: folder of edited images, searched with its sub-folders.
        masks: folder of masks, likewise.
        authentic: folder, or folders, of images without masks; all of their pixels are authentic.
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
    untouched = [authentic] if isinstance(authentic, str) else list(authentic or [])
    files, ignored = list_files(root, [images, masks, *untouched])
    together = PurePath(images) == PurePath(masks)
    if together and not mask_suffix:
        raise ValueError(f"Expected mask_suffix to tell masks from images, both in '{images}', got none.")
    mask_files = {path: key_of(path, masks) for path in files[masks]}
    fitting = {path: key.removesuffix(mask_suffix) for path, key in mask_files.items() if key.endswith(mask_suffix)}
    image_files = {path: key_of(path, images) for path in files[images] if not (together and path in fitting)}
    pairs, orphans = pair_by_key(image_files, fitting, root=root)
    if not together:
        orphans += [path for path in mask_files if path not in fitting]
    pairs += [Pair(path, None) for name in untouched for path in files[name]]
    if not pairs:
        raise ValueError(f"Expected images in '{root / images}', got none. Check the folder names.")
    if orphans:
        logger.warning("Left out %d masks without an image in '%s': %s.", len(orphans), root, listed(orphans))
    if ignored:
        logger.info("Left out %d files that are no images in '%s': %s.", len(ignored), root, listed(ignored))
    pairs.sort(key=lambda pair: pair.image)
    return FolderDataset(
        root, pairs, labels=space, spec=spec, orphan_masks=sorted(orphans), ignored=ignored, split=split or ""
    )


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
