"""What a writer gets: one item at a time, with the bytes of its image file and everything that is known about it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from PIL import Image as PillowImage

from forensegm.datasets.protocol import Dataset
from forensegm.datasets.records import Record
from forensegm.imageio import ImageInfo, encode_image, read_image_info
from forensegm.sample import AUTHENTIC, IGNORE, LabelSpace, Mask, Sample

# True codecs to suffixes; what is none of these is saved anew.
SUFFIXES = {
    "PNG": ".png",
    "JPEG": ".jpg",
    "MPO": ".jpg",
    "WEBP": ".webp",
    "TIFF": ".tif",
    "BMP": ".bmp",
    "GIF": ".gif",
    "AVIF": ".avif",
    "JPEG2000": ".jp2",
    "PPM": ".ppm",
}
RECORD_KEYS = frozenset(part.name for part in fields(Record))


@dataclass(frozen=True)
class Target:
    """Where a writer writes, and what holds for all items.

    Attributes:
        root: the folder, which exists and is empty.
        name: of the data set.
        labels: its label space.
        splits: of all items, unreadable ones included; empty where it knows none.
        binary: whether editors may be folded into one.
    """

    root: Path
    name: str
    labels: LabelSpace
    splits: tuple[str, ...]
    binary: bool


@dataclass(frozen=True, eq=False)
class Packed:
    """One item.

    Attributes:
        number: of the item in the data set, which names its files: ids may be no file names.
        data: its image file.
        suffix: of the image file, by its content, with the dot.
        mask: uint8 HxW.
        turn_map: uint8 HxW, or None.
        record: everything else; its paths are those of the native form.
        reencoded: whether the source had no file, so that the pixels were saved as PNG.
    """

    number: int
    data: bytes
    suffix: str
    mask: Mask
    turn_map: Mask | None
    record: Record
    reencoded: bool = False

    @property
    def split(self) -> str:
        """Its split as a name of files and folders; "all" where it has none."""
        return "".join(char if char.isalnum() or char in "-_" else "_" for char in self.record.split) or "all"

    @property
    def stem(self) -> str:
        """What its files are called, without suffix."""
        return f"{self.number:06d}"


def pack(dataset: Dataset, index: int) -> Packed:
    """Read one item of a data set; raises ValueError or OSError as reading it does."""
    sample = dataset[index]
    encoded = getattr(dataset, "encoded_image", None)
    data = encoded(index) if encoded is not None else encode_image(sample.image, "png")
    info = read_image_info(data, name=sample.id)
    reencoded = encoded is None or info.codec not in SUFFIXES
    if reencoded:
        data = encode_image(sample.image, "png")
        info = read_image_info(data, name=sample.id)
    splits = getattr(dataset, "splits", None)
    suffix = SUFFIXES[info.codec]
    record = make_record(sample, f"{index:06d}", suffix, info, dataset.name, split=splits[index] if splits else "")
    return Packed(index, data, suffix, sample.mask, sample.turn_map, record, reencoded)


def make_record(sample: Sample, stem: str, suffix: str, info: ImageInfo, name: str, *, split: str) -> Record:
    """Return the record of a sample: its own where it has one, with the paths of the new files."""
    own = {key: value for key, value in sample.meta.items() if key in RECORD_KEYS}
    others = {key: value for key, value in sample.meta.items() if key not in RECORD_KEYS}
    codec = {"codec": info.codec, "quality": info.quality, "subsampling": info.subsampling}
    source = own.get("source")
    values = {
        "base": own.get("base", "photo"),
        "edits": own.get("edits", []),
        "source": {**(source if isinstance(source, Mapping) else {"dataset": name}), **others},
        "id": sample.id,
        "image": f"images/{stem}{suffix}",
        "mask": f"masks/{stem}.png",
        "turns": None if sample.turn_map is None else f"turns/{stem}.png",
        "split": split,
        "group": sample.group,
        "size": [int(side) for side in sample.image.shape[:2]],
        "codec": own["codec"] if isinstance(own.get("codec"), Mapping) and own["codec"] else codec,
    }
    return Record.from_dict(values, where=f"the record of '{sample.id}'")


def mask_png(mask: Mask) -> bytes:
    """Encode a mask as grey PNG."""
    buffer = io.BytesIO()
    PillowImage.fromarray(mask).save(buffer, "PNG")
    return buffer.getvalue()


def write_file(path: Path, data: bytes) -> None:
    """Write a file, and the folder that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def two_valued(packed: Packed, target: Target) -> Mask:
    """Return the mask as 0 and 255, for forms that know no more.

    Raises:
        ValueError: several editors, unless the target says that they may be folded, or ignored pixels.
    """
    if (packed.mask == IGNORE).any():
        raise ValueError(
            f"Expected no ignored pixels in '{packed.record.id}', got some: this form has no value for them. "
            "Convert to native, shards, parquet, coco or mmseg."
        )
    if len(target.labels.editors) > 1 and not target.binary:
        raise ValueError(
            f"Expected one editor, got {len(target.labels.editors)}: this form knows only edited and authentic. Allow "
            "it with binary=True (--binary), or convert to native, shards, parquet, coco or mmseg."
        )
    return np.where(packed.mask == AUTHENTIC, 0, 255).astype(np.uint8)
