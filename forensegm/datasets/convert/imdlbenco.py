"""Write IMDLBenCo's JSON lists."""

from __future__ import annotations

from collections.abc import Iterator

from forensegm.datasets.convert.source import Packed, Target, mask_png, two_valued, write_file
from forensegm.imageio import write_json

NEGATIVE = "Negative"


def write_imdlbenco(items: Iterator[Packed], target: Target) -> None:
    """Write Tp/, Gt/ and SPLIT.json (all.json without splits): [image, mask], or [image, "Negative"] if authentic.

    Paths are relative to the folder, which IMDLBenCo has to be started in: it takes them as they are.

    Raises:
        ValueError: ignored pixels, or several editors where the target does not allow to fold them.
    """
    lists: dict[str, list[list[str]]] = {}
    for packed in items:
        image, mask = f"Tp/{packed.stem}{packed.suffix}", f"Gt/{packed.stem}.png"
        values = two_valued(packed, target)
        write_file(target.root / image, packed.data)
        if values.any():
            write_file(target.root / mask, mask_png(values))
        row = [f"./{image}", f"./{mask}" if values.any() else NEGATIVE]
        lists.setdefault(packed.split, []).append(row)
    for split, rows in lists.items():
        write_json(target.root / f"{split}.json", rows)
