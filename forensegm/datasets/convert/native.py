"""Write the native form."""

from __future__ import annotations

from collections.abc import Iterator

from forensegm.datasets.convert.source import Packed, Target, mask_png, write_file
from forensegm.datasets.records import DatasetMeta, write_dataset_yaml, write_records
from forensegm.sample import image_label
from forensegm.version import __version__


def write_native(items: Iterator[Packed], target: Target) -> None:
    """Write images, masks, turn maps, records.jsonl and dataset.yaml."""
    records = []
    counts = dict.fromkeys(("images", "edited", "authentic"), 0)
    for packed in items:
        record = packed.record
        write_file(target.root / record.image, packed.data)
        write_file(target.root / record.mask, mask_png(packed.mask))
        if packed.turn_map is not None:
            write_file(target.root / str(record.turns), mask_png(packed.turn_map))
        records.append(record)
        count(counts, packed)
    write_records(target.root, records)
    write_dataset_yaml(target.root, describe(target, counts))


def count(counts: dict[str, int], packed: Packed) -> None:
    """Add an item to the counts that dataset.yaml holds."""
    fake = image_label(packed.mask).fake
    counts["images"] += 1
    counts["edited"] += fake is True
    counts["authentic"] += fake is False


def describe(target: Target, counts: dict[str, int]) -> DatasetMeta:
    """Return what dataset.yaml says of a converted data set."""
    return DatasetMeta(
        name=target.name,
        version="1",
        labels=target.labels,
        mask="ids",
        licence="as the source says",
        built={"by": f"forensegm {__version__}", "converted": True},
        counts=dict(counts),
    )
