"""COCO: photographs with the objects and captions that annotators gave them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forensegm.datasets.coco import read_annotations
from forensegm.edits.sources.photo import KnownObject, Photo


def list_coco(location: str) -> list[Photo]:
    """List the photographs of a COCO instances file, in its order; crowds are no objects to edit.

    Args:
        location: the instances JSON, for example annotations/instances_train2017.json. The photographs lie in a folder
            named after its last word (train2017) beside it or beside its folder, or right beside it. Captions are
            taken from a captions file of the same last word, where there is one.

    Raises:
        FileNotFoundError: no such file, or no folder of photographs.
        ValueError: a file that is not COCO's.
    """
    path = Path(location).expanduser()
    annotations = read_annotations(path)
    folder, licences, captions = _photo_folder(path, annotations.images), _licences(path), read_captions(path)
    photos = []
    for number, image in annotations.images.items():
        objects = tuple(
            KnownObject(annotations.categories[one["category_id"]], one.get("segmentation"))
            for one in annotations.by_image[number]
            if not one.get("iscrowd")
        )
        name = str(image["file_name"])
        licence = licences.get(image.get("license"), "not stated")
        photos.append(
            Photo(name, folder / name, name, licence, objects=objects, captions=tuple(captions.get(number, ())))
        )
    return photos


def read_captions(instances: Path) -> dict[Any, list[str]]:
    """Captions by image id, from the file that belongs to an instances file; empty where there is none."""
    path = instances.with_name(instances.name.replace("instances_", "captions_"))
    if path == instances or not path.is_file():
        return {}
    found: dict[Any, list[str]] = defaultdict(list)
    for one in json.loads(path.read_text("utf-8")).get("annotations", []):
        if isinstance(one, Mapping) and str(one.get("caption", "")).strip():
            found[one.get("image_id")].append(" ".join(str(one["caption"]).split()))
    return found


def _photo_folder(path: Path, images: Mapping[Any, Mapping[str, Any]]) -> Path:
    word = path.stem.rsplit("_", 1)[-1]
    candidates = [path.parent.parent / word, path.parent / word, path.parent.parent / "images" / word, path.parent]
    candidates += [path.parent / "images", path.parent.parent / "images"]
    names = [str(image["file_name"]) for image in images.values()][:20]
    for folder in candidates:
        if any((folder / name).is_file() for name in names):
            return folder
    listed = ", ".join(f"'{folder}'" for folder in candidates[:3])
    raise FileNotFoundError(f"Expected the photographs of '{path}' in one of {listed} or beside it, got none there.")


def _licences(path: Path) -> dict[Any, str]:
    listed = json.loads(path.read_text("utf-8")).get("licenses") or []
    return {one.get("id"): str(one.get("name", "not stated")) for one in listed if isinstance(one, Mapping)}
