import json
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from PIL import Image as PillowImage
from scipy.ndimage import gaussian_filter
from skimage.exposure import adjust_gamma

from forensegm.distortions.ops import LIBRARIES, OPS, Op, Param, Value, resize_mask, scaled_hw
from forensegm.imageio import read_image
from forensegm.sample import Image

EXAMPLES: dict[str, tuple[Value, ...]] = {
    "identity": (),
    "jpeg": (70,),
    "webp": (70,),
    "resize": (0.6,),
    "blur": (1.2,),
    "noise": (5,),
    "gamma": (0.8,),
}


def run(name: str, image: Image, *values: Value, seed: int = 0) -> Image:
    return OPS[name](image, *values, rng=np.random.default_rng(seed))


@pytest.fixture(scope="module")
def photo() -> Image:
    # Smooth shapes with some texture, odd sides.
    rows, columns = np.mgrid[:61, :47]
    planes = [127 + 90 * np.sin(rows / 9 + shift) + 20 * np.cos(columns * (1.1 + shift)) for shift in range(3)]
    return np.stack(planes, axis=2).clip(0, 255).astype(np.uint8)


def test_every_op_has_an_example() -> None:
    assert EXAMPLES.keys() == OPS.keys()


@pytest.mark.parametrize("name", OPS)
def test_contract(name: str, photo: Image) -> None:
    before = photo.copy()
    result = run(name, photo, *EXAMPLES[name])
    assert result.dtype == np.uint8
    assert result.shape[2] == 3
    assert np.array_equal(photo, before)
    assert not np.shares_memory(result, photo)
    assert np.array_equal(result, run(name, photo, *EXAMPLES[name]))
    assert (result.shape != photo.shape) == (OPS[name].move_mask is not None)
    assert (name == "identity") == (result.shape == photo.shape and np.array_equal(result, photo))
    different = not np.array_equal(result, run(name, photo, *EXAMPLES[name], seed=1))
    assert different == OPS[name].random


@pytest.mark.parametrize("name", OPS)
def test_works_on_one_pixel_and_on_views(name: str, photo: Image) -> None:
    assert run(name, photo[:1, :1], *EXAMPLES[name]).shape == (1, 1, 3)
    view = photo[::-1, 3:40:2]
    assert np.array_equal(run(name, view, *EXAMPLES[name]), run(name, np.ascontiguousarray(view), *EXAMPLES[name]))


@pytest.mark.parametrize("name", OPS)
def test_does_not_depend_on_opencv_threads(name: str, photo: Image) -> None:
    image, threads = np.tile(photo, (8, 8, 1)), cv2.getNumThreads()
    results = []
    try:
        for count in (1, 2):
            cv2.setNumThreads(count)
            results.append(run(name, image, *EXAMPLES[name]))
    finally:
        cv2.setNumThreads(threads)
    assert np.array_equal(*results)


@pytest.mark.parametrize("op", OPS.values(), ids=str)
def test_every_op_and_parameter_is_described(op: Op) -> None:
    assert op.__doc__
    assert op.library in LIBRARIES
    assert "None" not in LIBRARIES[op.library]()
    for param in op.params:
        assert param.unit
        assert param.source


@pytest.mark.parametrize(("op", "param"), [(op, param) for op in OPS.values() for param in op.params], ids=str)
def test_values_out_of_range_are_named(op: Op, param: Param) -> None:
    bad: list[Value] = ["soft"] if param.kind == "choice" else [param.low - 1, param.high + 1, float("nan"), "soft"]
    good = list(EXAMPLES[op.name])
    for value in bad:
        values = [*good[: op.params.index(param)], value]
        with pytest.raises(ValueError, match=f"Expected {param.name} of {op.name} to be {param.range}"):
            op.check(values)


def test_wrong_number_of_values_shows_the_usage(photo: Image) -> None:
    with pytest.raises(ValueError, match=r"Expected 1 to 2 value\(s\) for jpeg\(quality\[, subsampling\]\), got 0"):
        run("jpeg", photo)
    with pytest.raises(ValueError, match="Expected no values for identity, got 1"):
        run("identity", photo, 1)
    with pytest.raises(
        ValueError, match=r"quality of jpeg to be a whole number of 1\.\.100 \(higher is better\), got 70\.5"
    ):
        run("jpeg", photo, 70.5)


def test_float_and_grey_images_are_refused(photo: Image) -> None:
    with pytest.raises(ValueError, match="Expected image to be uint8 HxWx3, got float64"):
        run("jpeg", photo / 255, 70)
    with pytest.raises(ValueError, match="Expected image to be uint8 HxWx3, got uint8"):
        run("jpeg", photo[..., 0], 70)


def test_webp_beyond_its_largest_side_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at most 16383 pixels for webp.*got 1x16384\. Put a resize"):
        run("webp", np.zeros((1, 16384, 3), np.uint8), 70)


def test_an_op_that_breaks_the_convention_is_caught(photo: Image) -> None:
    with pytest.raises(ValueError, match="Expected result of halved to be uint8 HxWx3, got float64"):
        Op("halved", lambda image: image / 2)(photo, rng=np.random.default_rng())


def test_case_49_jpeg_parameters(shared: Path) -> None:
    case = shared / "cases" / "49_jpeg_parameters"
    expected = json.loads((case / "expected.json").read_text())
    noise, checker, grey = (read_image(case / f"{name}.png") for name in ("noise", "checker", "grey"))

    def error(image: Image, *values: Value) -> int:
        return int(np.abs(run("jpeg", image, *values).astype(int) - image).max())

    assert error(noise, 100, "4:2:0") == error(noise, 100) == expected["q100_420_max_err"]
    assert error(noise, 100, "4:4:4") == expected["q100_444_max_err"]
    assert error(checker, 100) > 50 > error(checker, 100, "4:4:4")
    assert np.ptp(run("jpeg", grey, 50), axis=2).max() == 0
    assert error(noise, 95, "4:4:4") < error(noise, 30, "4:4:4")


def test_jpeg_is_libjpegs_at_that_quality(photo: Image, tmp_path: Path) -> None:
    PillowImage.fromarray(photo).save(tmp_path / "photo.jpg", quality=35, subsampling="4:2:2")
    with PillowImage.open(tmp_path / "photo.jpg") as decoded:
        assert np.array_equal(run("jpeg", photo, 35, "4:2:2"), np.asarray(decoded))


@pytest.mark.parametrize("name", ["jpeg", "webp"])
def test_lower_quality_is_further_away(name: str, photo: Image) -> None:
    errors = [np.abs(run(name, photo, quality) - photo.astype(float)).mean() for quality in (95, 60, 20)]
    assert 0 < errors[0] < errors[1] < errors[2]


def test_resize_by_one_half_is_the_mean_of_four() -> None:
    image = np.zeros((2, 4, 3), np.uint8)
    image[:, :2] = [[[10], [20]], [[30], [40]]]
    image[0, 2:] = 100
    assert run("resize", image, 0.5).tolist() == [[[25] * 3, [50] * 3]]


@pytest.mark.parametrize(
    ("hw", "factor", "expected"), [((10, 7), 0.5, (5, 4)), ((3, 3), 0.05, (1, 1)), ((4, 5), 1.7, (7, 8))]
)
def test_resize_rounds_each_side(hw: tuple[int, int], factor: float, expected: tuple[int, int]) -> None:
    assert scaled_hw(hw, factor) == expected
    assert run("resize", np.zeros((*hw, 3), np.uint8), factor).shape == (*expected, 3)


def test_resize_keeps_centres_in_place() -> None:
    ramp = np.repeat(np.arange(64, dtype=np.uint8)[None, :, None] * 4, 3, axis=2).repeat(8, axis=0)
    for factor in (0.5, 0.75, 2.0):
        columns = np.arange(round(64 * factor))
        expected = 4 * ((columns + 0.5) / factor - 0.5)
        assert np.abs(run("resize", ramp, factor)[2, 2:-2, 0] - expected[2:-2]).max() <= 1


@pytest.mark.parametrize("sigma", [0.5, 1, 2, 3.3])
def test_blur_is_gaussian_with_sigma_in_pixels(sigma: float, photo: Image) -> None:
    planes = [
        gaussian_filter(plane.astype(float), sigma, mode="mirror", truncate=3) for plane in np.moveaxis(photo, 2, 0)
    ]
    assert np.abs(run("blur", photo, sigma) - np.stack(planes, axis=2)).max() <= 1


@pytest.mark.parametrize("sigma", [1, 4, 8])
def test_noise_has_sigma_in_grey_levels(sigma: int) -> None:
    grey = np.full((300, 400, 3), 128, np.uint8)
    noise = run("noise", grey, sigma).astype(float) - 128
    # Rounding to whole grey levels adds a variance of 1/12.
    assert noise.std() == pytest.approx((sigma**2 + 1 / 12) ** 0.5, rel=0.01)
    assert abs(noise.mean()) < 0.05 * sigma
    assert abs(np.corrcoef(noise[..., 0].ravel(), noise[..., 1].ravel())[0, 1]) < 0.01


def test_noise_does_not_wrap_around_and_does_not_depend_on_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    image = np.zeros((50, 40, 3), np.uint8)
    image[:, 20:] = 255
    noisy = run("noise", image, 8)
    assert noisy[:, :20].max() < 60
    assert noisy[:, 20:].min() > 195
    monkeypatch.setattr("forensegm.distortions.ops.NOISE_STRIP", 120)
    assert np.array_equal(noisy, run("noise", image, 8))
    assert np.array_equal(image, run("noise", image, 0))


@pytest.mark.parametrize("exponent", [0.5, 1, 2.2])
def test_gamma_is_the_power_law(exponent: float) -> None:
    image = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, axis=2)
    result = run("gamma", image, exponent)
    assert np.abs(result - adjust_gamma(image / 255, exponent) * 255).max() <= 0.5 + 1e-9
    assert (result[0, 0, 0], result[-1, -1, 0]) == (0, 255)
    assert np.array_equal(result, image) == (exponent == 1)


@pytest.mark.parametrize("hw", [(1, 1), (5, 3), (4, 9), (17, 12), (20, 30)])
def test_resize_mask_is_torchs_nearest_exact(hw: tuple[int, int]) -> None:
    mask = np.random.default_rng(0).integers(0, 256, (10, 9), dtype=np.uint8)
    reference = torch.nn.functional.interpolate(torch.from_numpy(mask)[None, None].float(), hw, mode="nearest-exact")
    assert np.array_equal(resize_mask(mask, hw), reference[0, 0].numpy())


def test_resize_mask_and_image_stay_aligned() -> None:
    mask = np.zeros((90, 120), np.uint8)
    mask[30:60, 40:90] = 1
    image = np.repeat(mask[..., None] * np.uint8(200), 3, axis=2)
    for factor in (0.5, 0.7, 1.7):
        resized = run("resize", image, factor)[..., 0] > 100
        moved = resize_mask(mask, resized.shape)
        assert np.array_equal(resized, moved == 1)
