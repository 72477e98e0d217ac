import pytest

from forensegm.config import DistortConfig, EvaluateConfig
from forensegm.evaluation import evaluate, robustness
from forensegm.evaluation.evaluate import distorted

QUICK = EvaluateConfig(bootstrap=0, batch_size=3)
SCORES = ("pixel", "image", "editor_identity", "authentic")


def test_the_identity_changes_no_score(dataset, make_predictor):
    clean = evaluate(make_predictor(), dataset, QUICK).metrics
    (row,) = robustness(make_predictor(), dataset, QUICK, DistortConfig(["identity"]))
    assert {key: row[key] for key in SCORES} == {key: clean[key] for key in SCORES}


def test_a_mask_follows_its_pixels_through_a_resize(dataset, make_predictor):
    rows = robustness(make_predictor(), dataset, QUICK, DistortConfig(["resize(0.5)", "resize(2)"]))
    assert [(row["name"], row["level"]) for row in rows] == [("resize", "0.5"), ("resize", "2")]
    for row in rows:
        assert row["pixel"]["binary"]["iou_edited"] > 0.8
        assert row["image"]["auc"] == 1


def test_stronger_noise_hurts_more_and_the_seed_repeats_it(dataset, make_predictor):
    chains = DistortConfig(["noise(10)", "noise(80)"])
    weak, strong = robustness(make_predictor(), dataset, QUICK, chains)
    assert weak["pixel"]["binary"]["iou_edited"] > strong["pixel"]["binary"]["iou_edited"]
    assert robustness(make_predictor(), dataset, QUICK, chains) == [weak, strong]


def test_the_noise_of_an_image_does_not_depend_on_its_neighbours(dataset):
    first = distorted(dataset[4], "noise(20)", seed=1).image
    distorted(dataset[5], "noise(20)", seed=1)
    assert (first == distorted(dataset[4], "noise(20)", seed=1).image).all()
    assert (first != distorted(dataset[4], "noise(20)", seed=2).image).any()


def test_each_image_is_read_once(dataset, make_predictor):
    reads = []
    original = type(dataset).__getitem__

    class Counting(type(dataset)):
        def __getitem__(self, index):
            reads.append(index)
            return original(self, index)

    robustness(make_predictor(), Counting(dataset.samples), QUICK, DistortConfig(["jpeg(90)", "jpeg(50)", "blur(1)"]))
    assert reads == list(range(12))


def test_an_unknown_distortion_is_named_before_any_work(dataset, make_predictor):
    with pytest.raises(ValueError, match="jpeg"):
        robustness(make_predictor(), dataset, QUICK, DistortConfig(["jpge(90)"]))


OWN_OP = """
from forensegm.distortions.ops import Op

darker = Op("darker", lambda image: image // 4)
"""


def test_a_distortion_of_the_users_own_is_honoured(dataset, make_predictor, tmp_path, monkeypatch):
    (tmp_path / "my_distortions.py").write_text(OWN_OP)
    monkeypatch.syspath_prepend(str(tmp_path))
    (row,) = robustness(make_predictor(), dataset, QUICK, DistortConfig(["my_distortions:darker()"]))
    assert row["pixel"]["binary"]["iou_edited"] == 0, "every grey level is taken for the darkest"
