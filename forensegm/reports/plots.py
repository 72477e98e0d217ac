"""Curves as SVG that takes its colours from the page: readable on light and dark ground, and in print."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forensegm.reports.numbers import format_value, is_number
from forensegm.reports.text import drawable

SIZE_INCHES = (4.4, 2.7)
FONT_SIZE = 10

# Each stands for a CSS variable of the page; alone, an SVG shows these very colours. Lines: Okabe and Ito.
SERIES_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
MARKERS = ("o", "s", "^", "D")
INK, GRID, PAPER = "#1c1e21", "#d9dce1", "#fefefe"
CSS_VARIABLES = {
    INK: "--ink",
    GRID: "--line",
    PAPER: "--paper",
    **{colour: f"--series-{place}" for place, colour in enumerate(SERIES_COLOURS, start=1)},
}
FONT_FAMILY = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Series:
    """One line of a chart.

    Attributes:
        name: in words.
        values: one per place on the x axis; None leaves a gap.
        place: number of its colour and marker (from 0), the same for one score in all charts.
        reference: level of a dashed line across the chart, or None.
        connected: whether the line goes on across missing values (scores that are taken every few rows only).
    """

    name: str
    values: Sequence[float | None]
    place: int
    reference: float | None = None
    connected: bool = False

    @property
    def known(self) -> bool:
        """Whether there is any value to draw."""
        return any(is_number(value) for value in self.values)


def line_chart(
    x: Sequence[float] | Sequence[str],
    series: Sequence[Series],
    *,
    x_label: str,
    title: str,
    y_range: tuple[float, float] | None = None,
) -> str:
    """Draw lines over numbers or over ordered categories.

    Args:
        x: numbers, or texts for evenly spaced categories.
        series: the lines, each with one value per x.
        x_label: name of the x axis.
        title: what the chart shows; with the values it becomes its description for those who do not see it.
        y_range: fixed range of the y axis; None = by the values.

    Returns:
        An `<svg>` element for use inside an HTML page.

    Raises:
        ValueError: a line with another number of values than `x`.
    """
    for one in series:
        if len(one.values) != len(x):
            raise ValueError(f"Expected {len(x)} values for '{one.name}', got {len(one.values)}.")
    labels = [drawable(value) if isinstance(value, str) else format_value(value) for value in x]
    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    axes = figure.add_subplot()
    categories = any(isinstance(value, str) for value in x)
    places = list(range(len(x))) if categories else [float(value) for value in x]
    for one in series:
        draw_series(axes, places, one, markers=len(x) <= 40)
    style(axes, x_label=x_label, y_range=y_range)
    if categories:
        axes.set_xticks(places, labels, parse_math=False)
        axes.set_xlim(-0.3, len(x) - 0.7)
    elif len(set(places)) > 1:
        axes.locator_params(axis="x", integer=True, nbins=7)
    else:
        axes.set_xticks(places, labels)
    return to_svg(figure, description=describe(title, labels, series))


def draw_series(axes: Axes, places: Sequence[float], one: Series, *, markers: bool) -> None:
    """Draw a line with its markers, and its reference across the chart."""
    colour, marker = SERIES_COLOURS[one.place % len(SERIES_COLOURS)], MARKERS[one.place % len(MARKERS)]
    values = [float(value) if value is not None and is_number(value) else float("nan") for value in one.values]
    if one.connected:
        places = [place for place, value in zip(places, one.values, strict=True) if is_number(value)]
        values = [value for value in values if is_number(value)]
    if one.reference is not None:
        axes.axhline(one.reference, color=colour, linewidth=1, linestyle=(0, (4, 3)), alpha=0.6)
    axes.plot(
        places,
        values,
        color=colour,
        linewidth=2,
        marker=marker if markers or len(values) <= 40 else "",
        markersize=5.5,
        markeredgecolor=PAPER,
        markeredgewidth=1,
        clip_on=False,
        zorder=3,
    )


def style(axes: Axes, *, x_label: str, y_range: tuple[float, float] | None) -> None:
    """Set a quiet frame: horizontal grid lines, one axis line."""
    axes.set_xlabel(drawable(x_label), fontsize=FONT_SIZE, color=INK, parse_math=False)
    axes.grid(axis="y", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=FONT_SIZE, length=0, pad=6)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(GRID)
    if y_range:
        axes.set_ylim(*y_range)
    else:
        axes.margins(y=0.1)


def describe(title: str, labels: Sequence[str], series: Sequence[Series]) -> str:
    """Say a chart in words; of long lines only the first, the last and the extreme values."""
    parts = []
    for one in series:
        known = [(label, value) for label, value in zip(labels, one.values, strict=True) if is_number(value)]
        if len(known) > 12:
            low, high = min(known, key=lambda pair: pair[1] or 0), max(known, key=lambda pair: pair[1] or 0)
            known = [known[0], low, high, known[-1]]
        values = ", ".join(f"{label}: {format_value(value)}" for label, value in known)
        parts.append(f"{one.name}: {values or 'no value'}")
    return f"{title}. {'; '.join(parts)}."


def to_svg(figure: Figure, *, description: str) -> str:
    """Write a figure as an inline `<svg>` whose colours are CSS variables and whose text is the page's font."""
    buffer = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": description}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(
        r"<metadata>.*?</metadata>|<style type=\"text/css\">.*?</style>|<!--.*?-->", "", text, flags=re.DOTALL
    )
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # the same in every chart; the page may hold each id once
    text = re.sub(r"font: (\d+px) [^;\"]*", rf"font: \1 {FONT_FAMILY}", text)
    for colour, variable in CSS_VARIABLES.items():
        text = text.replace(colour, f"var({variable}, {colour})")
    view_box = re.search(r'viewBox="([^"]*)"', text)
    inside = text[text.index(">", text.index("<svg")) + 1 : text.rindex("</svg>")]
    box = view_box.group(1) if view_box else "0 0 316 194"
    return (
        f'<svg class="chart" viewBox="{box}" role="img" aria-label="{_attribute(description)}">{inside.strip()}</svg>'
    )


def _attribute(text: str) -> str:
    for char, entity in (("&", "&amp;"), ('"', "&quot;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(char, entity)
    return text
