"""What an edit changed, by hand."""

import numpy as np
import pytest

from forensegm.config import EditConfig
from forensegm.edits.audit import measure_change, verdict
from forensegm.edits.outcomes import Outcome, summarize


def test_measure_by_hand():
    before = np.zeros((2, 2, 3), np.uint8)
    after = before.copy()
    after[0, 0] = (3, 0, 0)
    after[0, 1] = (255, 255, 255)
    after[1, 1] = (0, 6, 0)
    change = measure_change(before, after, np.array([[1, 1], [0, 0]], bool))
    assert change.changed.tolist() == [[True, True], [False, True]]
    assert (change.share_inside, change.share_outside) == (1.0, 0.5)
    assert (change.mean_inside, change.mean_outside) == (128.0, 1.0)
    assert change.agreement == pytest.approx(1 / 2)  # of two pixels asked for one changed clearly, and none elsewhere


def test_direction_does_not_matter_and_bytes_do_not_wrap():
    before, after = np.full((1, 1, 3), 200, np.uint8), np.full((1, 1, 3), 10, np.uint8)
    region = np.ones((1, 1), bool)
    assert measure_change(before, after, region).mean_inside == measure_change(after, before, region).mean_inside == 190


def test_full_region_has_no_outside():
    image = np.zeros((2, 2, 3), np.uint8)
    change = measure_change(image, image, np.ones((2, 2), bool))
    assert (change.share_outside, change.mean_outside) == (0.0, 0.0)
    assert judged(image, image, np.ones((2, 2), bool)) == "unchanged"


@pytest.mark.parametrize(
    ("pixels", "step", "counts"), [(100, 1, True), (100, 0, False), (4, 100, False), (49, 1, False)]
)
def test_what_counts_as_an_edit(pixels, step, counts):
    before = np.zeros((10, 10, 3), np.uint8)
    after = before.copy()
    after.reshape(-1, 3)[:pixels] = step
    assert (judged(before, after, np.ones((10, 10), bool)) == "") == counts


def judged(before, after, region, **thresholds):
    return verdict(measure_change(before, after, region), before, after, region, EditConfig(**thresholds))


def photo(seed=0, hw=(64, 64)):
    y, x = np.mgrid[: hw[0], : hw[1]]
    noise = np.random.default_rng(seed).normal(0, 12, (*hw, 3))
    return np.clip(120 + 50 * np.sin(x / 5)[..., None] + 30 * np.cos(y / 4)[..., None] + noise, 0, 255).astype(np.uint8)


MIDDLE = np.zeros((64, 64), bool)
MIDDLE[20:40, 20:40] = True


def test_a_black_picture_of_a_safety_checker_is_rejected():
    assert judged(photo(), np.zeros_like(photo()), MIDDLE) == "black"
    assert judged(photo() // 100, photo(1) // 100 * 0, MIDDLE) != "black"  # it was dark before


def test_a_blurred_picture_of_a_safety_checker_is_rejected_and_a_repainted_region_is_not():
    import cv2

    assert judged(photo(), cv2.GaussianBlur(photo(), (0, 0), 20), MIDDLE) == "blurred"
    repainted = photo()
    repainted[MIDDLE] = cv2.GaussianBlur(photo(), (0, 0), 20)[MIDDLE]
    assert judged(photo(), repainted, MIDDLE) == ""


def test_declared_thresholds_on_outside_and_agreement():
    frame = np.clip(photo().astype(int) + 3, 0, 255).astype(np.uint8)
    frame[MIDDLE] = 255 - photo()[MIDDLE]
    assert judged(photo(), frame, MIDDLE) == ""
    assert judged(photo(), frame, MIDDLE, max_outside=2.0) == "outside"
    elsewhere = photo()
    elsewhere[:20] = 255 - elsewhere[:20]
    elsewhere[MIDDLE] += 2
    assert judged(photo(), elsewhere, MIDDLE, min_agreement=0.3) == "elsewhere"


def test_ssim_is_that_of_scikit_image_over_the_region():
    import cv2
    from skimage.metrics import structural_similarity

    after = photo()
    after[MIDDLE] = photo(5)[MIDDLE] // 2
    luma = [cv2.cvtColor(one, cv2.COLOR_RGB2GRAY) for one in (photo(), after)]
    full = structural_similarity(*luma, win_size=7, data_range=255, full=True)[1]
    change = measure_change(photo(), after, MIDDLE)
    assert change.ssim_inside == pytest.approx(full[MIDDLE].mean())
    assert change.ssim_outside == pytest.approx(full[~MIDDLE].mean())
    assert measure_change(photo()[:5], after[:5], np.ones((5, 64), bool)).ssim_inside is None


def test_summary_by_hand():
    outcomes = [
        Outcome("a", True, 1, {"mean_inside": 2.0}),
        Outcome("a", True, 3, {"mean_inside": 4.0, "quality": 7.0}, ("unchanged", "failed"), "it raised X"),
        Outcome("a", False, 2, {}, ("unchanged", "unchanged")),
        Outcome("b", False, 2, {}, ("failed", "failed"), "it raised Y"),
    ]
    assert summarize(outcomes) == {
        "a": {
            "accepted": 2,
            "retries": 3,
            "dropped": 1,
            "rejected_tries": {"failed": 1, "unchanged": 3},
            "median": {"mean_inside": 3.0, "quality": 7.0},
            "errors": {"it raised X": 1},
        },
        "b": {
            "accepted": 0,
            "retries": 1,
            "dropped": 1,
            "rejected_tries": {"failed": 2},
            "median": {},
            "errors": {"it raised Y": 1},
        },
    }
    assert [one.failed for one in outcomes] == [False, False, False, True]
    assert summarize([]) == {}
