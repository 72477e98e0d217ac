import csv
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage import data

from forensegm.datasets import folder, open_dataset
from forensegm.datasets.resplit import HELD_OUT, apply_to_native, resplit, stratum, write_splits
from forensegm.datasets.scan import ItemFacts, scan
from forensegm.distortions import distort
from forensegm.imageio import write_image
from forensegm.sample import LabelSpace, image_label

LABELS = LabelSpace(("sd", "flux"))


def facts_of(kinds):
    """Items by (group, editor id, edited pixels of 100); the authentic ones have none."""
    found = []
    for number, (group, editor, pixels) in enumerate(kinds):
        mask = np.zeros((10, 10), np.uint8)
        mask.ravel()[:pixels] = editor
        values, areas = np.unique(mask, return_counts=True)
        found.append(
            ItemFacts(
                id=f"{number:03d}",
                index=number,
                group=group or f"{number:03d}",
                split="",
                hw=(10, 10),
                areas=dict(zip(values.tolist(), areas.tolist(), strict=True)),
                label=image_label(mask),
                digest=str(number),
            )
        )
    return found


def many(groups=60, seed=0):
    rng = np.random.default_rng(seed)
    kinds = []
    for group in range(groups):
        for _ in range(int(rng.integers(1, 6))):
            editor = int(rng.integers(0, 3))
            kinds.append((f"g{group}", editor, int(rng.integers(1, 90)) if editor else 0))
    return facts_of(kinds)


def test_groups_stay_whole_and_shares_are_met():
    facts = many()
    assignment = resplit(facts, LABELS)
    by_group = {}
    for item in facts:
        by_group.setdefault(item.group, set()).add(assignment.splits[item.id])
    assert all(len(splits) == 1 for splits in by_group.values())
    counts = Counter(assignment.splits.values())
    assert [counts[name] / len(facts) for name in ("train", "val", "test")] == pytest.approx([0.7, 0.1, 0.2], abs=0.02)
    assert assignment.grouped_by == "group"


def test_strata_are_alike():
    facts = many(200)
    assignment = resplit(facts, LABELS, shares=(0.6, 0.2, 0.2))
    everywhere = Counter(stratum(item)[0] for item in facts)
    for split in ("train", "val", "test"):
        here = [stratum(item)[0] for item in facts if assignment.splits[item.id] == split]
        for editor, total in everywhere.items():
            assert here.count(editor) / len(here) == pytest.approx(total / len(facts), abs=0.03)


@given(st.integers(0, 5), st.randoms())
@settings(deadline=None, max_examples=20)
def test_order_does_not_matter_and_the_seed_does(seed, random):
    facts = many(25, seed=1)
    expected = resplit(facts, LABELS, seed=seed).splits
    shuffled = list(facts)
    random.shuffle(shuffled)
    assert resplit(shuffled, LABELS, seed=seed).splits == expected
    assert resplit(facts, LABELS, seed=seed + 1).splits != expected


def test_an_editor_is_kept_out_in_any_turn():
    facts = many()
    facts[0] = ItemFacts(**{**facts[0].__dict__, "edits": ("flux", "sd"), "areas": {0: 50, 1: 50}})  # covered later
    assignment = resplit(facts, LABELS, leave_out=["flux"])
    for item in facts:
        holds = 2 in item.areas or "flux" in item.edits
        assert not (holds and assignment.splits[item.id] in ("train", "val"))
        assert holds or assignment.splits[item.id] != HELD_OUT
    assert HELD_OUT in assignment.splits.values()
    assert any(2 in item.areas for item in facts if assignment.splits[item.id] == "test")
    assert assignment.splits[facts[0].id] in (HELD_OUT, "test")


def test_no_split_stays_empty():
    for groups in (3, 4, 5):
        counts = Counter(resplit(facts_of([(f"g{n}", 1, 9) for n in range(groups)]), LABELS).splits.values())
        assert set(counts) == {"train", "val", "test"}


def test_near_duplicates_are_groups_where_none_is_known(tmp_path):
    photographs = [data.astronaut(), data.chelsea(), data.coffee(), data.rocket()]
    for number, photograph in enumerate(photographs):
        write_image(tmp_path / f"real/{number}.png", photograph)
        write_image(tmp_path / f"real/{number}_small.png", distort(photograph, "resize(0.5)|jpeg(80)", seed=0))
    facts = scan(folder(tmp_path, images=None, authentic="real"))
    assignment = resplit(facts, LABELS, shares=(0.5, 0.25, 0.25))
    assert assignment.grouped_by == "near duplicates"
    for number in range(4):
        assert assignment.splits[f"real/{number}.png"] == assignment.splits[f"real/{number}_small.png"]
    assert len(set(assignment.groups.values())) == 4


def test_lists_and_records(native, tmp_path):
    dataset = open_dataset(str(native))
    assignment = resplit(scan(dataset), dataset.labels, shares=(0.4, 0.3, 0.3), seed=3)
    write_splits(tmp_path / "splits.csv", assignment)
    rows = list(csv.DictReader((tmp_path / "splits.csv").read_text().splitlines()))
    assert {row["id"]: row["split"] for row in rows} == assignment.splits
    apply_to_native(native, assignment)
    again = open_dataset(str(native))
    assert dict(zip(again.ids, again.splits, strict=True)) == assignment.splits
    del assignment.splits["003"]
    with pytest.raises(ValueError, match="none for 1: 003"):
        apply_to_native(native, assignment)


def test_unreadable_items_are_named_and_in_no_split(native):
    (native / "images/002.png").write_bytes(b"x")
    dataset = open_dataset(str(native))
    assignment = resplit(scan(dataset), dataset.labels, shares=(0.5, 0.2, 0.3))
    assert [name for name, _ in assignment.skipped] == ["002"]
    assert "002" not in assignment.splits


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shares": (0.5, 0.5, 0.5)}, "sum of 1"),
        ({"shares": (1.2, -0.1, -0.1)}, "sum of 1"),
        ({"leave_out": ["fluks"]}, "Did you mean flux"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(ValueError, match=message):
        resplit(many(5), LABELS, **options)
    with pytest.raises(ValueError, match="at least 3 groups"):
        resplit(facts_of([("a", 1, 5), ("b", 1, 5)]), LABELS)
