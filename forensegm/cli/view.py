"""`forensegm view`: images of a data set, or of predictions, beside their masks on one sheet."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonargparse import Namespace

from forensegm.cli.data_source import SHORT
from forensegm.cli.errors import UsageError, one_line
from forensegm.cli.files import CLASSES, DESCRIPTION
from forensegm.cli.options import Command, Group
from forensegm.cli.output import say_skipped, say_wrote
from forensegm.cli.progress import Bars
from forensegm.config import Config

if TYPE_CHECKING:
    from forensegm.sample import Image, LabelSpace, Mask

PAIR_GAP = 3


@dataclass(frozen=True)
class Scene:
    """One image for the sheet, read when it is drawn: its id and how to get image, mask and caption."""

    id: str
    read: Callable[[], tuple[Image, Mask, str]]


def run(config: Config, args: Namespace) -> int:
    """Draw the sheet; what cannot be read is skipped and named."""
    if not args.source:
        raise UsageError("Expected SOURCE, a data set such as native:runs/data, or a folder that predict wrote.")
    if args.images < 1 or args.side < 1 or args.columns < 0:
        raise UsageError("Expected --images and --side to be at least 1, and --columns at least 0.")
    out = Path(args.out).expanduser()
    if out.suffix.lower() != ".png":
        raise UsageError(f"Expected --out to end in .png, got '{args.out}'.")
    from forensegm.imageio import write_image

    labels, scenes = open_source(args.source, split=args.split or None, options=config.data.options)
    chosen = spread(scenes, args.images)
    sheet, skipped = draw_sheet(chosen, labels, side=args.side, columns=args.columns or None)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_image(out, sheet)
    say_skipped(skipped)
    say_wrote(out)
    return 0


def open_source(
    source: str, *, split: str | None, options: Mapping[str, Any] | None = None
) -> tuple[LabelSpace, list[Scene]]:
    """Open a data set or a folder of predictions."""
    folder = Path(source).expanduser()
    # The description is written last: a map without one is of a run that was stopped.
    predictions = [path for path in sorted(folder.rglob(f"*{CLASSES}")) if description_file(path).is_file()]
    if predictions and not (folder / "dataset.yaml").exists():
        return _predictions(folder, predictions)
    from forensegm.datasets import open_dataset
    from forensegm.sample import image_label

    dataset = open_dataset(source, split=split, **(options or {}))

    def read(index: int) -> tuple[Image, Mask, str]:
        sample = dataset[index]
        editors = [dataset.labels.name_of(value) for value in image_label(sample.mask).editors]
        return sample.image, sample.mask, f"{sample.id}: {', '.join(editors) or 'authentic'}"

    return dataset.labels, [Scene(name, partial(read, index)) for index, name in enumerate(dataset.ids)]


def _predictions(folder: Path, maps: list[Path]) -> tuple[LabelSpace, list[Scene]]:
    from forensegm.imageio import MaskSpec, read_image, read_mask
    from forensegm.sample import LabelSpace

    described = [(path, _description(path)) for path in maps]
    spaces = {tuple(found["labels"]) for _, found in described}
    if len(spaces) > 1:
        raise UsageError(f"Expected predictions of one label space in {folder}, got {len(spaces)}. Name a sub-folder.")
    labels = LabelSpace(spaces.pop()[1:])
    spec = MaskSpec(kind="ids", num_classes=labels.num_classes)

    def read(path: Path, found: dict[str, Any]) -> tuple[Image, Mask, str]:
        image = read_image(found["image"])
        mask = read_mask(path, spec, image_hw=(image.shape[0], image.shape[1]))
        return image, mask, f"{Path(found['image']).name}: {found['verdict']} {found['score']:.2f}"

    return labels, [Scene(found["image"], partial(read, path, found)) for path, found in described]


def description_file(class_map: Path) -> Path:
    """The JSON file that `forensegm predict` wrote with a class map."""
    return class_map.with_name(class_map.name.removesuffix(CLASSES) + DESCRIPTION)


def _description(class_map: Path) -> dict[str, Any]:
    path = description_file(class_map)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {key: found[key] for key in ("image", "verdict", "score", "labels")}
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"Expected {path} to be written by forensegm predict, got something else.") from error


def spread(scenes: list[Scene], count: int) -> list[Scene]:
    """At most `count` of the scenes, evenly spread over them."""
    if len(scenes) <= count:
        return scenes
    return [scenes[number * len(scenes) // count] for number in range(count)]


def draw_sheet(
    scenes: list[Scene], labels: LabelSpace, *, side: int, columns: int | None
) -> tuple[Image, list[tuple[str | Path, str]]]:
    """Draw image and overlay of every scene in pairs with a legend below; return the sheet and what was skipped."""
    import numpy as np

    from forensegm.reports import contact_sheet, legend, overlay
    from forensegm.reports.panels import stack
    from forensegm.reports.tiles import resize_to, shown_hw

    pairs, captions = [], []
    present: set[int] = set()
    skipped: list[tuple[str | Path, str]] = []
    with Bars() as progress:
        for done, scene in enumerate(scenes, start=1):
            try:
                image, mask, caption = scene.read()
            except (ValueError, OSError) as error:
                skipped.append((scene.id, one_line(error)))
                continue
            finally:
                progress("view", done, len(scenes))
            small = shown_hw((image.shape[0], image.shape[1]), side)
            left, right = (resize_to(picture, small) for picture in (image, overlay(image, mask, labels)))
            gap = np.full((small[0], PAIR_GAP, 3), 255, dtype=np.uint8)
            pairs.append(np.concatenate([left, gap, right], axis=1))
            captions.append(caption)
            present |= {int(value) for value in np.unique(mask)}
    if not pairs:
        reason = f"the first: {skipped[0][1]}" if skipped else "the source is empty"
        raise UsageError(f"Expected at least one readable image, got none of {len(scenes)} ({reason}).")
    sheet = contact_sheet(pairs, columns=columns, captions=captions)
    return stack([sheet, legend(labels, present=present, width=sheet.shape[1])]), skipped


def add_arguments(group: Group) -> None:
    """Add the source and how the sheet is laid out."""
    group.add_argument("source", nargs="?", metavar="SOURCE", help="data set, or folder that predict wrote")
    group.add_argument("--out", type=str, default="sheet.png", metavar="FILE", help="PNG file to write")
    group.add_argument("--split", type=str, default="", metavar="TEXT", help="split of the data set; empty = all of it")
    group.add_argument("--images", type=int, default=24, metavar="INT", help="images at most, evenly spread")
    group.add_argument("--side", type=int, default=256, metavar="INT", help="longest side of an image in pixels")
    group.add_argument("--columns", type=int, default=0, metavar="INT", help="images per row; 0 = fit a landscape page")


COMMAND = Command(
    name="view",
    summary="Draw images of a data set or of predictions beside their masks on one sheet",
    run=run,
    usage="SOURCE",
    short=SHORT,
    add_arguments=add_arguments,
    examples=("view native:runs/data --split test --out sheet.png", "view runs/predict --out sheet.png"),
)
