"""Captions: what base images are generated from."""

from __future__ import annotations

import json
from pathlib import Path

from forensegm.edits.sources.coco import read_captions
from forensegm.edits.sources.photo import Photo


def list_captions(location: str) -> list[Photo]:
    """List captions, each a base image yet to be generated.

    Args:
        location: a text file with one caption a line, or COCO's captions JSON. A caption of COCO belongs to the scene
            of its photograph, so that no split holds a photograph and another one a picture made from its caption.

    Raises:
        FileNotFoundError: no such file.
        ValueError: no caption in it.
    """
    path = Path(location).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"Expected a file of captions at '{location}', got nothing there.")
    listed = _coco(path) if path.suffix.lower() == ".json" else _lines(path)
    if not listed:
        raise ValueError(f"Expected captions in '{location}', one a line or COCO's JSON, got none.")
    return listed


def _lines(path: Path) -> list[Photo]:
    lines = [" ".join(line.split()) for line in path.read_text("utf-8").splitlines()]
    return [_caption(f"caption:{text}", text, scene=f"caption:{text}") for text in dict.fromkeys(lines) if text]


def _coco(path: Path) -> list[Photo]:
    values = json.loads(path.read_text("utf-8"))
    names = {one["id"]: one["file_name"] for one in values.get("images", [])}
    found = []
    for number, texts in read_captions(path.with_name(path.name.replace("captions_", "instances_"))).items():
        scene = str(names.get(number, number))
        found.append(_caption(f"{scene}#caption", texts[0], scene=scene))
    return found


def _caption(name: str, text: str, *, scene: str) -> Photo:
    return Photo(name, Path(), scene, "generated", captions=(text,))
