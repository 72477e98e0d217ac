"""Read COCO instance annotations: as masks of class ids, and as regions for the edit builder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as library

from forensegm.datasets.entries import Entry, EntryDataset, select_split
from forensegm.datasets.manifest import parse_json, read_text
from forensegm.datasets.paths import inside
from forensegm.datasets.storage import FolderStorage
from forensegm.imageio import MaskSpec
from forensegm.lookup import unknown_name
from forensegm.sample import IGNORE, LabelSpace, Mask

KEY = "forensegm"  # of an image: what `forensegm data convert` knew of it beside COCO's own keys
IMAGE_ID = "coco_image_id"
Crowd = Literal["ignore", "edited"]
Region = NDArray[np.bool_]


@dataclass(frozen=True)
class Annotations:
    """What an instances file says, checked.

    Attributes:
        path: the file.
        images: image dicts by id, in the file's order.
        by_image: annotation dicts of each image id, in the file's order.
        categories: name of each category id, ascending.
    """

    path: Path
    images: dict[Any, Mapping[str, Any]]
    by_image: dict[Any, list[Mapping[str, Any]]]
    categories: dict[int, str]


class CocoDataset(EntryDataset):
    """Images whose masks are drawn from annotations; made by `coco`."""

    def __init__(self, annotations: Annotations, entries: Sequence[Entry], *, crowd: Crowd, **parts: Any) -> None:
        """Keep the annotations."""
        super().__init__(annotations.path.stem, entries, **parts)
        self.annotations, self.crowd = annotations, crowd
        self._class = {category: number for number, category in enumerate(annotations.categories, start=1)}

    def read_mask(self, entry: Entry, image_hw: tuple[int, int]) -> Mask:
        """Draw the annotations of an image; a later one wins where two overlap, crowds come first."""
        drawn = sorted(self.annotations.by_image[entry.meta[IMAGE_ID]], key=lambda one: not one.get("iscrowd"))
        mask = np.zeros(image_hw, dtype=np.uint8)
        for annotation in drawn:
            ignored = bool(annotation.get("iscrowd")) and self.crowd == "ignore"
            region = decode_region(annotation, image_hw, where=where_of(annotation, self.annotations.path))
            mask[region] = IGNORE if ignored else self._class[annotation["category_id"]]
        return mask


def coco(
    location: str | Path,
    *,
    split: str | None = None,
    images: str | Path | None = None,
    labels: Sequence[str] | None = None,
    crowd: Crowd = "ignore",
) -> CocoDataset:
    """COCO instances as masks: each category is an editor, dense ids by ascending category id; no category is 0.

    Images without annotations stay, as authentic. Where instances overlap, the later annotation wins; crowd regions
    are drawn first. Run lengths as list, text or bytes are the same mask.

    Args:
        location: the instances JSON.
        split: name of the split to read, where `forensegm data convert` wrote the file; else None: a file is one split.
        images: folder of the images; None = the JSON's folder.
        labels: names of the categories that are read, in this order as ids 1..K; None = all, by category id.
        crowd: what crowd regions are: ignore (255) or edited, like others.

    Raises:
        FileNotFoundError: no such file or folder.
        ValueError: no COCO JSON, an unknown category or image id, a path outside the folder, or a split. A region that
            does not fit its image raises when it is read, naming the annotation.
    """
    if crowd not in get_args(Crowd):
        raise unknown_name(crowd, get_args(Crowd), what="way to read crowd regions")
    annotations = read_annotations(location)
    if labels is not None:
        annotations = chosen(annotations, labels)
    if not annotations.categories:
        raise ValueError(f"Expected categories in '{annotations.path}', got none: they are the editors.")
    space = LabelSpace(tuple(annotations.categories.values()))
    base = Path(images).expanduser() if images is not None else annotations.path.parent
    entries = []
    for image_id, image in annotations.images.items():
        name = inside(image["file_name"], base, where=f"file_name of image {image_id} in '{annotations.path}'")
        own = image.get(KEY)
        record = own if isinstance(own, Mapping) else {}
        entries.append(
            Entry(
                str(record.get("id") or name),
                name,
                group=str(record.get("group") or ""),
                split=str(record.get("split") or ""),
                meta={**{key: record[key] for key in ("edits", "base", "source") if key in record}, IMAGE_ID: image_id},
            )
        )
    entries = select_split(entries, split, where=f"'{annotations.path}'")
    spec = MaskSpec("ids", space.num_classes, IGNORE)
    return CocoDataset(annotations, entries, crowd=crowd, labels=space, spec=spec, storage=FolderStorage(base))


def coco_regions(location: str | Path, *, crowd: bool = False) -> Iterator[tuple[str, str, Region]]:
    """Yield file name, category name and region (bool HxW) of every annotation: what an edit can be made in.

    Args:
        location: the instances JSON.
        crowd: whether to yield crowd regions as well.

    Raises:
        FileNotFoundError: no such file.
        ValueError: no COCO JSON, or an image without height and width.
    """
    annotations = read_annotations(location)
    for image_id, image in annotations.images.items():
        for annotation in annotations.by_image[image_id]:
            if annotation.get("iscrowd") and not crowd:
                continue
            hw = (image.get("height"), image.get("width"))
            if not all(isinstance(side, int) and side > 0 for side in hw):
                raise ValueError(f"Expected height and width of image {image_id} in '{annotations.path}', got {hw}.")
            region = decode_region(annotation, hw, where=where_of(annotation, annotations.path))
            yield image["file_name"], annotations.categories[annotation["category_id"]], region


def read_annotations(location: str | Path) -> Annotations:
    """Read and check an instances file; raises FileNotFoundError, or ValueError naming the annotation."""
    path = Path(location).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"Expected a COCO JSON at '{path}', got {'a folder' if path.exists() else 'nothing'}.")
    values = parse_json(read_text(path), f"'{path}'")
    if not isinstance(values, Mapping) or not all(
        isinstance(values.get(key), list) for key in ("images", "annotations")
    ):
        raise ValueError(f"Expected a COCO file with lists of images and annotations in '{path}', got something else.")
    images = _by_id(values["images"], "image", path, needed=("file_name",))
    listed = _by_id(values.get("categories") or [], "category", path, needed=("name",))
    categories = {number: str(listed[number]["name"]) for number in sorted(listed)}
    by_image: dict[Any, list[Mapping[str, Any]]] = {image_id: [] for image_id in images}
    for annotation in values["annotations"]:
        if not isinstance(annotation, Mapping):
            raise ValueError(f"Expected objects as annotations in '{path}', got {type(annotation).__name__}.")
        where = where_of(annotation, path)
        for key, known in (("image_id", images), ("category_id", categories)):
            if annotation.get(key) not in known:
                raise ValueError(f"Expected a known {key} in {where}, got {annotation.get(key)!r}. Add it, or drop it.")
        by_image[annotation["image_id"]].append(annotation)
    return Annotations(path, images, by_image, categories)


def chosen(annotations: Annotations, names: Sequence[str]) -> Annotations:
    """Keep the categories that are named, in this order; raises ValueError for a name that there is not."""
    ids = {name: number for number, name in annotations.categories.items()}
    for name in names:
        if name not in ids:
            raise unknown_name(name, ids, what=f"category of '{annotations.path}'")
    categories = {ids[name]: name for name in names}
    by_image = {
        image_id: [one for one in some if one["category_id"] in categories]
        for image_id, some in annotations.by_image.items()
    }
    return Annotations(annotations.path, annotations.images, by_image, categories)


def decode_region(annotation: Mapping[str, Any], hw: tuple[Any, Any], *, where: str) -> Region:
    """Decode polygons or run lengths to bool HxW.

    Raises:
        ValueError: another form, a polygon of an odd or too small number of coordinates, or run lengths of another
            size than the image's; `where` is named.
    """
    height, width = hw
    shape = annotation.get("segmentation")
    if isinstance(shape, list):
        return _polygons(shape, height, width, where)
    if not isinstance(shape, Mapping) or "counts" not in shape:
        raise ValueError(f"Expected polygons or run lengths in {where}, got {type(shape).__name__}.")
    size = shape.get("size")
    if size != [height, width]:
        hint = " Height and width are swapped." if size == [width, height] else ""
        raise ValueError(f"Expected run lengths of size [{height}, {width}] in {where}, got {size}.{hint}")
    counts = shape["counts"]
    if isinstance(counts, list):
        if not all(isinstance(run, int) and run >= 0 for run in counts) or sum(counts) != height * width:
            raise ValueError(f"Expected run lengths that add up to {height * width} in {where}, got others.")
        return _drawn(counts, height, width)
    return _compressed(counts, height, width, where)


def where_of(annotation: Mapping[str, Any], path: Path) -> str:
    """What errors call an annotation."""
    return f"annotation {annotation.get('id')} of '{path}'"


def _polygons(shape: list[Any], height: int, width: int, where: str) -> Region:
    for polygon in shape:
        numbers = isinstance(polygon, list) and all(isinstance(value, int | float) for value in polygon)
        if not numbers or len(polygon) < 6 or len(polygon) % 2 or not np.isfinite(polygon).all():
            raise ValueError(f"Expected polygons of three or more points, x and y, in {where}, got another.")
    if not shape:
        return np.zeros((height, width), dtype=bool)
    merged = library.merge(library.frPyObjects(shape, height, width))
    return _compressed(merged["counts"], height, width, where)


def _compressed(counts: Any, height: int, width: int, where: str) -> Region:
    data = counts.encode("ascii", "replace") if isinstance(counts, str) else counts
    # The library's own decoder reads on past a broken code, and leaves pixels undefined that runs do not reach.
    runs = _runs(data, where) if isinstance(data, bytes) else []
    if sum(runs) != height * width:
        raise ValueError(f"Expected run lengths that add up to {height * width} in {where}, got others.")
    return _drawn(runs, height, width)


def _drawn(runs: Sequence[int], height: int, width: int) -> Region:
    """The region of run lengths, off and on in turn, down the columns."""
    pixels = np.repeat(np.arange(len(runs)) % 2 == 1, runs)
    return pixels.reshape((width, height)).T


def _runs(data: bytes, where: str) -> list[int]:
    """The run lengths of COCO's compressed code (`rleFrString` in its maskApi.c)."""
    runs: list[int] = []
    value = shift = 0
    for byte in data:
        code = byte - 48
        if not 0 <= code < 64 or shift > 50:
            raise ValueError(f"Expected COCO's code for run lengths in {where}, got byte {byte}.")
        value |= (code & 0x1F) << shift
        shift += 5
        if not code & 0x20:
            if code & 0x10:
                value -= 1 << shift
            runs.append(value + (runs[-2] if len(runs) > 2 else 0))
            value = shift = 0
    if shift or any(run < 0 for run in runs):
        raise ValueError(f"Expected COCO's code for run lengths in {where}, got a truncated or broken one.")
    return runs


def _by_id(values: list[Any], what: str, path: Path, *, needed: Sequence[str]) -> dict[Any, Mapping[str, Any]]:
    found: dict[Any, Mapping[str, Any]] = {}
    for value in values:
        if not isinstance(value, Mapping) or not isinstance(value.get("id"), int | str):
            raise ValueError(f"Expected each {what} of '{path}' to have an id, got {value!r}.")
        missing = [key for key in needed if not isinstance(value.get(key), str) or not value[key]]
        if missing:
            raise ValueError(f"Expected {', '.join(missing)} of {what} {value['id']} in '{path}', got none.")
        if value["id"] in found:
            raise ValueError(f"Expected each {what} id of '{path}' once, got {value['id']} more than once.")
        found[value["id"]] = value
    return found
