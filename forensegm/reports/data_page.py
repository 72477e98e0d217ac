"""A page on what a data set holds: tables, where it is edited, and pictures of random samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensegm.imageio import write_text_atomic
from forensegm.reports import page
from forensegm.reports.data_tables import data_tables
from forensegm.reports.draw import heat as heat_colours
from forensegm.reports.html import Picture, data_uri, example, templates
from forensegm.reports.panels import legend_entries
from forensegm.reports.tiles import resize_to
from forensegm.sample import IGNORE, LabelSpace

HEAT_SHOWN = 256


def write_data_page(
    path: str | Path,
    summary: Mapping[str, Any],
    *,
    title: str,
    labels: LabelSpace,
    heat: NDArray[np.float32] | None = None,
    examples: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write a self-contained page on a data set: no script, nothing loaded from elsewhere.

    Args:
        path: the HTML file; written whole or not at all.
        summary: of the data set, see `forensegm.datasets.summary.summarize`.
        title: name of the data set.
        labels: its label space.
        heat: where edited images are edited, float32 HxW in 0..1.
        examples: images with truth, as `write_report` takes them.

    Returns:
        The path.
    """
    path = Path(path)
    values = {int(value) for value in summary["values"]}
    text = (
        templates()
        .get_template("data.html.jinja")
        .render(
            title=title,
            tables=data_tables(summary),
            heat=_heat_picture(heat),
            examples=[example(one, labels) for one in examples],
            editors=legend_entries(labels, present=sorted(values - {0} | ({IGNORE} & values))),
            errors=summary["errors"][: page.MOST_SKIPPED],
            more_errors=max(0, len(summary["errors"]) - page.MOST_SKIPPED),
            footnotes=page.Footnotes(),
        )
    )
    write_text_atomic(path, text)
    return path


def _heat_picture(heat: NDArray[np.float32] | None) -> Picture | None:
    if heat is None:
        return None
    top = float(heat.max())
    shown = resize_to(heat_colours(heat / top if top > 0 else heat), (HEAT_SHOWN, HEAT_SHOWN), exact=True)
    caption = f"brightest: edited in {100 * top:.0f} % of the edited images"
    alt = "Where edited images are edited, every image stretched to one square; " + caption
    return Picture("heat", caption, alt, data_uri(shown, "png"), HEAT_SHOWN, HEAT_SHOWN)
