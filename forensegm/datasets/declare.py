"""Turn what a user says about a data set's masks into a label space and a `MaskSpec`; one place for every reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensegm.imageio import MaskKind, MaskSpec, Mismatch
from forensegm.sample import IGNORE, LabelSpace

IGNORE_NAME = "ignore"


def declare(
    mask_kind: MaskKind,
    labels: LabelSpace | Sequence[str] | int | None,
    *,
    editor: str | None = None,
    ignore: int | None = None,
    on_mismatch: Mismatch = "error",
    mask_values: Mapping[Any, Any] | None = None,
    mask_threshold: int | None = None,
) -> tuple[LabelSpace, MaskSpec]:
    """Return the label space, and what mask values mean in it.

    Args:
        mask_kind: binary, ids, tones, colours or palette; see `MaskSpec`.
        labels: a label space, the editors' names in id order, or their number; needed for ids, and for a palette
            without `mask_values`; else by default the names in `mask_values`, or one unnamed editor.
        editor: editor of a binary mask; by default the only one there is.
        ignore: file value of pixels to leave out, of binary masks and ids.
        on_mismatch: what to do with a mask of another size: error, nearest or crop.
        mask_values: for tones, colours and palette: file value (a number, or "#rrggbb") to class (an editor's name,
            "authentic", "ignore", or an id).
        mask_threshold: for graded binary masks: this value and those above are edited.

    Raises:
        ValueError: something missing, or something that the kind of mask has no use for.
    """
    given = {file_value(value): target for value, target in (mask_values or {}).items()}
    needs_values = mask_kind in ("tones", "colours")
    if needs_values and not given:
        raise ValueError(
            f"Expected mask_values for masks of kind {mask_kind}: the class of every value, for example "
            f"{{{'0' if mask_kind == 'tones' else repr('#000000')}: authentic, ...}}. Got none."
        )
    if labels is None and not given and mask_kind in ("ids", "palette"):
        raise ValueError(
            f"Expected labels for masks of kind {mask_kind}: the editors' names in id order, or their number."
        )
    space = label_space(labels, given)
    if mask_kind == "binary":
        spec = MaskSpec(
            "binary",
            ignore=ignore,
            on_mismatch=on_mismatch,
            editor=editor_id(space, editor),
            threshold=mask_threshold,
            values=given,
        )
        return space, spec
    if editor is not None or mask_threshold is not None:
        raise ValueError(
            f"Expected no editor and no mask_threshold for masks of kind {mask_kind}, which name their own classes, "
            f"got '{editor}' and {mask_threshold}."
        )
    values = {value: class_id(target, space) for value, target in given.items()}
    return space, MaskSpec(mask_kind, space.num_classes, ignore, on_mismatch, values=values)


def label_space(labels: LabelSpace | Sequence[str] | int | None, values: Mapping[Any, Any] | None = None) -> LabelSpace:
    """Return the label space that a user's `labels` stand for; by default the names in `values`, or one editor."""
    if isinstance(labels, LabelSpace):
        return labels
    if isinstance(labels, str):
        raise ValueError(f"Expected labels to be a list of editor names or their number, got '{labels}'.")
    if labels is None:
        own = [target for target in (values or {}).values() if isinstance(target, str)]
        names = [name for name in dict.fromkeys(own) if name not in ("authentic", IGNORE_NAME)]
        ids = [target for target in (values or {}).values() if isinstance(target, int) and target != IGNORE]
        return LabelSpace(tuple(names)) if names else LabelSpace.opaque(max([1, *ids]))
    if isinstance(labels, int):
        return LabelSpace.opaque(labels)
    return LabelSpace(tuple(labels))


def editor_id(labels: LabelSpace, editor: str | None) -> int:
    """Return the id of the editor of binary masks; raises ValueError for an unknown one, or where it must be named."""
    if editor is not None:
        return labels.id_of(editor)
    if len(labels.editors) > 1:
        raise ValueError(f"Expected the editor of the binary masks, one of {', '.join(labels.editors)}, got none.")
    return 1


def file_value(value: Any) -> int | str:
    """Return a declared file value as `MaskSpec` has it: numbers may come as text, as in JSON keys.

    >>> file_value("128"), file_value("#FF0000")
    (128, '#ff0000')
    """
    if isinstance(value, str):
        return int(value) if value.strip().isdecimal() else value.strip().lower()
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"Expected a number or a colour as '#rrggbb' in mask_values, got {value!r}.")


def class_id(target: Any, labels: LabelSpace) -> int:
    """Return the id of a class that is named, "ignore" and "authentic" included, or given as an id."""
    if target == IGNORE_NAME:
        return IGNORE
    if isinstance(target, str):
        return labels.id_of(target)
    if (
        isinstance(target, int)
        and not isinstance(target, bool)
        and (0 <= target < labels.num_classes or target == IGNORE)
    ):
        return target
    raise ValueError(
        f"Expected a class of mask_values to be one of {', '.join(labels.names)}, ignore, or an id, got {target!r}."
    )
