import itertools

import numpy as np
import pytest
from skimage import data

from forensegm.datasets.hashing import bit_counts, image_hash, near_duplicates
from forensegm.distortions import distort


def distance(one, other):
    return (one ^ other).bit_count()


@pytest.fixture(scope="module")
def photographs():
    return [data.astronaut(), data.chelsea(), data.coffee(), data.rocket(), data.immunohistochemistry(), data.retina()]


@pytest.mark.parametrize(
    "chain", ["jpeg(50)", "resize(0.5)", "resize(1.5)", "blur(1)", "noise(8)", "resize(0.5)|jpeg(70)"]
)
def test_copies_are_near(photographs, chain):
    for photograph in photographs:
        copy = distort(photograph, chain, seed=0)
        assert distance(image_hash(copy), image_hash(photograph)) <= 4


def test_a_small_edit_is_near_and_other_photographs_are_far(photographs):
    edited = photographs[0].copy()
    edited[200:260, 300:360] = 255
    assert distance(image_hash(edited), image_hash(photographs[0])) <= 8
    distances = [distance(image_hash(a), image_hash(b)) for a, b in itertools.combinations(photographs, 2)]
    assert min(distances) > 16


def test_what_has_no_structure_has_no_hash():
    assert image_hash(np.full((50, 60, 3), 200, np.uint8)) == 0
    assert near_duplicates([0, 0, 0]) == []


def test_one_pixel_images_have_a_hash_or_none():
    assert image_hash(np.zeros((1, 1, 3), np.uint8)) == 0
    assert image_hash(np.random.default_rng(0).integers(0, 256, (2, 3, 3), dtype=np.uint8)) > 0


@pytest.mark.parametrize("max_distance", [0, 3, 8, 15])
def test_clusters_are_those_of_all_pairs(max_distance):
    rng = np.random.default_rng(1)
    seeds = rng.integers(1, 2**63, 25, dtype=np.uint64)
    hashes = [
        int(value) ^ sum(1 << int(bit) for bit in rng.choice(64, rng.integers(0, 9), False))
        for value in seeds
        for _ in range(4)
    ]
    near = np.array([[distance(a, b) <= max_distance for b in hashes] for a in hashes])
    reach = near.copy()
    for _ in range(len(hashes).bit_length()):
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    expected = {tuple(np.flatnonzero(row)) for row in reach if row.sum() > 1}
    assert {tuple(cluster) for cluster in near_duplicates(hashes, max_distance=max_distance)} == expected


def test_bit_counts():
    values = np.array([0, 1, 255, 2**64 - 1], dtype=np.uint64)
    assert bit_counts(values).tolist() == [0, 1, 8, 64]


def test_a_distance_that_says_nothing_is_refused():
    with pytest.raises(ValueError, match=r"0\.\.31"):
        near_duplicates([1, 2], max_distance=32)


def test_among_thirty_thousand_hashes():
    rng = np.random.default_rng(2)
    hashes = rng.integers(1, 2**63, 30_000, dtype=np.uint64)
    hashes[1] = hashes[0]
    assert [0, 1] in near_duplicates(hashes.tolist())
