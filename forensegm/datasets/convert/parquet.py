"""Write Parquet as the Hugging Face hub serves it: `datasets.load_dataset` shows the images."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from forensegm.datasets.convert.native import count, describe
from forensegm.datasets.convert.source import Packed, Target, mask_png
from forensegm.datasets.parquet_files import METADATA_KEY
from forensegm.datasets.records import write_dataset_yaml
from forensegm.lookup import require

ROWS_PER_GROUP = 16  # of which a reader holds one in memory
ROWS_PER_FILE = 1000
IMAGES, TEXTS = ("image", "mask", "turns"), ("id", "group", "split", "record")


def write_parquet(items: Iterator[Packed], target: Target) -> None:
    """Write data/SPLIT-00000-of-00001.parquet, ... and dataset.yaml.

    Raises:
        RuntimeError: the extra `hub` is not installed.
    """
    files = _Files(target)
    counts = dict.fromkeys(("images", "edited", "authentic"), 0)
    try:
        for packed in items:
            files.add(packed.split, _row(packed))
            count(counts, packed)
    finally:
        files.close()
    files.number()
    write_dataset_yaml(target.root, describe(target, counts))


def _row(packed: Packed) -> dict[str, Any]:
    record = packed.record
    turns = None if packed.turn_map is None else {"bytes": mask_png(packed.turn_map), "path": None}
    return {
        "image": {"bytes": packed.data, "path": f"{packed.stem}{packed.suffix}"},
        "mask": {"bytes": mask_png(packed.mask), "path": f"{packed.stem}.png"},
        "turns": turns,
        "id": record.id,
        "group": record.group,
        "split": record.split,
        "record": json.dumps(record.to_dict(), ensure_ascii=False, allow_nan=False),
    }


class _Files:
    """The files that are being written, one per split at a time."""

    def __init__(self, target: Target) -> None:
        self.arrow, self.library = require("pyarrow", extra="hub"), require("pyarrow.parquet", extra="hub")
        self.folder = target.root / "data"
        self.folder.mkdir()
        picture = self.arrow.struct([("bytes", self.arrow.binary()), ("path", self.arrow.string())])
        features = {
            **{name: {"_type": "Image"} for name in IMAGES},
            **{name: {"dtype": "string", "_type": "Value"} for name in TEXTS},
        }
        own = {"name": target.name, "labels": list(target.labels.editors)}
        self.schema = self.arrow.schema(
            [*((name, picture) for name in IMAGES), *((name, self.arrow.string()) for name in TEXTS)],
            metadata={
                b"huggingface": json.dumps({"info": {"features": features}}).encode(),
                METADATA_KEY: json.dumps(own, ensure_ascii=False).encode("utf-8"),
            },
        )
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.written: Counter[str] = Counter()  # rows of the file that is open
        self.writers: dict[str, Any] = {}
        self.parts: Counter[str] = Counter()

    def add(self, split: str, row: dict[str, Any]) -> None:
        """Take one row; a full row group is written."""
        rows = self.rows.setdefault(split, [])
        rows.append(row)
        if len(rows) == ROWS_PER_GROUP:
            self.flush(split)

    def flush(self, split: str) -> None:
        """Write the rows that wait, and end a file that is full."""
        rows = self.rows.pop(split, [])
        if not rows:
            return
        if split not in self.writers:
            self.writers[split] = self.library.ParquetWriter(self.folder / self.part(split), self.schema)
        self.writers[split].write_table(self.arrow.Table.from_pylist(rows, schema=self.schema))
        self.written[split] += len(rows)
        if self.written[split] >= ROWS_PER_FILE:
            self.end(split)

    def part(self, split: str) -> str:
        """The name of a file while its number is not known."""
        return f"{split}-{self.parts[split]:05d}.part"

    def end(self, split: str) -> None:
        """End the file of a split."""
        self.writers.pop(split).close()
        self.parts[split] += 1
        self.written[split] = 0

    def close(self) -> None:
        """Write what waits and end all files."""
        for split in list(self.rows):
            self.flush(split)
        for split in list(self.writers):
            self.end(split)

    def number(self) -> None:
        """Give the files the names that the hub knows."""
        for split, total in self.parts.items():
            for number in range(total):
                part = self.folder / f"{split}-{number:05d}.part"
                part.rename(self.folder / f"{split}-{number:05d}-of-{total:05d}.parquet")
