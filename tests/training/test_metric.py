import pytest

from forensegm.sample import LabelSpace
from forensegm.training.metric import METRICS, check_metric, is_better, metric_value, tracked_figures

LABELS = LabelSpace(("telea", "v1.5"))


def nested(value):
    """A metrics dict in which every known figure is `value`."""
    metrics = {}
    for name in METRICS:
        *keys, last = name.split(".")
        part = metrics
        for key in keys:
            part = part.setdefault(key, {})
        part[last] = value
    metrics["pixel"]["editors"]["per_class"] = {"telea": 0.25, "v1.5": None}
    return metrics


@pytest.mark.parametrize("name", METRICS)
def test_every_known_figure_is_found(name):
    check_metric(name, LABELS)
    assert metric_value(nested(0.5), name) == 0.5
    assert metric_value(nested(None), name) is None
    assert metric_value(nested(float("nan")), name) is None


def test_editors_are_found_by_name_even_with_a_dot():
    assert tracked_figures(nested(0.5), LABELS)["pixel.editors.per_class.telea"] == 0.25
    assert metric_value(nested(0.5), "pixel.editors.per_class.v1.5") is None


def test_an_unknown_figure_is_an_error_with_a_hint():
    with pytest.raises(ValueError, match=r"pixel\.binary\.iou_edit'. Did you mean pixel\.binary\.iou_edited"):
        check_metric("pixel.binary.iou_edit", LABELS)


@pytest.mark.parametrize(
    ("name", "value", "best", "better"),
    [
        ("image.auc", 0.6, 0.5, True),
        ("image.auc", 0.5, 0.5, False),
        ("authentic.flagged_area_mean", 0.1, 0.2, True),
        ("pixel.editors.per_class.telea", 0.2, 0.1, True),
        ("image.auc", None, 0.0, False),
        ("image.auc", 0.0, None, True),
        ("image.auc", None, None, True),
    ],
)
def test_is_better(name, value, best, better):
    assert is_better(name, value, best) is better
