"""Write an evaluation to a folder, and read it back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forensegm.evaluation.evaluate import Evaluation
from forensegm.imageio import write_json, write_text_atomic
from forensegm.reports import write_report

METRICS = "metrics.json"
ROWS = "per_image.jsonl"
REPORT = "report.html"


def write_evaluation(
    folder: str | Path, evaluation: Evaluation, *, labels: list[str], title: str, report: dict[str, Any] | None = None
) -> list[Path]:
    """Write metrics.json, per_image.jsonl and report.html; return their paths.

    Args:
        folder: made if it does not exist; files of an earlier evaluation are replaced, each atomically.
        evaluation: what to write.
        labels: class names by id, "authentic" first.
        title: heading of the report.
        report: more keys for the report, for example `training` (see `forensegm.reports.write_report`).
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rows = "".join(json.dumps(row, allow_nan=False) + "\n" for row in evaluation.rows)
    write_text_atomic(folder / ROWS, rows)
    content = {
        "title": title,
        "labels": labels,
        "metrics": evaluation.metrics,
        "undefined": evaluation.metrics["undefined"],
        **(report or {}),
    }
    write_report(folder / REPORT, content, examples=evaluation.examples)
    write_json(folder / METRICS, evaluation.metrics)
    return [folder / name for name in (METRICS, ROWS, REPORT)]


def read_rows(folder: str | Path) -> list[dict[str, Any]]:
    """Read per_image.jsonl of an evaluation folder; raises FileNotFoundError or ValueError naming the file."""
    path = Path(folder) / ROWS
    if not path.is_file():
        raise FileNotFoundError(
            f"Expected an evaluation folder with {ROWS}, got {folder}. Make it with: evaluate --out."
        )
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(
                f"Expected one JSON object a line, got a broken one at {path}:{number} ({error})."
            ) from error
    return rows
