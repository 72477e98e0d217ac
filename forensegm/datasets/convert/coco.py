"""Write COCO instances: one annotation per editor and image, in COCO's run-length code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from forensegm.datasets.coco import KEY
from forensegm.datasets.convert.source import Packed, Target, write_file
from forensegm.datasets.rle import rle_encode
from forensegm.imageio import write_json
from forensegm.sample import AUTHENTIC, IGNORE

FILE = "instances.json"


def write_coco(items: Iterator[Packed], target: Target) -> None:
    """Write images/ and instances.json. Categories are the editors, in id order; ignored pixels are crowd regions.

    Turn maps have no place in COCO and are left out; the records keep the region of every turn.
    """
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for packed in items:
        name = f"images/{packed.stem}{packed.suffix}"
        write_file(target.root / name, packed.data)
        height, width = packed.mask.shape
        image_id = len(images) + 1
        record = {**packed.record.to_dict(), "turns": None}
        images.append({"id": image_id, "file_name": name, "height": height, "width": width, KEY: record})
        for value in np.unique(packed.mask).tolist():
            if value != AUTHENTIC:
                annotations.append(_annotation(packed, value, len(annotations) + 1, image_id))
    categories = [{"id": number, "name": name} for number, name in enumerate(target.labels.editors, start=1)]
    values = {
        "info": {"description": target.name},
        "images": images,
        "annotations": annotations,
        "categories": categories,
    }
    write_json(target.root / FILE, values)


def _annotation(packed: Packed, value: int, number: int, image_id: int) -> dict[str, Any]:
    region = packed.mask == value
    rows, columns = np.flatnonzero(region.any(axis=1)), np.flatnonzero(region.any(axis=0))
    left, top = int(columns[0]), int(rows[0])
    return {
        "id": number,
        "image_id": image_id,
        "category_id": 1 if value == IGNORE else value,
        "iscrowd": int(value == IGNORE),
        "area": int(region.sum()),
        "bbox": [left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1],
        "segmentation": rle_encode(region),
    }
