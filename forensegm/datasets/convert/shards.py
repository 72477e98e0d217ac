"""Write WebDataset shards: plain tar files whose members of one key are one sample."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator

from forensegm.datasets.convert.native import count, describe
from forensegm.datasets.convert.source import Packed, Target, mask_png
from forensegm.datasets.records import write_dataset_yaml

SAMPLES_PER_SHARD = 1000


def write_shards(items: Iterator[Packed], target: Target) -> None:
    """Write SPLIT-000000.tar, ... and dataset.yaml; members are KEY.jpg, KEY.mask.png, KEY.turns.png and KEY.json."""
    open_shards: dict[str, tuple[tarfile.TarFile, int, int]] = {}
    counts = dict.fromkeys(("images", "edited", "authentic"), 0)
    try:
        for packed in items:
            split = packed.split
            shard, number, held = open_shards.get(split) or (_start(target, split, 0), 0, 0)
            if held == SAMPLES_PER_SHARD:
                shard.close()
                number, held = number + 1, 0
                shard = _start(target, split, number)
            _add(shard, packed)
            open_shards[split] = (shard, number, held + 1)
            count(counts, packed)
    finally:
        for shard, _, _ in open_shards.values():
            shard.close()
    write_dataset_yaml(target.root, describe(target, counts))


def _start(target: Target, split: str, number: int) -> tarfile.TarFile:
    return tarfile.open(target.root / f"{split}-{number:06d}.tar", "w", format=tarfile.PAX_FORMAT)


def _add(shard: tarfile.TarFile, packed: Packed) -> None:
    record = packed.record.to_dict()
    members = {
        packed.suffix: packed.data,
        ".mask.png": mask_png(packed.mask),
        **({".turns.png": mask_png(packed.turn_map)} if packed.turn_map is not None else {}),
        ".json": json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8"),
    }
    for suffix, data in members.items():
        info = tarfile.TarInfo(packed.stem + suffix)  # of no date and no owner: the same data give the same bytes
        info.size = len(data)
        shard.addfile(info, io.BytesIO(data))
