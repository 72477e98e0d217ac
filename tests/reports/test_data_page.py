import numpy as np
import pytest

from forensegm.reports.data_page import write_data_page
from forensegm.reports.data_tables import data_tables
from forensegm.sample import LabelSpace

LABELS = LabelSpace(("sd", "flux <b>"))
SUMMARY = {
    "counts": {
        "images": 1200,
        "readable": 1199,
        "unreadable": 1,
        "edited": 900,
        "authentic": 299,
        "unknown": 0,
        "partial": 800,
        "full": 100,
        "empty": 299,
        "groups": 400,
    },
    "values": {
        "0": {"class": "authentic", "pixels": 900, "images": 1100},
        "2": {"class": "flux <b>", "pixels": 100, "images": 900},
    },
    "editors": {
        "sd": {"images": 0, "dominant": 0, "pixels": 0},
        "flux <b>": {"images": 900, "dominant": 900, "pixels": 100},
    },
    "area": {"0-1 %": 0, "1-5 %": 900},
    "turns": {},
    "edits": {},
    "sizes": {
        "distinct": 2,
        "common": {"512x512": 1100, "160x90": 99},
        "sides": {"height": {"min": 160, "median": 512, "max": 512}, "width": {"min": 90, "median": 512, "max": 512}},
    },
    "codecs": {"PNG": 1199},
    "splits": {"train": {"images": 1200, "edited": 900, "authentic": 299, "groups": 400}},
    "errors": [{"id": "a<i>.png", "error": "Expected a whole image, got <none>."}],
}


def cells(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_tables_hold_the_counts():
    tables = {table.title: table for table in data_tables(SUMMARY)}
    assert "Turns" not in tables
    assert ["edited", "900", "75.0 %"] in cells(tables["Images"])
    assert cells(tables["Editors"])[1] == ["flux <b>", "900", "100.0 %", "900", "100.0 %"]
    assert cells(tables["Mask values"])[1] == ["2", "flux <b>", "900", "10.0 %"]
    assert tables["Sizes"].notes == ["2 sizes; height 160 to 512, median 512; width 90 to 512, median 512 pixels."]
    assert tables["Share of edited pixels"].rows[1][2].shade == 1.0


def test_the_page_is_whole_escaped_and_needs_nothing_else(tmp_path):
    image = np.full((20, 30, 3), 90, np.uint8)
    truth = np.zeros((20, 30), np.uint8)
    truth[:9] = 2
    one = {"id": "b<c>", "kind": "edited", "image": image, "truth": truth, "caption": {"size": "20x30"}}
    heat = np.linspace(0, 0.5, 1024, dtype=np.float32).reshape(32, 32)
    path = write_data_page(tmp_path / "d.html", SUMMARY, title="my <data>", labels=LABELS, heat=heat, examples=[one])
    text = path.read_text(encoding="utf-8")
    assert "<h1>my &lt;data&gt;</h1>" in text
    assert "a&lt;i&gt;.png" in text
    assert "b&lt;c&gt;" in text
    assert "<b>" not in text
    assert "edited in 50 % of the edited images" in text
    assert text.count('src="data:image/') == 3  # heat, image, truth
    assert "http" not in text.replace("http-equiv", "")


@pytest.mark.parametrize("labels", [LABELS, LabelSpace(("sd",))])
def test_an_empty_summary_still_makes_a_page(tmp_path, labels):
    empty = {
        **SUMMARY,
        "counts": dict.fromkeys(SUMMARY["counts"], 0),
        "values": {},
        "area": {},
        "errors": [],
        "sizes": {"distinct": 0, "common": {}, "sides": {}},
        "codecs": {},
    }
    text = write_data_page(tmp_path / "d.html", empty, title="x", labels=labels).read_text(encoding="utf-8")
    assert "Random samples" not in text
    assert "Unreadable" not in text
