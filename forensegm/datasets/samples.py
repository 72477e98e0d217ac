"""Random samples of a data set, to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from forensegm.datasets.protocol import Dataset
from forensegm.datasets.scan import ItemFacts
from forensegm.datasets.summary import codec_text


def draw_samples(dataset: Dataset, facts: Sequence[ItemFacts], *, count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Read random readable items: edited and authentic ones in turn, as far as there are both.

    Returns:
        Dicts with id, kind, image (uint8 HxWx3), truth (uint8 HxW) and caption (name to value), as
        `forensegm.reports.write_report` takes them.
    """
    rng = np.random.default_rng(seed)
    fake = {item.index: bool(item.label and item.label.fake) for item in facts if not item.error}
    edited, authentic = (
        [int(index) for index in rng.permutation([number for number, value in fake.items() if value is wanted])]
        for wanted in (True, False)
    )
    # Two edited ones for each authentic one: there is more to see on them.
    edited_count = min(len(edited), max(count - len(authentic), -(-count * 2 // 3)))
    chosen = sorted([*edited[:edited_count], *authentic[: count - edited_count]])
    by_index = {item.index: item for item in facts}
    return [_sample(dataset, by_index[index]) for index in chosen]


def _sample(dataset: Dataset, facts: ItemFacts) -> dict[str, Any]:
    sample = dataset[facts.index]
    label = sample.label
    names = [dataset.labels.name_of(value) for value in label.editors]
    caption: dict[str, Any] = {"size": f"{facts.hw[0]}x{facts.hw[1]}", "encoding": codec_text(facts.codec)}
    if label.edited_share:
        caption["edited"] = f"{100 * label.edited_share:.1f} %"
        caption["editors"] = ", ".join(names)
    if facts.edits:
        caption["turns"] = " > ".join(facts.edits)
    if facts.split:
        caption["split"] = facts.split
    kind = "not judged" if label.fake is None else f"edited, {label.coverage}" if label.fake else "authentic"
    return {"id": sample.id, "kind": kind, "image": sample.image, "truth": sample.mask, "caption": caption}
