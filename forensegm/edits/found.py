"""Find the base images of a build, decode each once, and share the scenes out to the splits."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from forensegm.config import EditConfig
from forensegm.datasets.split import assign_groups
from forensegm.edits.pool import Run
from forensegm.edits.sources import Photo, Skipped, list_captions, list_photos, probe, sift
from forensegm.imageio import write_text_atomic

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int, str], None]
PROBED = "probed.jsonl"


@dataclass(frozen=True)
class Bases:
    """What there is to edit.

    Attributes:
        photos: usable photographs.
        captions: what base images are generated from.
        skipped: photographs left out: (path, reason).
        splits: split by scene.
    """

    photos: list[Photo]
    captions: list[Photo]
    skipped: list[Skipped]
    splits: dict[str, str]


def find_bases(config: EditConfig, run: Run, root: Path, progress: Progress | None) -> Bases:
    """Find the base images; raises ValueError where they are too few for the splits."""
    photos, skipped = ([], []) if config.photos == "none" else _find_photos(config, run, root, progress)
    captions = list_captions(config.captions) if config.captions else []
    needed = sum(share > 0 for share in config.split)
    scenes = sorted({one.scene for one in photos})
    if len(scenes) < needed and config.photos != "none":
        where = f"in '{config.photos}'" if config.photos else "among those of the installed packages"
        examples = "".join(f" Left out: {path} ({reason})." for path, reason in skipped[:3])
        found = len(photos) + len(skipped)
        raise ValueError(
            f"Expected at least {needed} usable photographs {where}, one for each split to fill, got {len(scenes)} in "
            f"{found} image files.{examples} Add photographs, or lower edit.size."
        )
    splits = assign_groups(scenes, config.split, seed=config.seed) if scenes else {}
    written = sorted({one.scene for one in captions} - set(scenes))
    if captions and len(written) < needed and not scenes:
        raise ValueError(
            f"Expected at least {needed} captions in '{config.captions}', one a split, got {len(written)}."
        )
    # Apart from the photographs, so that each split has captions; a caption of a photograph stays in its split.
    splits |= assign_groups(written, config.split, seed=config.seed) if written else {}
    return Bases(photos, captions, skipped, splits)


def _find_photos(
    config: EditConfig, run: Run, root: Path, progress: Progress | None
) -> tuple[list[Photo], list[Skipped]]:
    """Usable photographs, each decoded completely once; what an earlier start of the same build found is kept."""
    listed = list_photos(config.photos)
    known = _read_probed(root)
    probed: dict[str, Photo | Skipped] = {}
    for photo in listed:
        if (found := known.get(_key(photo))) is not None:
            probed[photo.name] = replace(photo, hw=found[0], digest=found[1])
    left = [photo for photo in listed if photo.name not in probed]
    for name, result in run(partial(_probe, config.size), left):
        probed[name] = result
        if progress:
            progress("photographs", len(probed), len(listed), "")
    photos, skipped = sift(probed[photo.name] for photo in listed)
    for path, reason in skipped:
        logger.warning("Skipped %s: %s", path, reason)
    return photos, skipped


def _probe(min_side: int, photo: Photo) -> tuple[str, Photo | Skipped]:
    return photo.name, probe(photo, min_side=min_side)


def _key(photo: Photo) -> str:
    """What a photograph is known by again: its name, and size and time of its file."""
    try:
        facts = photo.path.stat()
    except OSError:
        return f"{photo.name}|gone"
    return f"{photo.name}|{photo.index}|{facts.st_size}|{facts.st_mtime_ns}"


def _read_probed(root: Path) -> dict[str, tuple[tuple[int, int], str]]:
    path = root / PROBED
    if not path.is_file():
        return {}
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {row["key"]: ((row["hw"][0], row["hw"][1]), row["digest"]) for row in rows}


def remember(root: Path, bases: Bases) -> None:
    """Keep what was found in an unfinished build, so that its next start need not decode every photograph again."""
    rows = [{"key": _key(one), "hw": list(one.hw), "digest": one.digest} for one in bases.photos]
    write_text_atomic(root / PROBED, "".join(f"{json.dumps(row)}\n" for row in rows))
