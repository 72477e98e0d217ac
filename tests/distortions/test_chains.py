import json
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as PillowImage

from forensegm.config import AugmentConfig, DistortConfig
from forensegm.distortions import OPS, Op, Param, Range, distort, parse_chain
from forensegm.distortions.chains import lost_ids
from forensegm.sample import Image, Mask


@pytest.fixture
def image() -> Image:
    return np.random.default_rng(0).integers(0, 256, (40, 30, 3), dtype=np.uint8)


@pytest.fixture
def mask() -> Mask:
    mask = np.zeros((40, 30), np.uint8)
    mask[10:30, 5:20] = 3
    mask[:4] = 255
    return mask


@pytest.mark.parametrize(
    ("written", "shortest", "name", "level"),
    [
        ("jpeg(70)", "jpeg(70)", "jpeg", "70"),
        (" resize( 0.50 ) | jpeg(70, 4:2:0) ", "resize(0.5)|jpeg(70)", "resize|jpeg", "0.5|70"),
        ("jpeg(90,4:4:4)", "jpeg(90, 4:4:4)", "jpeg", "90, 4:4:4"),
        ("identity", "identity", "identity", ""),
        ("identity()", "identity", "identity", ""),
        ("blur(1.0)", "blur(1)", "blur", "1"),
        ("resize(0.5 .. 1)|jpeg(60..95)", "resize(0.5..1)|jpeg(60..95)", "resize|jpeg", "0.5..1|60..95"),
        ("noise(5e-1)", "noise(0.5)", "noise", "0.5"),
    ],
)
def test_parse_and_print(written: str, shortest: str, name: str, level: str) -> None:
    chain = parse_chain(written)
    assert (str(chain), chain.name, chain.level) == (shortest, name, level)
    assert parse_chain(str(chain)) == chain


def numbers(param: Param) -> st.SearchStrategy[str]:
    value = st.integers(int(param.low), int(param.high)) if param.kind == "int" else st.floats(param.low, param.high)
    return st.tuples(value, value, st.booleans()).map(
        lambda drawn: f"{min(drawn[:2])}..{max(drawn[:2])}" if drawn[2] else str(drawn[0])
    )


steps = st.sampled_from(sorted(OPS)).flatmap(
    lambda name: st.tuples(*(numbers(param) for param in OPS[name].params if param.kind != "choice")).map(
        lambda values: f"{name}({', '.join(values)})"
    )
)


@given(st.lists(steps, min_size=1, max_size=4).map("|".join), st.integers(0, 2**32))
def test_any_chain_round_trips_and_draws_inside_its_ranges(text: str, seed: int) -> None:
    chain = parse_chain(text)
    drawn = chain.draw(np.random.default_rng(seed))
    assert parse_chain(str(chain)) == chain
    assert drawn.drawn
    assert parse_chain(str(drawn)) == drawn
    for step, fixed in zip(chain.steps, drawn.steps, strict=True):
        assert fixed.op.check(fixed.values) == fixed.values
        for value, number in zip(step.values, fixed.values, strict=True):
            if isinstance(value, Range):
                assert isinstance(number, (int, float))
                assert value.low <= number <= value.high
            else:
                assert number == value


def test_ranges_are_drawn_uniformly_and_whole_where_they_must_be() -> None:
    rng = np.random.default_rng(0)
    qualities = [parse_chain("jpeg(50..52)").draw(rng).steps[0].values[0] for _ in range(600)]
    assert {type(quality) for quality in qualities} == {int}
    assert all(150 < qualities.count(quality) < 250 for quality in (50, 51, 52))
    factors = [parse_chain("resize(0.5..1)").draw(rng).steps[0].values[0] for _ in range(600)]
    assert np.mean(factors) == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jpg(70)", "Expected a known distortion, got 'jpg'. Did you mean jpeg"),
        ("jpeg(0)", r"Expected quality of jpeg to be a whole number of 1\.\.100 \(higher is better\), got 0"),
        ("jpeg(50..101)", r"quality of jpeg .* got 101"),
        ("jpeg(50.5..60)", r"quality of jpeg .* got 50.5"),
        ("jpeg(80..60)", r"Expected the range quality of jpeg to rise, got 80\.\.60 in 'jpeg\(80\.\.60\)'"),
        ("jpeg(70, 4:1:0)", "subsampling of jpeg to be one of 4:2:0, 4:2:2, 4:4:4"),
        ("jpeg", r"Expected 1 to 2 value\(s\) for jpeg\(quality\[, subsampling\]\), got 0"),
        ("blur(1, 2)", r"Expected 1 value\(s\) for blur\(sigma\), got 2"),
        ("blur(wide)", "sigma of blur to be a number of 0.1..50 .pixels., got wide"),
        ("noise(nan)", "sigma of noise .*, got nan"),
        ("", "Expected a distortion such as 'jpeg"),
        ("jpeg(70)|", "Expected a distortion such as 'jpeg"),
        ("jpeg(70", "got 'jpeg.70' in 'jpeg.70'"),
        ("os:system(1)", "is never imported"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_chain(text)


def test_the_configured_defaults_parse() -> None:
    for text in (*AugmentConfig().distortions, *DistortConfig().chains):
        assert str(parse_chain(text)) == text


def test_distort_applies_from_left_to_right(image: Image) -> None:
    by_hand = distort(distort(image, "resize(0.5)"), "gamma(2)")
    assert np.array_equal(distort(image, "resize(0.5)|gamma(2)"), by_hand)
    assert by_hand.shape == (20, 15, 3)


def test_identity_is_bit_identity(image: Image, mask: Mask) -> None:
    same, same_mask = distort(image, "identity", mask=mask)
    assert np.array_equal(same, image)
    assert np.array_equal(same_mask, mask)
    assert not np.shares_memory(same_mask, mask)


@pytest.mark.parametrize("text", ["noise(4)", "noise(1..8)", "resize(0.5..1)|jpeg(60..95)"])
def test_the_seed_decides_every_bit(text: str, image: Image) -> None:
    results = [distort(image, text, seed=seed) for seed in (7, 7, 8)]
    assert np.array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])
    generators = [distort(image, text, seed=np.random.default_rng(7)) for _ in range(2)]
    assert np.array_equal(*generators)
    assert np.array_equal(generators[0], results[0])


@pytest.mark.parametrize("text", ["jpeg(50)", "webp(50)", "blur(2)", "noise(8)", "gamma(1.3)"])
def test_the_mask_stays_where_pixels_stay(text: str, image: Image, mask: Mask) -> None:
    distorted, kept = distort(image, text, mask=mask)
    assert np.array_equal(kept, mask)
    assert not np.shares_memory(kept, mask)
    assert distorted.shape == image.shape


def test_the_mask_follows_a_resize(image: Image, mask: Mask) -> None:
    distorted, moved = distort(image, "resize(0.5)|blur(1)|resize(3)", mask=mask)
    assert distorted.shape == (60, 45, 3)
    assert moved.shape == (60, 45)
    assert set(np.unique(moved)) == {0, 3, 255}
    assert (moved == 3).mean() == pytest.approx((mask == 3).mean(), abs=0.02)


def test_case_48_resize_mask_nearest(shared: Path, caplog: pytest.LogCaptureFixture) -> None:
    case = shared / "cases" / "48_resize_mask_nearest"
    expected = json.loads((case / "expected.json").read_text())
    mask = np.asarray(PillowImage.open(case / "mask.png"))
    assert set(np.unique(mask)) == set(expected["allowed"])
    for scale in expected["scales"]:
        caplog.clear()
        image = np.repeat(mask[..., None], 3, axis=2)
        distorted, moved = distort(image, f"resize({scale})|jpeg(70)", mask=mask)
        assert moved.shape == distorted.shape[:2]
        assert set(np.unique(moved)) <= set(expected["allowed"])
        lost = set(expected["allowed"]) - set(np.unique(moved).tolist())
        assert [str(value) in caplog.text for value in lost] == [True] * len(lost)
        assert bool(lost) == bool(caplog.records)


def test_a_lost_region_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    mask = np.zeros((8, 8), np.uint8)
    mask[2] = 5  # resize(0.5) keeps the rows 1, 3, 5 and 7
    with caplog.at_level(logging.WARNING):
        moved = distort(np.zeros((8, 8, 3), np.uint8), "resize(0.5)", mask=mask)[1]
    assert caplog.messages == ["resize(0.5) left no pixel of mask id 5."]
    assert lost_ids(mask, moved) == (5,)


def test_bad_arrays_are_refused(image: Image, mask: Mask) -> None:
    with pytest.raises(ValueError, match="Expected image to be uint8 HxWx3"):
        distort(image / 255, "identity")
    with pytest.raises(ValueError, match="Height and width are swapped"):
        distort(image, "identity", mask=mask.T)


def test_ranges_must_be_drawn_before_applying(image: Image) -> None:
    with pytest.raises(ValueError, match=r"Expected a chain without ranges, got 'resize\(0\.5\.\.1\)'"):
        parse_chain("resize(0.5..1)").apply(image, rng=np.random.default_rng())


def test_scale_is_the_product_of_the_factors() -> None:
    assert parse_chain("resize(0.5)|jpeg(70)|resize(0.8)").scale == pytest.approx(0.4)
    assert parse_chain("jpeg(70)").scale == 1


def test_record_says_what_was_done_and_with_what() -> None:
    record = parse_chain("resize(0.5)|jpeg(70)").record()
    assert record[1]["op"] == "jpeg"
    assert record[1]["parameters"] == {"quality": 70, "subsampling": "4:2:0"}
    assert record[1]["units"]["quality"] == "higher is better"
    assert "libjpeg-turbo" in record[1]["library"]
    assert json.loads(json.dumps(record)) == record


def posterize(image: Image, bits: int) -> Image:
    """Keep the upper bits of every channel."""
    return image & np.uint8(256 - 2 ** (8 - bits))


BITS = Param("bits", "int", 1, 8, unit="bits kept", source="our choice")
POSTERIZE = Op("posterize", posterize, (BITS,))


def test_an_op_of_the_users_own(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    chain = parse_chain("test_chains:POSTERIZE(1..2)|identity", trusted=True)
    assert set(np.unique(distort(image, chain))) <= {0, 64, 128, 192}
    assert parse_chain(str(chain), trusted=True) == chain
    with pytest.raises(ValueError, match="to be an Op, got <function"):
        parse_chain("test_chains:posterize(1)", trusted=True)


def test_needs_no_torch() -> None:
    code = "import sys, forensegm.distortions; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
