"""The page, parsed as a browser would."""

import base64
import re
from html.parser import HTMLParser

import cv2
import numpy as np
import pytest

from forensegm.reports import write_report

VOID = {"meta", "img", "br", "hr", "link", "input"}
HARD_IDS = ['<b>bold</b> & "quoted"', "écran/写真 001", "bytes \udcff", "{{ 1 + 1 }}"]


class Page(HTMLParser):
    """Collects elements and text, and whether every element is closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())  # no-break spaces as well


@pytest.fixture
def report(metrics):
    return {
        "title": "Test <report>",
        "intro": "First paragraph.\n\nSecond <em>paragraph</em>.",
        "metrics": metrics,
        "labels": ["authentic", "telea", "copy_move", "b<i>"],
        "training": [{"epoch": 1, "loss": 1.0, "lr": 0.1}, {"epoch": 2, "loss": 0.5, "lr": 0.05}],
        "environment": {"torch": "2.9"},
        "notes": ["Classical editors only."],
        "undefined": {"editor_identity.macro_f1": "no edited image at all"},
    }


def written(tmp_path, report, examples=()):
    path = write_report(tmp_path / "report.html", report, examples=examples)
    return path.read_bytes().decode("utf-8")


def test_every_part_is_there(tmp_path, report, example):
    text = written(tmp_path, report, [example])
    page = Page(text)

    assert page.open == []
    assert text.startswith("<!DOCTYPE html>")
    for part in (
        "Test <report>",
        "Second <em>paragraph</em>.",
        "Judged on 10 images of 4 photographs",
        "0.457",
        "0.310 to 0.550",
        "0.060 (all edited)",
        "Classical editors only.",
        "no edited image at all",
        "one class only",
        "jpeg(90)",
        "torch",
        "b<i>",
    ):
        assert part in page.text
    named = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    ids = set(named)
    assert len(named) == len(ids)
    assert {"examples", "scores", "editors", "robustness", "training", "data", "limits", "undefined"} <= ids
    assert {attrs["href"][1:] for attrs in page.all("a")} <= ids


def test_nothing_is_loaded_and_nothing_runs(tmp_path, report, example):
    text = written(tmp_path, report, [example])
    page = Page(text)

    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", re.sub(r'src="data:[^"]*"', "", text))
    assert not page.all("script")
    assert not page.all("link")
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    assert all(attrs["src"].startswith("data:image/") for attrs in page.all("img"))
    policies = [attrs["content"] for attrs in page.all("meta") if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policies == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]


def test_every_example_is_there_whatever_its_name(tmp_path, report, example):
    page = Page(written(tmp_path, report, [{**example, "id": name, "kind": "<u>"} for name in HARD_IDS]))

    for shown in ('<b>bold</b> & "quoted"', "écran/写真 001", "bytes \\udcff", "{{ 1 + 1 }}"):
        assert shown in page.text
    assert not page.all("u")
    images = page.all("img")
    assert len(images) == 5 * len(HARD_IDS)
    assert all(len(attrs["alt"]) > 10 and int(attrs["width"]) > 0 for attrs in images)
    assert sum("écran/写真 001, truth: telea" in attrs["alt"] for attrs in images) == 1


def test_pictures_decode_to_what_was_drawn(tmp_path, report, example):
    images = Page(written(tmp_path, report, [example])).all("img")

    def decoded(place):
        data = base64.b64decode(images[place]["src"].partition(",")[2])
        return cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR)[..., ::-1]

    assert [decoded(place).shape for place in range(5)] == [(72, 96, 3)] * 5
    errors = decoded(4)
    assert errors[0, 0].tolist() == [110, 110, 110]  # not judged
    assert errors[30, 10].tolist() == [245, 245, 245]  # found, right editor
    assert errors[60, 10].tolist() == [245, 211, 60]  # found, wrong editor
    assert errors[60, 90].tolist() == [0, 0, 0]


def test_undefined_values_point_to_their_reason(tmp_path, report):
    text = written(tmp_path, report)

    assert '<abbr title="no edited image">n/a</abbr><sup><a href="#reason-1">1</a></sup>' in text
    assert '<li id="reason-1">no edited image</li>' in text
    assert "None" not in Page(text).text


def test_the_least_report(tmp_path):
    page = Page(written(tmp_path, {"metrics": {}}))

    assert "forensegm report" in page.text
    assert "No counts were recorded." in page.text
    assert "not measured in this run" in page.text


@pytest.mark.parametrize("hw", [(1, 1), (3, 500), (500, 3), (31, 33), (900, 1200)])
def test_examples_of_any_size_and_with_any_part_missing(tmp_path, hw):
    image, mask = np.zeros((*hw, 3), dtype=np.uint8), np.full(hw, 2, dtype=np.uint8)
    examples = [{"id": "a", "image": image, "image_score": 0.3}, {"id": "b", "image": image, "class_map": mask}]

    page = Page(written(tmp_path, {"metrics": {}}, examples))

    assert len(page.all("img")) == 3
    assert all(max(int(attrs["width"]), int(attrs["height"])) <= 384 for attrs in page.all("img"))
    assert "editor_2" in page.text  # no names were given: ids stay opaque
    assert "0.300" in page.text


def test_twelve_photographs_stay_below_six_megabytes(tmp_path, report, example):
    rng = np.random.default_rng(0)
    shape = {key: np.resize(example[key], (256, 256)) for key in ("truth", "class_map", "edited_prob")}
    noise = rng.integers(0, 256, (256, 256, 3)).astype(np.uint8)  # the worst case of every encoder

    path = write_report(tmp_path / "report.html", report, examples=[{**example, **shape, "image": noise}] * 12)

    assert path.stat().st_size < 6e6


def test_the_same_report_twice_is_the_same_file(tmp_path, report, example):
    assert written(tmp_path, report, [example]) == written(tmp_path, report, [example])


def test_mistakes_are_named_and_nothing_is_left_behind(tmp_path, report, example):
    path = tmp_path / "report.html"
    small = {**example, "truth": example["truth"][:-1]}
    strange = {**example, "class_map": np.full((24, 32), 77, dtype=np.uint8)}

    for wrong, examples, message in (
        ({"metric": {}}, [], "Did you mean metrics"),
        ({"title": "x"}, [], r"report\['metrics'\]"),
        (report, [{"id": "a"}], "'id' and an 'image'"),
        (report, [small], "crop_1"),
        (report, [strange], "crop_1.*got 77"),
    ):
        with pytest.raises(ValueError, match=message):
            write_report(path, wrong, examples=examples)
    assert list(tmp_path.iterdir()) == []
