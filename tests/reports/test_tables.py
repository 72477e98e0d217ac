"""Tables for terminals and Markdown."""

import io

from rich.console import Console

from forensegm.reports.draw import EDITOR_COLOURS
from forensegm.reports.tables import (
    baseline_table,
    confusion_table,
    distortion_table,
    editor_table,
    metrics_markdown,
    metrics_table,
    pooling_table,
    score_table,
    to_markdown,
    to_rich,
)


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def printed(table):
    buffer = io.StringIO()
    Console(file=buffer, width=100).print(table)
    return buffer.getvalue()


def test_score_table_names_reductions_units_and_counts(metrics):
    table = score_table(metrics)

    headings = [section.heading for section in table.sections]
    assert headings[:2] == ["Pixels, pooled over images", "Pixels, mean over images (n=7)"]
    assert texts(table)[0] == ["edited IoU", "0.457", "0.310 to 0.550", "0.060 (all edited)"]
    assert table.explained[0] == "n/a (AUC): one class only."
    assert "12 photographs" in table.notes[0]
    assert "10 images" in table.notes[0]
    assert "too narrow" in table.notes[1]


def test_terminal_table_shows_every_score_and_reason(metrics):
    output = printed(metrics_table(metrics))

    for part in (
        "edited IoU",
        "0.457",
        "0.310 to 0.550",
        "0.060 (all edited)",
        "n/a (AUC): one class only.",
        "12 photographs",
    ):
        assert part in output
    assert printed(metrics_table({})).strip()


def test_terminal_table_takes_no_markup_from_names(metrics):
    metrics["pixel"]["editors"]["per_class"] = {"[red]x[/red]": 0.5}

    assert "[red]x[/red]" in printed(to_rich(editor_table(metrics, [])))


def test_markdown_is_one_table_per_part_with_equal_columns(metrics):
    text = metrics_markdown(metrics)

    assert "| edited IoU | 0.457 | 0.310 to 0.550 | 0.060 (all edited) |" in text
    assert "| jpeg(90) |" in text
    assert "b\\<i\\>" in text
    assert "n/a (AUC): one class only." in text
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.replace("\\|", "").count("|") for line in lines}) <= 1


def test_markdown_escapes_pipes_in_chains(metrics):
    metrics["distortions"][0]["chain"] = "resize(0.5)|jpeg(70)"

    assert "| resize(0.5)\\|jpeg(70) |" in to_markdown(distortion_table(metrics))


def test_markdown_of_nothing():
    assert metrics_markdown({}).startswith("| score |")


def test_editor_table_follows_the_label_space(metrics):
    table = editor_table(metrics, ["copy_move", "telea", "b<i>"])

    assert texts(table) == [["copy_move", "2", "0.100"], ["telea", "5", "0.300"], ["b<i>", "0", "n/a"]]
    assert table.rows[0][0].colour == EDITOR_COLOURS[0]
    del metrics["data"]
    assert texts(editor_table(metrics, ["telea"]))[0] == ["telea", "0.300"]
    assert editor_table({}, ["telea"]) is None
    assert editor_table({}, []) is None


def test_distortions_stand_below_the_clean_scores(metrics):
    table = distortion_table(metrics)

    assert [row[0] for row in texts(table)] == ["clean", "jpeg(90)", "jpeg(70)"]
    assert table.columns[:2] == ["distortion", "edited IoU"]
    assert "editor identity" not in table.columns  # undefined in every row
    assert distortion_table({}) is None


def test_baselines_stand_below_the_model(metrics):
    assert [row[:2] for row in texts(baseline_table(metrics))] == [
        ["this model", "0.457"],
        ["all edited", "0.060"],
        ["none edited", "0.000"],
    ]
    assert baseline_table({}) is None


def test_pooling_table_marks_the_one_that_is_used(metrics):
    metrics["image"]["auc_by_pooling"] = {"max": 0.8, "topk_mean": 0.9}

    assert texts(pooling_table(metrics)) == [["max", "0.800"], ["topk_mean (used here)", "0.900"]]
    assert pooling_table({}) is None


def test_confusion_is_in_percent_of_the_true_class(metrics):
    metrics["pixel"]["editors"]["confusion"] = [[3, 1], [0, 0]]

    table = confusion_table(metrics, ["telea"])

    assert table.columns == ["true class", "authentic", "telea"]
    assert texts(table) == [["authentic", "75 %", "25 %"], ["telea", "n/a", "n/a"]]
    assert table.rows[0][1].shade == 0.75
    assert table.explained == ["n/a (telea): no pixel of telea."]
    assert confusion_table({}, []) is None
