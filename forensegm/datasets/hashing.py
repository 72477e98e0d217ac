"""Find near-duplicate images by a perceptual hash: recompressed, resized and slightly edited copies of a photograph."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from forensegm.sample import Image, check_image

BITS = 64
SIDE = 32  # of the picture that is transformed, four times the block that is kept
BLOCK = 8
FLAT = 8.0  # largest coefficient of a picture without structure: about a quarter of a grey level of contrast
NO_HASH = 0
MAX_DISTANCE = 8


def image_hash(image: Image) -> int:
    """Return a 64-bit perceptual hash of an image (uint8 HxWx3); 0 where it has no structure to tell it by.

    The picture is shrunk to 32x32 grey pixels and transformed (DCT-II); a bit says whether one of 64 low frequencies,
    the mean left out, is above their median: the DCT hash of Zauner, "Implementation and Benchmarking of Perceptual
    Image Hash Functions" (2010), section 3.2.1.
    """
    grey = cv2.cvtColor(check_image(image), cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float32)
    low = cv2.dct(small)[:BLOCK, 1 : BLOCK + 1].ravel()
    if np.abs(low).max() < FLAT:
        return NO_HASH
    return int.from_bytes(np.packbits(low > np.median(low)).tobytes())


def near_duplicates(hashes: Sequence[int], *, max_distance: int = MAX_DISTANCE) -> list[list[int]]:
    """Return the clusters of near-duplicates: lists of two or more places in `hashes`, ascending.

    Two hashes are near when at most `max_distance` of their bits differ (of unrelated photographs, about 32 do), and a
    cluster is what chains of near ones connect. A hash of 0 is near to none.

    Raises:
        ValueError: a distance outside 0..31.
    """
    if not 0 <= max_distance < BITS // 2:
        raise ValueError(f"Expected a distance of 0..{BITS // 2 - 1} bits, got {max_distance}.")
    values = np.array([value for value in hashes], dtype=np.uint64)
    distinct, place = np.unique(values, return_inverse=True)
    first = int(np.searchsorted(distinct, 1))  # leaves out 0
    pairs = list(_near_pairs(distinct, first=first, max_distance=max_distance))
    ends = np.concatenate(pairs, axis=1) if pairs else np.zeros((2, 0), dtype=np.int64)
    graph = coo_matrix((np.ones(ends.shape[1], dtype=bool), (ends[0], ends[1])), shape=(len(distinct),) * 2)
    cluster_of = connected_components(graph, directed=False)[1][place] if len(distinct) else place
    clusters: dict[int, list[int]] = {}
    for index, cluster in enumerate(cluster_of.tolist()):
        if values[index] != NO_HASH:
            clusters.setdefault(cluster, []).append(index)
    return [members for members in clusters.values() if len(members) > 1]


def _near_pairs(distinct: NDArray[np.uint64], *, first: int, max_distance: int) -> Iterator[NDArray[np.int64]]:
    """Pairs of places (2xN) whose hashes are near.

    Of `max_distance` + 1 bands of bits, two near hashes share at least one whole; only those that share one are
    compared.
    """
    edges = np.linspace(0, BITS, max_distance + 2).round().astype(int)
    for low, high in itertools.pairwise(edges.tolist()):
        band = (distinct >> np.uint64(low)) & np.uint64((1 << (high - low)) - 1)
        order = first + np.argsort(band[first:], kind="stable")
        cuts = np.flatnonzero(np.diff(band[order])) + 1
        for bucket in np.split(order, cuts):
            for row, index in enumerate(bucket[:-1]):
                others = bucket[row + 1 :]
                near = others[bit_counts(distinct[others] ^ distinct[index]) <= max_distance]
                if len(near):
                    yield np.stack([np.full_like(near, index), near])


def bit_counts(values: NDArray[np.uint64]) -> NDArray[Any]:
    """Return the number of bits that are set in each value."""
    if hasattr(np, "bitwise_count"):  # NumPy 2
        return np.asarray(np.bitwise_count(values))
    counts: NDArray[Any] = np.unpackbits(values.view(np.uint8).reshape(len(values), 8), axis=1).sum(axis=1)
    return counts
