import os

import numpy as np
import pytest

from forensegm.datasets import open_dataset
from forensegm.datasets.scan import scan
from forensegm.datasets.summary import area_bins, codec_text, heat_map, summarize
from forensegm.imageio import write_image


def comparable(facts):
    return [{**item.__dict__, "heat": None if item.heat is None else item.heat.tobytes()} for item in facts]


def test_facts_of_a_native_data_set(native):
    dataset = open_dataset(str(native))
    seen = []
    facts = scan(dataset, progress=lambda *event: seen.append(event))
    assert [item.id for item in facts] == dataset.ids
    first = facts[0]
    assert (first.hw, first.group, first.split, first.error) == ((12, 16), "scene0", "train", "")
    assert first.areas == {0: 12 * 16 - 24, 2: 24}
    assert (first.edits, first.turns) == (("copy_move",), 1)
    assert first.codec["codec"] == "PNG"
    assert first.heat.shape == (32, 32)
    assert first.heat.mean() == pytest.approx(24 / (12 * 16), abs=0.01)
    assert seen[-1] == ("scan", 6, 6, dataset.ids[-1])


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_change_nothing(native, workers):
    dataset = open_dataset(str(native))
    assert comparable(scan(dataset, workers=workers)) == comparable(scan(dataset))


def test_what_cannot_be_read_is_an_item_with_its_error(native):
    (native / "images" / "002.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    facts = scan(open_dataset(str(native)), workers=1)
    assert [item.id for item in facts if item.error] == ["002"]
    assert "002.png" in facts[2].error
    summary = summarize(facts, open_dataset(str(native)).labels)
    assert summary["counts"]["unreadable"] == 1
    assert summary["errors"][0]["id"] == "002"


class Deadly:
    """A data set whose third item ends the process that reads it."""

    def __init__(self, dataset):
        self.name, self.labels, self.dataset = dataset.name, dataset.labels, dataset
        self.ids, self.groups, self.splits = dataset.ids, dataset.groups, dataset.splits

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        if index == 2:
            os._exit(9)
        return self.dataset[index]


def test_a_dead_worker_names_its_item(native):
    with pytest.raises(RuntimeError, match="worker 0 at '002'"):
        scan(Deadly(open_dataset(str(native))), workers=1, batch_size=1)


def test_a_summary_counts(native, write_pairs):
    dataset = open_dataset(str(native))
    summary = summarize(scan(dataset), dataset.labels)
    assert summary["counts"] == {
        "images": 6,
        "readable": 6,
        "unreadable": 0,
        "edited": 6,
        "authentic": 0,
        "unknown": 0,
        "partial": 6,
        "full": 0,
        "empty": 0,
        "groups": 3,
    }
    assert summary["values"]["2"] == {"class": "copy_move", "pixels": 6 * 24, "images": 6}
    assert summary["editors"]["telea"] == {"images": 0, "dominant": 0, "pixels": 0}
    assert summary["turns"] == {"1": 6}
    assert summary["edits"] == {"copy_move": 6}
    assert summary["splits"]["val"] == {"images": 2, "edited": 2, "authentic": 0, "groups": 1}
    assert summary["sizes"]["common"] == {"12x16": 6}
    root = write_pairs({"images/a.jpg": None, "masks/a.png": 16, "images/b.jpg": None, "masks/b.png": 0})
    dataset = open_dataset(f"folder:{root}")
    counts = summarize(scan(dataset), dataset.labels)["counts"]
    assert (counts["full"], counts["empty"], counts["edited"]) == (1, 1, 1)
    assert summarize(scan(dataset), dataset.labels)["codecs"] == {"JPEG 90 4:2:0": 2}


def test_areas_and_heat(native):
    facts = scan(open_dataset(str(native)))
    assert area_bins(facts) == {"0-1 %": 0, "1-5 %": 0, "5-20 %": 6, "20-50 %": 0, "50-100 %": 0}
    heat = heat_map(facts)
    assert heat.shape == (32, 32)
    assert heat[8, 12] == 1
    assert heat[0, 0] == 0
    assert heat_map([]) is None
    assert codec_text({}) == "unknown"


def test_equal_pixels_have_equal_digests(native):
    image = np.random.default_rng(0).integers(0, 256, (12, 16, 3), dtype=np.uint8)
    for name in ("000", "001"):
        write_image(native / "images" / f"{name}.png", image)
    facts = scan(open_dataset(str(native)))
    assert facts[0].digest == facts[1].digest != facts[2].digest
