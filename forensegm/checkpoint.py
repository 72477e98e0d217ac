"""The one checkpoint format: a folder with model.safetensors, checkpoint.json and MODEL_CARD.md, and no code in it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from forensegm.imageio import write_json, write_text_atomic
from forensegm.models import Segmenter, create_model
from forensegm.models.precision import resolve_device
from forensegm.sample import LabelSpace
from forensegm.version import __version__

FORMAT = "forensegm checkpoint"
FORMAT_VERSION = 1
WEIGHTS, DESCRIPTION, CARD = "model.safetensors", "checkpoint.json", "MODEL_CARD.md"
KEYS = {"model": dict, "labels": list, "preprocessing": dict, "thresholds": dict, "extra": dict}
SPEC = {"name": str, "classes": int, "frontend": str}
Types = Mapping[str, type | tuple[type, ...]]
THRESHOLD_TYPES: Types = {"pixel": (int, float), "image": (int, float), "pooling": str, "source": str}
THRESHOLDS = tuple(THRESHOLD_TYPES)


@dataclass
class Checkpoint:
    """A model with everything that its numbers depend on.

    Attributes:
        model: the network, in evaluation mode.
        labels: names of its classes.
        preprocessing: how images reach it (plain types).
        thresholds: pixel and image threshold, pooling, and the source of the three in words.
        extra: whatever else was saved (plain types).
    """

    model: Segmenter
    labels: LabelSpace
    preprocessing: dict[str, Any]
    thresholds: dict[str, Any]
    extra: dict[str, Any] = field(default_factory=dict)


def save_checkpoint(
    folder: str | Path,
    model: Segmenter,
    *,
    labels: LabelSpace,
    preprocessing: dict[str, Any],
    thresholds: dict[str, Any],
    extra: dict[str, Any] | None = None,
    card: str = "",
) -> Path:
    """Write a checkpoint; an earlier one in `folder` stays usable until the new one is complete.

    Args:
        folder: where to; its parents are made.
        model: its weights and its `spec` are saved.
        labels: must have one editor per class but the first.
        preprocessing: how images reach the network, plain JSON types.
        thresholds: keys pixel, image, pooling, source.
        extra: more plain JSON types.
        card: model card in Markdown.

    Raises:
        ValueError: labels that do not fit the model, or thresholds with a key missing.
    """
    folder = Path(folder)
    check_fit(labels, model.classes, where=str(folder))
    if missing := [key for key in THRESHOLDS if key not in thresholds]:
        raise ValueError(f"Expected thresholds {', '.join(THRESHOLDS)}, got none for {', '.join(missing)}.")
    description = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "forensegm": __version__,
        "model": model.spec,
        "labels": list(labels.editors),
        "preprocessing": preprocessing,
        "thresholds": thresholds,
        "extra": extra or {},
    }
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        # A copy, because tensors in another memory format or with shared storage cannot be written as they are.
        state = {name: value.detach().cpu().contiguous().clone() for name, value in model.state_dict().items()}
        save_file(state, new / WEIGHTS)
        write_json(new / DESCRIPTION, description)
        write_text_atomic(new / CARD, card or f"# {model.spec['name']}\n")
        os.chmod(new, 0o755)
        for path in new.iterdir():
            with path.open("r+b") as file:
                os.fsync(file.fileno())
        replace_folder(new, folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


def moved_aside(folder: Path) -> Path:
    """Where the older checkpoint is while a new one takes its place."""
    return folder.with_name(f".{folder.name}.old")


def replace_folder(new: Path, folder: Path) -> None:
    """Put `new` where `folder` is.

    The older one is moved aside between two renames; a process that is killed in that instant leaves it there, where
    `load_checkpoint` finds it.
    """
    old = moved_aside(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.rename(folder, old)
    try:
        os.rename(new, folder)
    except BaseException:
        if old.exists():
            os.rename(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(folder: str | Path, *, device: str = "cpu", trusted_name: str | None = None) -> Checkpoint:
    """Read a checkpoint. No code is run from it and nothing is downloaded.

    Args:
        folder: what `save_checkpoint` wrote.
        device: where the weights go: auto, cpu, cuda, cuda:N or mps.
        trusted_name: "pkg.mod:fn" of the model where it is your own: a name in a file alone never chooses code.

    Raises:
        FileNotFoundError: no checkpoint there.
        ValueError: one of another kind, damaged, or not consistent.
    """
    folder = Path(folder)
    if not folder.exists() and moved_aside(folder).exists():
        folder = moved_aside(folder)
    description = read_description(folder)
    spec = description["model"]
    trusted = trusted_name is not None and trusted_name == spec["name"]
    try:
        labels = LabelSpace(tuple(description["labels"]))
        check_fit(labels, spec["classes"], where=str(folder))
        model = create_model(
            spec["name"],
            classes=spec["classes"],
            weights="none",
            frontend=spec["frontend"],
            options=spec.get("options"),
            trusted=trusted,
        )
    except ValueError as error:
        raise ValueError(f"{error} (Read from {folder / DESCRIPTION}.)") from error
    model.spec = dict(spec)
    model.load_state_dict(read_weights(folder / WEIGHTS, model))
    return Checkpoint(
        model.to(resolve_device(device)).eval(),
        labels,
        description["preprocessing"],
        description["thresholds"],
        description["extra"],
    )


def read_description(folder: Path) -> dict[str, Any]:
    """Read and check checkpoint.json."""
    path = folder / DESCRIPTION
    if not path.is_file():
        raise FileNotFoundError(f"Expected a checkpoint folder with {DESCRIPTION}, got '{folder}', which has none.")
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"Expected {path} to be JSON, got a damaged file ({error}).") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ValueError(f"Expected {path} to be a forensegm checkpoint, got JSON of another kind.")
    version = description.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ValueError(
            f"Expected format version {FORMAT_VERSION} or older in {path}, got {version}. Upgrade forensegm."
        )
    check_types(description, KEYS, where=str(path))
    check_types(description["model"], SPEC, where=f"model of {path}")
    check_types(description["thresholds"], THRESHOLD_TYPES, where=f"thresholds of {path}")
    return description


def check_types(values: dict[str, Any], wanted: Types, *, where: str) -> None:
    """Raise ValueError unless each wanted key is there with its type."""
    for key, kind in wanted.items():
        if key not in values:
            raise ValueError(f"Expected '{key}' in {where}, got none. The file was changed by hand or is damaged.")
        if not isinstance(values[key], kind):
            name = kind.__name__ if isinstance(kind, type) else "number"
            raise ValueError(f"Expected '{key}' in {where} to be a {name}, got {values[key]!r}.")


def read_weights(path: Path, model: Segmenter) -> dict[str, torch.Tensor]:
    """Read the tensors and compare their names and shapes with those of the model."""
    if not path.is_file():
        raise FileNotFoundError(f"Expected the weights {path}, got none. The checkpoint is not complete.")
    try:
        state = load_file(path)
    except (SafetensorError, OSError) as error:
        raise ValueError(f"Expected {path} to hold weights, got a damaged file ({error}).") from error
    wanted = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    found = {name: tuple(value.shape) for name, value in state.items()}
    different = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    if different:
        name = different[0]
        raise ValueError(
            f"Expected {path} to fit the model '{model.spec['name']}', got {len(different)} other tensors, for example "
            f"{name}: {found.get(name, 'missing')} instead of {wanted.get(name, 'none')}."
        )
    return state


def check_fit(labels: LabelSpace, classes: int, *, where: str) -> None:
    """Raise ValueError unless there is one class per label."""
    if labels.num_classes != classes:
        raise ValueError(
            f"Expected {labels.num_classes} classes for the {len(labels.editors)} editors of {where} and 'authentic', "
            f"got a model with {classes}."
        )
