import json

import pytest

from forensegm.config import EvaluateConfig
from forensegm.evaluation import compare, evaluate, write_evaluation
from forensegm.evaluation.write import read_rows

QUICK = EvaluateConfig(bootstrap=20, examples=2)


@pytest.fixture
def folders(tmp_path, dataset, make_predictor):
    for name, confused in (("right", False), ("confused", True)):
        evaluation = evaluate(make_predictor(confused=confused), dataset, QUICK)
        write_evaluation(tmp_path / name, evaluation, labels=list(dataset.labels.names), title=name)
    return tmp_path / "right", tmp_path / "confused"


def test_what_is_written_reads_back(folders, dataset, make_predictor):
    evaluation = evaluate(make_predictor(), dataset, QUICK)
    assert json.loads((folders[0] / "metrics.json").read_text()) == evaluation.metrics
    assert read_rows(folders[0]) == evaluation.rows
    assert (folders[0] / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_the_better_model_is_named_where_the_interval_leaves_no_doubt(folders):
    found = compare(*folders, resamples=200)
    identity = found["scores"]["editor_identity.top1"]
    assert (identity["a"], identity["b"], identity["difference"]["value"]) == (1, 0.5, 0.5)
    assert identity["better"] == "a"
    assert compare(*reversed(folders), resamples=200)["scores"]["editor_identity.top1"]["better"] == "b"
    assert found["scores"]["image.auc"]["better"] == "undecided"
    assert found["images"] == 12


def test_other_images_cannot_be_compared(folders):
    rows = (folders[1] / "per_image.jsonl").read_text().splitlines(keepends=True)
    (folders[1] / "per_image.jsonl").write_text("".join(rows[:-1]))
    with pytest.raises(ValueError, match="the same images, got 1 in one alone, for example '11'"):
        compare(*folders)


def test_a_folder_without_an_evaluation_and_a_torn_row_are_named(folders, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"per_image\.jsonl"):
        compare(folders[0], tmp_path / "nowhere")
    with (folders[1] / "per_image.jsonl").open("a") as stream:
        stream.write('{"id": ')
    with pytest.raises(ValueError, match=r"per_image\.jsonl:13"):
        read_rows(folders[1])
