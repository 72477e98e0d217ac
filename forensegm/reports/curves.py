"""What is plotted: training curves from log rows, and scores over the levels of each distortion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensegm.reports.numbers import is_number, pick
from forensegm.reports.plots import Series, line_chart
from forensegm.reports.scores import BY_KEY, CURVES, SHORT, Metrics

CLEAN = "clean"

# Heading and x axis of each family, and whether a larger level is a stronger distortion (None: keep the order given).
FAMILIES: dict[str, tuple[str, str, bool | None]] = {
    "jpeg": ("JPEG", "JPEG quality", False),
    "webp": ("WebP", "WebP quality", False),
    "resize": ("resize", "resize factor", False),
    "blur": ("blur", "Gaussian blur, sigma in pixels", True),
    "noise": ("noise", "Gaussian noise, sigma in grey levels", True),
    "gamma": ("gamma", "gamma", None),
}

LOSS = ("loss", "train/epoch_loss", "train/loss", "train.loss")
VALIDATION_LOSS = ("val.loss", "val/loss")
RATE = ("lr", "train/lr", "train.lr")
VALIDATION = (*CURVES, "pixel.editors.miou")


@dataclass(frozen=True)
class Chart:
    """A drawn chart: its heading, the `<svg>`, and the lines in it for a legend."""

    title: str
    svg: str
    series: list[Series]


def robustness_charts(metrics: Metrics) -> list[Chart]:
    """One chart per distortion family: edited IoU, image AUC and editor identity over its levels, from clean on."""
    families: dict[str, list[Mapping[str, Any]]] = {}
    for entry in metrics.get("distortions") or []:
        families.setdefault(str(entry["name"]), []).append(entry)
    return [family_chart(name, entries, metrics) for name, entries in families.items()]


def family_chart(name: str, entries: Sequence[Mapping[str, Any]], clean: Metrics) -> Chart:
    """Draw one family; the clean value is the first point and a dashed line."""
    parts = [FAMILIES.get(part, (part, f"level of {part}", None)) for part in name.split("|")]
    title = ", then ".join(part[0] for part in parts)
    title = title[:1].upper() + title[1:]
    label, grows = parts[0][1:] if len(parts) == 1 else (f"levels of {name}", None)
    ordered = by_severity(entries, grows=grows)
    series = []
    for place, key in enumerate(CURVES):
        at_clean = number_or_none(pick(clean, key))
        values = [at_clean, *(number_or_none(pick(entry, key)) for entry in ordered)]
        series.append(Series(BY_KEY[key].label, values, place, reference=at_clean))
    x = [CLEAN, *(level_text(entry.get("level")) for entry in ordered)]
    drawn = [one for one in series if one.known]
    return Chart(title, line_chart(x, drawn, x_label=label, title=f"Scores under {title}", y_range=(0, 1)), drawn)


def by_severity(entries: Sequence[Mapping[str, Any]], *, grows: bool | None) -> list[Mapping[str, Any]]:
    """Order entries from weak to strong where the family and all its levels say what that is."""
    levels = [level_number(entry.get("level")) for entry in entries]
    if grows is None or None in levels:
        return list(entries)
    return sorted(entries, key=lambda entry: (level_number(entry.get("level")) or 0.0) * (1 if grows else -1))


def level_number(level: Any) -> float | None:
    """A level as a number, or None where it is none ("0.5|70")."""
    try:
        return float(level)
    except (TypeError, ValueError):
        return None


def level_text(level: Any) -> str:
    """A level as a tick label."""
    number = level_number(level)
    return f"{number:g}" if number is not None else "" if level is None else str(level)


def number_or_none(value: Any) -> float | None:
    """A finite number, or None."""
    return float(value) if is_number(value) else None


def flatten(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dicts as one dict with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return flat


def column(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> list[float | None]:
    """The values of the first of several keys that any row has, one per row."""
    for key in keys:
        values = [number_or_none(row.get(key)) for row in rows]
        if any(value is not None for value in values):
            return values
    return [None] * len(rows)


def training_charts(history: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """Loss, validation scores and learning rate over the epochs (or steps) of a log.

    Rows are those of log.jsonl or of a history: nested ("val": {...}) or flat ("val/...", "val....") keys.
    """
    rows = [flatten(row) for row in history]
    axis, x = x_axis(rows)
    loss = [
        Series("training loss", column(rows, LOSS), 0),
        Series("validation loss", column(rows, VALIDATION_LOSS), 1, connected=True),
    ]
    scores = [
        Series(SHORT.get(key, BY_KEY[key].label), column(rows, (f"val.{key}", f"val/{key}")), place, connected=True)
        for place, key in enumerate(VALIDATION)
    ]
    rate = [Series("learning rate", column(rows, RATE), 0)]
    plans: list[tuple[str, list[Series], tuple[float, float] | None]] = [
        ("Loss", loss, None),
        ("Validation scores", scores, (0, 1)),
        ("Learning rate", rate, None),
    ]
    charts = []
    for title, series, y_range in plans:
        drawn = [one for one in series if one.known]
        if drawn:
            charts.append(Chart(title, line_chart(x, drawn, x_label=axis, title=title, y_range=y_range), drawn))
    return charts


def x_axis(rows: Sequence[Mapping[str, Any]]) -> tuple[str, list[float]]:
    """Return name and values of the x axis: epochs where each row is one, else steps, else the row's number."""
    for key in ("epoch", "step"):
        values = [number_or_none(row.get(key)) for row in rows]
        known = [value for value in values if value is not None]
        if len(known) == len(rows) and len(set(known)) == len(known):
            return key, known
    return "row", [float(number) for number in range(1, len(rows) + 1)]
