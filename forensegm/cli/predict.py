"""`forensegm predict`: verdict, editor and map of single images."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonargparse import Namespace
from rich.cells import cell_len

from forensegm.cli.errors import UsageError, one_line
from forensegm.cli.files import CLASSES, DESCRIPTION, OVERLAY, image_files, result_names
from forensegm.cli.options import Command, Group, add_trusted_name
from forensegm.cli.output import printable, say, say_skipped, say_wrote
from forensegm.cli.progress import Bars
from forensegm.config import Config

if TYPE_CHECKING:
    from forensegm.inference import Prediction
    from forensegm.sample import Image

NAME_WIDTH = 40


def run(config: Config, args: Namespace) -> int:
    """Predict every image, one line each; a broken one is skipped and named."""
    if not args.checkpoint:
        raise UsageError("Expected --checkpoint, the folder of a checkpoint, for example runs/train/checkpoint.")
    out = Path(args.out).expanduser()
    files = image_files(args.images)
    names = result_names(files)
    from forensegm.imageio import read_image
    from forensegm.inference import Predictor

    options = config.predict
    predictor = Predictor.from_checkpoint(
        args.checkpoint,
        device=options.device,
        precision=options.precision,
        tile=options.tile,
        overlap=options.overlap,
        trusted_name=args.trusted_name or None,
    )
    skipped: list[tuple[str | Path, str]] = []
    width = min(NAME_WIDTH, max(cell_len(printable(name)) for name in ["image", *names]))
    say(f"{pad('image', width)}  {'verdict':<9}  score  {'edited':>6}  editor")
    with Bars() as progress:
        for done, (path, name) in enumerate(zip(files, names, strict=True), start=1):
            try:
                image = read_image(path)
            except (ValueError, OSError) as error:
                skipped.append((path, one_line(error)))
            else:
                prediction = predictor(image)
                write_results(out / name, image, prediction, describe(path, prediction, args.checkpoint))
                say(f"{pad(printable(name), width)}  {result_line(prediction)}")
            progress("predict", done, len(files))
    say_skipped(skipped)
    if len(skipped) == len(files):
        raise UsageError(f"Expected at least one readable image, got {len(files)} that could not be read.")
    limits = predictor.thresholds
    say(f"fake: score of {limits['image']:.3f} or more ({limits['pooling']}); edited: {limits['pixel']:.3f} or more")
    say_wrote(out)
    return 0


def pad(text: str, width: int) -> str:
    """Fill a text up with blanks to `width` columns of the terminal, of which some characters take two or none."""
    return text + " " * (width - cell_len(text))


def verdict(prediction: Prediction) -> str:
    """The image-level verdict in one word."""
    return "fake" if prediction.is_fake else "authentic"


def edited_share(prediction: Prediction) -> float:
    """Share of pixels that the class map gives to an editor, 0..1."""
    return float((prediction.class_map != 0).mean())


def result_line(prediction: Prediction) -> str:
    """Verdict, score, edited share and editor in columns."""
    return (
        f"{verdict(prediction):<9}  {prediction.image_score:.3f}  {edited_share(prediction):6.1%}  "
        f"{(prediction.is_fake and prediction.editor) or '-'}"
    )


def describe(path: Path, prediction: Prediction, checkpoint: str) -> dict[str, Any]:
    """What the JSON file of one image says."""
    height, width = prediction.class_map.shape
    return {
        # Where view finds it again, from any folder; JSON holds text only, which a file's name need not be.
        "image": os.fsencode(path.absolute()).decode("utf-8", "backslashreplace"),
        "size_hw": [height, width],
        "verdict": verdict(prediction),
        "score": float(prediction.image_score),
        "threshold": float(prediction.image_threshold),
        "pooling": prediction.pooling,
        "editor": prediction.editor,
        "editor_scores": {name: float(score) for name, score in prediction.editor_scores.items()},
        "edited_share": edited_share(prediction),
        "labels": list(prediction.labels.names),
        "checkpoint": str(checkpoint),
    }


def write_results(target: Path, image: Image, prediction: Prediction, described: dict[str, Any]) -> None:
    """Write NAME.classes.png (0 = authentic, 1..K = editor), NAME.overlay.png to look at, and NAME.json last."""
    from forensegm.imageio import write_image, write_json, write_mask
    from forensegm.reports import overlay

    target.parent.mkdir(parents=True, exist_ok=True)
    write_mask(target.with_name(target.name + CLASSES), prediction.class_map)
    write_image(target.with_name(target.name + OVERLAY), overlay(image, prediction.class_map, prediction.labels))
    write_json(target.with_name(target.name + DESCRIPTION), described)


def add_arguments(group: Group) -> None:
    """Add the images, the checkpoint and the folder."""
    group.add_argument("images", nargs="*", metavar="IMAGE", help="image files and folders of images")
    group.add_argument("--checkpoint", type=str, metavar="DIR", help="folder of a checkpoint (required)")
    add_trusted_name(group)
    group.add_argument(
        "--out",
        type=str,
        default="runs/predict",
        metavar="DIR",
        help="folder for NAME.overlay.png, NAME.classes.png and NAME.json of each image",
    )


COMMAND = Command(
    name="predict",
    summary="Say of single images whether they are edited, where and by which editor",
    run=run,
    usage="IMAGE...",
    own="predict",
    add_arguments=add_arguments,
    examples=(
        "predict photo.jpg --checkpoint runs/train/checkpoint",
        "predict photos/ --checkpoint runs/train/checkpoint --out runs/predict --device cuda",
    ),
)
