"""What a data set holds, in plain numbers: the facts of its items, counted."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensegm.datasets.scan import HEAT_SIDE, ItemFacts
from forensegm.sample import AUTHENTIC, IGNORE, LabelSpace

# Bins of the share of edited pixels that the audit of DiffSeg30k uses, so that figures can be laid side by side.
AREA_EDGES = (0.01, 0.05, 0.2, 0.5, 1.0)


def summarize(facts: Sequence[ItemFacts], labels: LabelSpace) -> dict[str, Any]:
    """Return counts and distributions of a data set as plain JSON types.

    Keys: `counts` (images, readable, unreadable, edited, authentic, unknown, partial, full, empty, groups),
    `values` (pixels and images by mask value, with its class), `editors` (images, images whose largest edit is theirs,
    pixels), `area` (edited images by share of edited pixels), `turns` and `edits` (images by number of turns, turns by
    editor; where the data set knows them), `sizes`, `codecs`, `splits`, `errors`.
    """
    readable = [item for item in facts if not item.error]
    fake = [item.label.fake if item.label else None for item in readable]
    coverage = Counter(item.label.coverage if item.label else None for item in readable)
    return {
        "counts": {
            "images": len(facts),
            "readable": len(readable),
            "unreadable": len(facts) - len(readable),
            "edited": fake.count(True),
            "authentic": fake.count(False),
            "unknown": fake.count(None),
            "partial": coverage["partial"],
            "full": coverage["full"],
            "empty": coverage["empty"],
            "groups": len({item.group for item in facts}),
        },
        "values": _values(readable, labels),
        "editors": _editors(readable, labels),
        "area": area_bins(readable),
        "turns": {str(key): count for key, count in sorted(Counter(_turn_counts(readable)).items())},
        "edits": dict(Counter(name for item in readable for name in item.edits).most_common()),
        "sizes": _sizes(readable),
        "codecs": dict(Counter(codec_text(item.codec) for item in readable).most_common()),
        "splits": _splits(facts),
        "errors": [{"id": item.id, "error": item.error} for item in facts if item.error],
    }


def heat_map(facts: Sequence[ItemFacts]) -> NDArray[np.float32] | None:
    """Mean over edited images of where they are edited: float32 32x32, each cell 0..1; None without edited images."""
    maps = [item.heat for item in facts if item.heat is not None and item.label is not None and item.label.fake]
    if not maps:
        return None
    mean = np.asarray(np.mean(np.stack(maps), axis=0, dtype=np.float64), dtype=np.float32)
    return mean.reshape(HEAT_SIDE, HEAT_SIDE)


def area_bins(facts: Sequence[ItemFacts]) -> dict[str, int]:
    """Count edited images by the share of their valid pixels that is edited.

    >>> area_bins([])
    {'0-1 %': 0, '1-5 %': 0, '5-20 %': 0, '20-50 %': 0, '50-100 %': 0}
    """
    shares = [item.label.edited_share for item in facts if item.label is not None and item.label.edited_share]
    bins = np.searchsorted(AREA_EDGES, np.asarray(shares, dtype=float), side="left")
    low = 0.0
    counted = {}
    for number, high in enumerate(AREA_EDGES):
        counted[f"{100 * low:g}-{100 * high:g} %"] = int((bins == number).sum())
        low = high
    return counted


def codec_text(codec: Mapping[str, Any]) -> str:
    """Name an encoding in a few words.

    >>> codec_text({"codec": "JPEG", "quality": 90, "subsampling": "4:2:0"})
    'JPEG 90 4:2:0'
    """
    parts = [codec.get("codec") or "unknown", codec.get("quality"), codec.get("subsampling")]
    return " ".join(str(part) for part in parts if part is not None)


def _values(facts: Sequence[ItemFacts], labels: LabelSpace) -> dict[str, dict[str, Any]]:
    pixels: Counter[int] = Counter()
    images: Counter[int] = Counter()
    for item in facts:
        pixels.update(item.areas)
        images.update(item.areas.keys())
    return {
        str(value): {
            "class": "ignore" if value == IGNORE else labels.name_of(value),
            "pixels": pixels[value],
            "images": images[value],
        }
        for value in sorted(pixels)
    }


def _editors(facts: Sequence[ItemFacts], labels: LabelSpace) -> dict[str, dict[str, int]]:
    dominant = Counter(item.label.dominant for item in facts if item.label is not None)
    return {
        name: {
            "images": sum(number in item.areas for item in facts),
            "dominant": dominant[number],
            "pixels": sum(item.areas.get(number, 0) for item in facts),
        }
        for number, name in enumerate(labels.names)
        if number != AUTHENTIC
    }


def _turn_counts(facts: Sequence[ItemFacts]) -> list[int]:
    return [item.turns for item in facts if item.turns is not None]


def _sizes(facts: Sequence[ItemFacts]) -> dict[str, Any]:
    if not facts:
        return {"distinct": 0, "common": {}, "sides": {}}
    counts = Counter(f"{item.hw[0]}x{item.hw[1]}" for item in facts)
    return {
        "distinct": len(counts),
        "common": dict(counts.most_common(8)),
        "sides": {
            name: {
                "min": min(item.hw[axis] for item in facts),
                "median": statistics.median_low(item.hw[axis] for item in facts),
                "max": max(item.hw[axis] for item in facts),
            }
            for axis, name in enumerate(("height", "width"))
        },
    }


def _splits(facts: Sequence[ItemFacts]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for item in facts:
        row = found.setdefault(item.split or "(none)", {"images": 0, "edited": 0, "authentic": 0})
        row["images"] += 1
        if item.label is not None and item.label.fake is not None:
            row["edited" if item.label.fake else "authentic"] += 1
    for split, row in found.items():
        row["groups"] = len({item.group for item in facts if (item.split or "(none)") == split})
    return found
