import pickle
from dataclasses import replace

import numpy as np
import pytest

from forensegm.config import AugmentConfig, DataConfig
from forensegm.distortions import OPS, Op, parse_chain
from forensegm.sample import Image, Sample
from forensegm.transforms import TrainTransform, draw_edited_pixel, ignore_regenerated, turned

PLAIN = AugmentConfig(flip=0, rotate90=False, distort=0)


def make_sample(height: int, width: int, *, seed: int = 0) -> Sample:
    # Smooth enough that a shift by one pixel is seen, with two edits, an ignored border and a turn map.
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[:height, :width]
    planes = [120 + 80 * np.sin(rows / (5 + shift)) + 40 * np.cos(columns / (7 - shift)) for shift in range(3)]
    image = (np.stack(planes, axis=2) + rng.normal(0, 4, (height, width, 3))).clip(1, 255).astype(np.uint8)
    mask = np.zeros((height, width), np.uint8)
    mask[height // 3 : height // 2, width // 4 : width // 2] = 2
    mask[height // 2 : height * 2 // 3, width // 3 : width // 2] = 1
    mask[:, -2:] = 255
    return Sample("photo", image, mask, turn_map=(mask % 255).astype(np.uint8), meta={"codec": "PNG"})


def augment(*chains: str, flip: float = 0.0, rotate90: bool = False) -> AugmentConfig:
    return AugmentConfig(flip=flip, rotate90=rotate90, distort=1.0 if chains else 0.0, distortions=list(chains))


@pytest.mark.parametrize("hw", [(300, 400), (64, 64), (40, 200), (1, 1), (65, 63)])
@pytest.mark.parametrize("seed", range(6))
def test_default_augmentation_keeps_its_promises(hw: tuple[int, int], seed: int) -> None:
    sample = make_sample(*hw)
    before = sample.image.copy(), sample.mask.copy()
    transform = TrainTransform(replace(AugmentConfig(), distort=0.7), 64, DataConfig().keep_edits)
    result = transform(sample, np.random.default_rng(seed))
    assert result.image.shape == (64, 64, 3)
    assert result.mask.shape == (64, 64)
    assert result.turn_map is not None
    assert set(np.unique(result.mask)) <= {*np.unique(sample.mask), 255}
    assert np.array_equal(result.turn_map, result.mask % 255)
    for array in (result.image, result.mask, result.turn_map):
        assert array.flags.c_contiguous
        assert array.flags.writeable
    assert not np.shares_memory(result.image, sample.image)
    assert np.array_equal(sample.image, before[0])
    assert np.array_equal(sample.mask, before[1])
    again = transform(sample, np.random.default_rng(seed))
    assert np.array_equal(result.image, again.image)
    assert np.array_equal(result.mask, again.mask)
    assert (result.id, result.group, result.meta["codec"]) == ("photo", "photo", "PNG")


def test_different_generators_give_different_crops() -> None:
    transform = TrainTransform(AugmentConfig(), 64, 0.5)
    images = [transform(make_sample(300, 400), np.random.default_rng(seed)).image.tobytes() for seed in range(8)]
    assert len(set(images)) == 8


@pytest.mark.parametrize("crop", [0, 48])
def test_image_and_masks_move_together(crop: int) -> None:
    sample = make_sample(100, 80)
    coded = np.repeat((sample.mask + np.uint8(1))[..., None], 3, axis=2)  # 1 authentic, 2 and 3 editors, 0 ignored
    transform = TrainTransform(augment(flip=0.5, rotate90=True), crop, 0.5)
    seen = set()
    for seed in range(40):
        result = transform(replace(sample, image=coded), np.random.default_rng(seed))
        assert np.array_equal(result.image[..., 0], result.mask + np.uint8(1))
        seen.add(result.mask.tobytes())
    assert len(seen) >= 8


def test_every_rotation_and_flip_occurs_equally_often() -> None:
    sample = Sample("corner", np.zeros((2, 2, 3), np.uint8), np.array([[1, 2], [3, 4]], np.uint8))
    transform = TrainTransform(augment(flip=0.5, rotate90=True), 0, 0)
    rng = np.random.default_rng(0)
    seen = [transform(sample, rng).mask.tobytes() for _ in range(800)]
    assert len(set(seen)) == 8
    assert all(60 < seen.count(mask) < 140 for mask in set(seen))


def test_whole_images_keep_their_size_or_swap_their_sides() -> None:
    transform = TrainTransform(augment(rotate90=True), 0, 0.5)
    shapes = {transform(make_sample(30, 20), np.random.default_rng(seed)).mask.shape for seed in range(20)}
    assert shapes == {(30, 20), (20, 30)}
    plain = TrainTransform(PLAIN, 0, 0.5)(make_sample(30, 20), np.random.default_rng(0))
    assert np.array_equal(plain.image, make_sample(30, 20).image)
    assert plain.meta == {"codec": "PNG"}


def test_whole_images_are_distorted_as_wholes() -> None:
    sample = make_sample(100, 80)
    result = TrainTransform(augment("resize(0.5)|jpeg(70)"), 0, 0)(sample, np.random.default_rng(0))
    expected, (mask,) = parse_chain("resize(0.5)|jpeg(70)").apply(
        sample.image, (sample.mask,), rng=np.random.default_rng(0)
    )
    assert np.array_equal(result.image, expected)
    assert np.array_equal(result.mask, mask)
    assert result.meta["distortion"] == "resize(0.5)|jpeg(70)"


@pytest.mark.parametrize("seed", range(8))
def test_small_images_are_padded_right_and_bottom_whatever_was_drawn(seed: int) -> None:
    sample = make_sample(20, 33)
    transform = TrainTransform(augment("resize(0.5)", "jpeg(60)", flip=0.5, rotate90=True), 40, 0.5)
    plan = transform.draw(sample, np.random.default_rng(seed))
    assert plan.chain is not None
    height, width = (round(side * plan.chain.scale) for side in (20, 33))
    if plan.quarter_turns % 2:
        height, width = width, height
    result = transform.apply(sample, plan)
    inside = np.zeros((40, 40), bool)
    inside[:height, :width] = True
    assert (result.image[inside].min(axis=0) > 0).all()
    assert not result.image[~inside].any()
    assert (result.mask[~inside] == 255).all()
    assert result.turn_map is not None
    assert not result.turn_map[~inside].any()


@pytest.mark.parametrize("chain", ["jpeg(40)", "jpeg(40, 4:4:4)", "blur(3)", "gamma(1.4)", "blur(1)|jpeg(60)"])
@pytest.mark.parametrize("seed", range(5))
def test_equals_a_crop_of_the_distorted_whole_image(chain: str, seed: int) -> None:
    sample = make_sample(203, 317)
    transform = TrainTransform(augment(chain), 64, 0.5)
    plan = transform.draw(sample, np.random.default_rng(seed))
    top, left, height, width = plan.window
    whole = parse_chain(chain).apply(sample.image, rng=np.random.default_rng(0))[0]
    result = transform.apply(sample, plan)
    assert np.array_equal(result.image, whole[top : top + height, left : left + width])
    assert np.array_equal(result.mask, sample.mask[top : top + height, left : left + width])


@pytest.mark.parametrize("seed", range(5))
def test_equals_a_crop_of_the_shrunk_whole_image(seed: int) -> None:
    sample = make_sample(240, 320)
    transform = TrainTransform(augment("resize(0.5)"), 64, 0.5)
    plan = transform.draw(sample, np.random.default_rng(seed))
    assert plan.window[2:] == (128, 128)
    image, (mask,) = parse_chain("resize(0.5)").apply(sample.image, (sample.mask,), rng=np.random.default_rng(0))
    top, left = (round(start / 2) for start in plan.window[:2])
    result = transform.apply(sample, plan)
    assert np.array_equal(result.image, image[top : top + 64, left : left + 64])
    assert np.array_equal(result.mask, mask[top : top + 64, left : left + 64])


@pytest.mark.parametrize("chain", ["resize(0.7)", "resize(1.7)", "resize(0.6)|resize(1.3)"])
@pytest.mark.parametrize("seed", range(5))
def test_other_factors_differ_from_the_whole_image_by_less_than_a_pixel(chain: str, seed: int) -> None:
    rows, columns = np.mgrid[:240, :320] // 2
    ramp = np.stack([rows, columns, rows], axis=2).astype(np.uint8)
    sample = replace(make_sample(240, 320), image=ramp)
    transform = TrainTransform(augment(chain), 64, 0.5)
    plan = transform.draw(sample, np.random.default_rng(seed))
    assert plan.chain is not None
    top, left = (start * plan.chain.scale for start in plan.window[:2])
    expected = np.stack(np.mgrid[top : top + 64, left : left + 64], axis=2)[:64, :64]
    expected = ((expected + 0.5) / plan.chain.scale - 0.5) / 2
    difference = np.abs(transform.apply(sample, plan).image[..., :2] - expected)
    assert difference.max() <= 1 / plan.chain.scale / 2 + 1


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_only_a_window_of_a_large_image_is_distorted(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[tuple[int, ...]] = []

    def spy(image: Image) -> Image:
        shapes.append(image.shape)
        return image.copy()

    monkeypatch.setitem(OPS, "spy", Op("spy", spy))
    sample = Sample("large", np.zeros((2000, 3000, 3), np.uint8), np.zeros((2000, 3000), np.uint8))
    for seed in range(5):
        transform = TrainTransform(augment(f"spy|resize({factor})"), 128, 0.5)
        assert transform(sample, np.random.default_rng(seed)).image.shape == (128, 128, 3)
    needed = 128 / factor
    assert all(
        needed <= side <= needed + 2 * 16 * max(1, 1 / factor) + 2 * 16 for shape in shapes for side in shape[:2]
    )


def test_kept_edits_are_in_the_middle_half_or_at_the_border() -> None:
    mask = np.zeros((200, 300), np.uint8)
    mask[100, 150] = 1
    sample = Sample("dot", np.zeros((200, 300, 3), np.uint8), mask)
    transform = TrainTransform(PLAIN, 64, 1.0)
    spots = []
    for seed in range(60):
        rows, columns = np.nonzero(transform(sample, np.random.default_rng(seed)).mask == 1)
        assert len(rows) == 1
        spots.append((int(rows[0]), int(columns[0])))
    assert {16 <= at <= 48 for spot in spots for at in spot} == {True}
    assert len(set(spots)) > 40
    corner = np.zeros((200, 300), np.uint8)
    corner[199, 0] = 1
    moved = transform(replace(sample, mask=corner), np.random.default_rng(0)).mask
    assert moved[63, 0] == 1


def test_keep_edits_is_a_share() -> None:
    mask = np.zeros((1000, 1000), np.uint8)
    mask[500, 500] = 1
    sample = Sample("dot", np.zeros((1000, 1000, 3), np.uint8), mask)
    transform, rng = TrainTransform(PLAIN, 16, 0.3), np.random.default_rng(0)
    kept = [bool((transform(sample, rng).mask == 1).any()) for _ in range(500)]
    assert np.mean(kept) == pytest.approx(0.3, abs=0.06)


def test_edited_pixels_are_drawn_uniformly_and_ignored_ones_never() -> None:
    mask = np.array([[0, 255, 1], [254, 0, 0], [255, 2, 2]], np.uint8)
    rng = np.random.default_rng(0)
    drawn = [draw_edited_pixel(mask, rng) for _ in range(800)]
    assert set(drawn) == {(0, 2), (1, 0), (2, 1), (2, 2)}
    assert all(150 < drawn.count(pixel) < 250 for pixel in set(drawn))
    assert draw_edited_pixel(np.array([[0, 255]], np.uint8), rng) is None


def test_crops_without_edits_are_uniform_up_to_the_border() -> None:
    image = np.arange(5, dtype=np.uint8)[None, :, None].repeat(3, axis=2)
    sample = Sample("row", image, np.zeros((1, 5), np.uint8))
    transform, rng = TrainTransform(PLAIN, 3, 1.0), np.random.default_rng(0)
    starts = [int(transform(sample, rng).image[0, 0, 0]) for _ in range(300)]
    assert all(70 < starts.count(start) < 130 for start in (0, 1, 2))


def test_distortions_are_drawn_apart_from_being_applied() -> None:
    sample = make_sample(300, 300)
    transform = TrainTransform(augment("jpeg(50..95)", "noise(1..8)"), 64, 0.5)
    plans = [transform.draw(sample, np.random.default_rng(seed)) for seed in range(40)]
    names = [plan.chain.name for plan in plans if plan.chain]
    assert len(names) == 40
    assert 8 <= names.count("jpeg") <= 32
    noisy = next(plan for plan in plans if plan.chain and plan.chain.name == "noise")
    assert np.array_equal(transform.apply(sample, noisy).image, transform.apply(sample, noisy).image)
    other = replace(noisy, seed=noisy.seed + 1)
    assert not np.array_equal(transform.apply(sample, noisy).image, transform.apply(sample, other).image)


def test_travels_to_loader_processes() -> None:
    transform = TrainTransform(AugmentConfig(distort=1.0), 64, 0.5)
    copy = pickle.loads(pickle.dumps(transform))  # spawned processes get a pickle
    results = [one(make_sample(99, 99), np.random.default_rng(5)).image for one in (transform, copy)]
    assert np.array_equal(*results)


def test_distort_is_a_share() -> None:
    sample = make_sample(64, 64)
    transform = TrainTransform(replace(augment("gamma(1.5)"), distort=0.25), 64, 0)
    drawn = [transform.draw(sample, np.random.default_rng(seed)).chain is not None for seed in range(400)]
    assert np.mean(drawn) == pytest.approx(0.25, abs=0.06)


def test_rotation_is_counter_clockwise() -> None:
    plan = TrainTransform(PLAIN, 0, 0).draw(make_sample(4, 4), np.random.default_rng(0))
    assert turned(np.array([[1, 2]], np.uint8), replace(plan, quarter_turns=1)).tolist() == [[2], [1]]
    assert turned(np.array([[1, 2]], np.uint8), replace(plan, flip_lr=True)).tolist() == [[2, 1]]
    assert turned(np.array([[1], [2]], np.uint8), replace(plan, flip_ud=True)).tolist() == [[2], [1]]


@pytest.mark.parametrize(
    ("config", "crop", "keep_edits", "message"),
    [
        (AugmentConfig(flip=1.5), 64, 0.5, r"Expected flip to be a share of 0\.\.1, got 1\.5"),
        (AugmentConfig(distort=-0.1), 64, 0.5, "Expected distort to be a share"),
        (AugmentConfig(), 64, 2.0, "Expected keep_edits to be a share"),
        (AugmentConfig(), -1, 0.5, "Expected crop to be a side in pixels"),
        (AugmentConfig(distortions=[]), 64, 0.5, "at least one chain in distortions"),
        (AugmentConfig(distortions=["jpg(50)"]), 64, 0.5, "Did you mean jpeg"),
    ],
)
def test_bad_options_are_named(config: AugmentConfig, crop: int, keep_edits: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TrainTransform(config, crop, keep_edits)


def test_outside_a_regenerated_edit_is_ignored_when_asked() -> None:
    sample = make_sample(24, 30)
    regenerated = replace(sample, meta={"edits": [{"composite": "splice"}, {"composite": "regenerate"}]})
    result = ignore_regenerated(regenerated)
    assert (result.mask[sample.mask == 0] == 255).all()
    assert np.array_equal(result.mask[sample.mask != 0], sample.mask[sample.mask != 0])
    assert ignore_regenerated(sample) is sample
    spliced = replace(sample, meta={"edits": [{"composite": "splice"}]})
    assert ignore_regenerated(spliced) is spliced
