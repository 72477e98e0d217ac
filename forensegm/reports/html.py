"""The HTML report: one file with everything in it, for screens of any size and for paper."""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from forensegm.imageio import encode_image, write_text_atomic
from forensegm.lookup import unknown_name
from forensegm.reports import page
from forensegm.reports.curves import Chart, robustness_charts, training_charts
from forensegm.reports.draw import ERROR_LEGEND, IGNORE_COLOUR
from forensegm.reports.numbers import pick
from forensegm.reports.panels import legend_entries
from forensegm.reports.plots import MARKERS, SERIES_COLOURS
from forensegm.reports.tables import (
    baseline_table,
    confusion_table,
    distortion_table,
    editor_table,
    pooling_table,
    score_table,
)
from forensegm.reports.text import clean
from forensegm.reports.tiles import tiles
from forensegm.sample import AUTHENTIC_NAME, IGNORE, Image, LabelSpace

KEYS = ("title", "intro", "metrics", "labels", "training", "environment", "notes", "undefined")
TILE_SIDE = 384
PHOTO_CODEC = "webp:88"
MARKER_SIGNS = dict(zip(MARKERS, ("●", "■", "▲", "◆"), strict=True))


@dataclass(frozen=True)
class Picture:
    """An image as it stands in the page."""

    kind: str
    caption: str
    alt: str
    uri: str
    width: int
    height: int


@dataclass(frozen=True)
class Example:
    """An image with its maps as they stand in the page."""

    id: str
    kind: str
    caption: Sequence[tuple[str, str]]
    pictures: list[Picture]


def write_report(path: str | Path, report: Mapping[str, Any], *, examples: Sequence[Mapping[str, Any]] = ()) -> Path:
    """Write a self-contained report of an evaluation: no script, nothing loaded from elsewhere.

    Args:
        path: the HTML file; written whole or not at all.
        report: `metrics` (the content of metrics.json) and, each optional: `title`; `intro` (plain text, a blank line
            between paragraphs); `labels` (class names by id); `training` (rows of log.jsonl or a history);
            `environment` (versions); `notes` (sentences on the limits); `undefined` (reason by key, beside those in
            `metrics`).
        examples: dicts with `id` and `image` (uint8 HxWx3) and, each optional: `truth` and `class_map` (uint8 HxW),
            `edited_prob` (float HxW in 0..1), `image_score`, `caption` (what to say beside it), `kind` (one or two
            words: "edited", "authentic", "missed", ...).

    Returns:
        The path.

    Raises:
        ValueError: no metrics, an unknown key, or an example whose arrays do not fit together.
    """
    path = Path(path)
    write_text_atomic(path, render(report, examples))
    return path


def render(report: Mapping[str, Any], examples: Sequence[Mapping[str, Any]]) -> str:
    """Return the report as HTML text; see `write_report`."""
    for key in report:
        if key not in KEYS:
            raise unknown_name(key, KEYS, what="key of the report")
    if not isinstance(report.get("metrics"), Mapping):
        raise ValueError(f"Expected report['metrics'] to be a dict of scores, got {report.get('metrics')!r}.")
    metrics = dict(report["metrics"])
    metrics["undefined"] = {**(metrics.get("undefined") or {}), **(report.get("undefined") or {})}
    labels = label_space(report.get("labels") or (), metrics, examples)
    names = labels.editors if labels else ()
    shown = [example(one, labels) for one in examples]
    return (
        templates()
        .get_template("report.html.jinja")
        .render(
            title=report.get("title") or "forensegm report",
            paragraphs=[part for part in str(report.get("intro") or "").split("\n\n") if part.strip()],
            summary=page.summary(metrics),
            cards=page.cards(metrics),
            examples=shown,
            editors=legend_entries(labels, present=[*range(1, labels.num_classes), *ignored(examples)])
            if labels
            else [],
            errors={name: colour for name, colour in ERROR_LEGEND.items() if colour != IGNORE_COLOUR},
            scores=score_table(metrics),
            baselines=baseline_table(metrics),
            by_editor=editor_table(metrics, names),
            confusion=confusion_table(metrics, names),
            pooling=pooling_table(metrics),
            robustness=robustness_charts(metrics),
            distortions=distortion_table(metrics),
            training=training_charts(report.get("training") or ()),
            counts=page.counts_table(metrics),
            skipped=page.skipped_items(metrics),
            limits=page.limits(metrics),
            notes=report.get("notes") or (),
            environment=page.environment_rows(report.get("environment") or {}),
            footnotes=page.Footnotes(),
        )
    )


@functools.cache
def templates() -> jinja2.Environment:
    """The templates: everything is escaped, a name that is missing is an error, and no text breaks the encoding."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("forensegm.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(css_colour=css_colour, legend_lines=legend_lines)
    environment.filters.update(svg=Markup, keep_together=keep_together)
    return environment


def keep_together(text: str) -> str:
    """Let no line break before a percent sign or inside brackets.

    >>> keep_together("3.4 % (all edited)")
    '3.4\\xa0% (all\\xa0edited)'
    """
    return re.sub(r"\([^()]*\)| %", lambda match: match.group().replace(" ", "\u00a0"), text)


def css_colour(colour: tuple[int, int, int]) -> str:
    """A colour as CSS writes it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def legend_lines(charts: Sequence[Chart]) -> list[tuple[str, int, str]]:
    """Names, series numbers (from 1) and marker signs of the lines in several charts, each once."""
    places = {one.name: one.place for chart in charts for one in chart.series}
    return [
        (name, place % len(SERIES_COLOURS) + 1, MARKER_SIGNS[MARKERS[place % len(MARKERS)]])
        for name, place in places.items()
    ]


def label_space(
    labels: Sequence[str], metrics: Mapping[str, Any], examples: Sequence[Mapping[str, Any]]
) -> LabelSpace | None:
    """Return the label space named by the report, else by its scores, else by the ids in its examples."""
    names = list(labels) or list(pick(metrics, "pixel.editors.per_class") or ())
    names = [name for name in names if name != AUTHENTIC_NAME]
    if names:
        return LabelSpace(tuple(names))
    maps = [one[key] for one in examples for key in ("truth", "class_map") if one.get(key) is not None]
    highest = max((int(part[part < IGNORE].max(initial=0)) for part in maps), default=0)
    return LabelSpace.opaque(highest) if highest else None


def ignored(examples: Sequence[Mapping[str, Any]]) -> list[int]:
    """[255] if any example's truth has pixels that are not judged, else []."""
    return [IGNORE] if any(one.get("truth") is not None and (one["truth"] == IGNORE).any() for one in examples) else []


def example(one: Mapping[str, Any], labels: LabelSpace | None) -> Example:
    """Draw one example."""
    name = str(one.get("id", ""))
    if not name or one.get("image") is None:
        raise ValueError(f"Expected an example to have an 'id' and an 'image', got the keys {', '.join(one)}.")
    maps = {key: one.get(key) for key in ("truth", "class_map", "edited_prob")}
    try:
        row = tiles(one["image"], labels or LabelSpace.opaque(1), side=TILE_SIDE, name=name, **maps)
    except ValueError as error:
        raise ValueError(f"Expected example '{name}' to be drawable. {error}") from error
    caption = one.get("caption") or ({"score": one["image_score"]} if one.get("image_score") is not None else {})
    pictures = [
        Picture(
            tile.kind,
            tile.caption,
            tile.alt,
            data_uri(tile.image, "png" if tile.flat else PHOTO_CODEC),
            tile.image.shape[1],
            tile.image.shape[0],
        )
        for tile in row
    ]
    return Example(name, str(one.get("kind", "")), page.caption_rows(caption), pictures)


def data_uri(image: Image, codec: str) -> str:
    """Encode an image so that it can stand inside the page."""
    encoded = base64.b64encode(encode_image(image, codec)).decode("ascii")
    return f"data:image/{codec.partition(':')[0]};base64,{encoded}"
