"""Charts as SVG."""

import re
import xml.etree.ElementTree as ET

import pytest

from forensegm.reports.plots import CSS_VARIABLES, Series, describe, line_chart


def chart(**options):
    series = [Series("edited IoU", [0.4, 0.3, None], 0, reference=0.4), Series("image AUC", [0.9, None, 0.7], 1)]
    return line_chart(["clean", "90", "<50>"], series, x_label="JPEG & $x$ 写", title='A "test"', **options)


def test_chart_is_well_formed_and_self_contained():
    svg = chart(y_range=(0, 1))

    root = ET.fromstring(svg.replace("xlink:href", "href"))
    assert root.tag == "svg"
    assert root.get("role") == "img"
    assert "http" not in svg
    assert "<style" not in svg
    assert "<metadata" not in svg


def test_chart_says_its_values_in_words():
    label = ET.fromstring(chart().replace("xlink:href", "href")).get("aria-label")

    assert label == 'A "test". edited IoU: clean: 0.400, 90: 0.300; image AUC: clean: 0.900, <50>: 0.700.'


def test_chart_takes_every_colour_from_the_page():
    svg = chart()

    outside = re.sub(r"var\(--[a-z0-9-]+, #[0-9a-f]{6}\)", "", svg)
    assert not re.search(r"#[0-9a-f]{6}\b", outside)
    assert "var(--series-1" in svg
    assert "var(--series-2" in svg
    assert "var(--series-3" not in svg


def test_css_variables_are_those_of_the_style_sheet():
    from importlib.resources import files

    style = (files("forensegm.reports") / "templates" / "style.css").read_text(encoding="utf-8")
    assert all(f"{variable}:" in style for variable in CSS_VARIABLES.values())


def test_chart_is_the_same_twice():
    assert chart() == chart()


def test_names_are_shown_as_they_are():
    texts = [element.text for element in ET.fromstring(chart().replace("xlink:href", "href")).iter("text")]

    assert "JPEG & $x$ \\u5199" in texts
    assert "<50>" in texts


def test_gaps_split_a_line_unless_it_is_connected():
    broken = line_chart([1, 2, 3], [Series("a", [1.0, None, 2.0], 0)], x_label="epoch", title="t")
    joined = line_chart([1, 2, 3], [Series("a", [1.0, None, 2.0], 0, connected=True)], x_label="epoch", title="t")

    def drawn(svg):
        paths = re.findall(r'<path d="([^"]*)" clip-path|<path d="([^"]*)" style="fill: none', svg)
        return sum("L" in first + second for first, second in paths)

    assert drawn(joined) > drawn(broken)


@pytest.mark.parametrize("x", [[3], ["clean"], [1, 1], list(range(200))])
def test_chart_takes_any_number_of_points(x):
    svg = line_chart(x, [Series("loss", [0.5] * len(x), 0)], x_label="epoch", title="Loss")

    assert "<path" in svg


def test_description_of_a_long_line_is_short():
    series = [Series("loss", [float(abs(50 - place)) for place in range(100)], 0)]

    text = describe("Loss", [str(place) for place in range(100)], series)

    assert text == "Loss. loss: 0: 50.000, 50: 0.000, 0: 50.000, 99: 49.000."


def test_chart_refuses_lines_of_another_length():
    with pytest.raises(ValueError, match="Expected 2 values for 'a', got 1"):
        line_chart([1, 2], [Series("a", [1.0], 0)], x_label="x", title="t")
