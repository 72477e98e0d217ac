"""What is plotted, in which order."""

import math

import pytest

from forensegm.reports.curves import by_severity, level_text, robustness_charts, training_charts


def scores(iou, auc=0.9, top1=None):
    return {"pixel": {"binary": {"iou_edited": iou}}, "image": {"auc": auc}, "editor_identity": {"top1": top1}}


def test_robustness_starts_clean_and_runs_from_weak_to_strong():
    entries = [{"name": "jpeg", "level": level, **scores(level / 200)} for level in (50, 90, 70)]
    entries += [{"name": "noise", "level": "8", **scores(0.1)}, {"name": "noise", "level": "4", **scores(0.2)}]

    jpeg, noise = robustness_charts({**scores(0.5), "distortions": entries})

    assert [jpeg.title, noise.title] == ["JPEG", "Noise"]
    assert jpeg.series[0].values == [0.5, 0.45, 0.35, 0.25]
    assert jpeg.series[0].reference == 0.5
    assert noise.series[0].values == [0.5, 0.2, 0.1]
    assert [one.name for one in jpeg.series] == ["edited IoU", "image AUC"]  # identity is undefined throughout


def test_chains_of_several_operations_keep_their_order_and_say_both():
    entries = [{"name": "resize|jpeg", "level": level, **scores(0.1)} for level in ("0.5|70", "0.75|70")]

    (chart,) = robustness_charts({**scores(0.5), "distortions": entries})

    assert chart.title == "Resize, then JPEG"
    assert chart.svg.index("0.5|70") < chart.svg.index("0.75|70")


def test_no_distortions_no_charts():
    assert robustness_charts({}) == []
    assert training_charts([]) == []


@pytest.mark.parametrize(("level", "text"), [(90, "90"), (0.5, "0.5"), ("8.0", "8"), ("0.5|70", "0.5|70"), (None, "")])
def test_level_text(level, text):
    assert level_text(level) == text


def test_unknown_families_keep_their_order():
    entries = [{"level": 3}, {"level": 1}]

    assert by_severity(entries, grows=None) == entries
    assert by_severity(entries, grows=True) == entries[::-1]


@pytest.mark.parametrize(
    "row",
    [
        {"epoch": 1, "loss": 0.7, "lr": 0.001, "val": {"pixel": {"binary": {"iou_edited": 0.3}}}},
        {"epoch": 1, "train/epoch_loss": 0.7, "train/lr": 0.001, "val/pixel.binary.iou_edited": 0.3},
    ],
)
def test_training_reads_nested_and_flat_rows(row):
    loss, validation, rate = training_charts([row, {**row, "epoch": 2}])

    assert loss.series[0].values == [0.7, 0.7]
    assert [one.name for one in validation.series] == ["edited IoU"]
    assert rate.series[0].values == [0.001, 0.001]
    assert ">epoch<" in loss.svg


def test_training_on_steps_leaves_out_what_is_not_finite():
    rows = [{"step": step, "epoch": 1, "train/loss": math.nan if step == 2 else 1.0} for step in (1, 2, 3)]

    (loss,) = training_charts(rows)

    assert loss.series[0].values == [1.0, None, 1.0]
    assert ">step<" in loss.svg
    assert ">row<" in training_charts([{"loss": 1.0}, {"loss": 2.0}])[0].svg
