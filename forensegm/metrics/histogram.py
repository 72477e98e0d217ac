"""A mergeable joint histogram of score and label: AUC, AP and thresholds of any number of pixels in constant memory.

The bins are even in the logarithm of the odds s / (1 - s), so that they are fine near 0 and near 1, where a confident
network puts nearly every pixel. The odds' own float32 bits are that logarithm (piecewise linear), so a bin index is a
division and a few shifts. Per factor 2 of the odds there are 8,192 bins between 1:256 and 256:1, and 512 outside, down
to the smallest float32 and up to the largest one below 1: 212,000 bins, 3.4 MB. With twice as many, counting takes a
fifth longer, because the counts in use no longer fit the second-level cache.

What that costs: within a bin, scores count as tied. The AUC is off by at most half the sum over bins of (share of the
negatives) x (share of the positives), in practice about 1e-7 for a map of a million pixels; AP by about half of the
share of the positives that one bin holds. Scores that are truly tied (a constant map, an 8-bit map) are exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensegm.lookup import unknown_name
from forensegm.metrics.confusion import Counts
from forensegm.metrics.curves import OBJECTIVES, ap_of_counts, auc_of_counts, best_entry
from forensegm.metrics.scores import f1
from forensegm.sample import AUTHENTIC, IGNORE

CHUNK = 1 << 16  # scores per step: their working arrays stay in the second-level cache
ROUNDING = 1e-6  # how far outside 0..1 the rounding of a float32 softmax or blend may put a probability

FINE_SHIFT, COARSE_SHIFT = 10, 14  # bits of the odds' 23-bit mantissa that are dropped: 2^13 and 2^9 bins per octave
SCALE = 24  # the odds are scaled by 2^24, so that those of the smallest, denormal float32 have full bits as well
FINE_FROM, FINE_TO = (127 + SCALE - 8) << 23, (127 + SCALE + 8) << 23  # float32 bits of the scaled odds 2^-8 and 2^8
# Index = median of three lines in the bits: coarse below, fine between, coarse above, continuous where they meet.
FINE_OFFSET = (FINE_FROM >> FINE_SHIFT) - (FINE_FROM >> COARSE_SHIFT)
UPPER_OFFSET = (FINE_TO >> COARSE_SHIFT) - ((FINE_TO >> FINE_SHIFT) - FINE_OFFSET)
SMALLEST_REST = np.float32(2.0**-25)  # stands for 1 - s at s = 1; the float32 below 1 has 2^-24
SCALE_REST = np.float32(2.0**-SCALE)
NUM_BINS = (int((np.float32(1) / (SMALLEST_REST * SCALE_REST)).view(np.int32)) >> COARSE_SHIFT) - UPPER_OFFSET + 1

Work = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.bool_]]


class ScoreHistogram:
    """Counts of authentic and edited items by score.

    Args:
        thresholds: scores that get an exact bin edge each: counts at `score >= threshold` are then exact.

    Attributes:
        counts: int64, bins x 2 (column 0 = authentic, 1 = edited), by ascending score.

    Raises:
        ValueError: a threshold outside 0..1.

    >>> histogram = ScoreHistogram(thresholds=[0.5])
    >>> histogram.update([0.2, 0.5, 0.5, 0.9], [0, 0, 1, 1])
    >>> histogram.auc(), histogram.counts_at(0.5)
    (0.875, Counts(tn=1, fp=1, fn=0, tp=2))
    """

    def __init__(self, thresholds: Sequence[float] = ()) -> None:
        """Start without counts."""
        self.thresholds = tuple(float(value) for value in thresholds)
        for value in self.thresholds:
            if not 0 <= value <= 1:
                raise ValueError(f"Expected thresholds of 0..1, got {value}.")
        self.counts = np.zeros((NUM_BINS + len(self.thresholds), 2), dtype=np.int64)

    def update(self, scores: ArrayLike, labels: ArrayLike) -> None:
        """Count scores by label.

        Args:
            scores: edited-probabilities 0..1 of any shape, taken as float32.
            labels: bools or mask values of the same shape: 0 = authentic, 255 = left out, else edited.

        Raises:
            ValueError: different shapes, or a score that counts and is not in 0..1. Nothing is counted then.
        """
        flat, edited = valid_scores(scores, labels)
        if flat.size == 0:
            return
        flat = checked(flat)
        cells = self.counts.reshape(-1)
        work = working_arrays(min(flat.size, CHUNK))
        for start in range(0, flat.size, CHUNK):
            index = bin_index(flat[start : start + CHUNK], self.thresholds, work=work)
            index += index
            index += edited[start : start + CHUNK].view(np.uint8)
            np.add.at(cells, index, 1)

    def merge(self, other: ScoreHistogram) -> None:
        """Add the counts of another histogram; raises ValueError where it has other thresholds."""
        if self.thresholds != other.thresholds:
            raise ValueError(
                f"Expected histograms of the same thresholds, got {list(self.thresholds)} and {list(other.thresholds)}."
            )
        self.counts += other.counts

    @property
    def negatives(self) -> NDArray[np.int64]:
        """Authentic items by ascending score."""
        return self.counts[:, 0]

    @property
    def positives(self) -> NDArray[np.int64]:
        """Edited items by ascending score."""
        return self.counts[:, 1]

    def auc(self) -> float | None:
        """Area under the ROC curve, ties counting one half; None where there is one class only."""
        return auc_of_counts(self.negatives, self.positives)

    def average_precision(self) -> float | None:
        """Average precision; None where there is one class only."""
        return ap_of_counts(self.negatives, self.positives)

    def counts_at(self, threshold: float) -> Counts:
        """Counts of `score >= threshold`, compared in float32.

        Raises:
            ValueError: `threshold` is not a bin edge, so that the counts would not be exact. The thresholds given to
                the histogram are edges, and so is whatever `best_threshold` returns.
        """
        edge = int(self.index_of(threshold))
        if self.edge(edge) != np.float32(threshold):
            raise ValueError(
                f"Expected a bin edge, got {threshold}. Pass it in `thresholds` when the histogram is made."
            )
        (tn, fn), (fp, tp) = self.counts[:edge].sum(axis=0), self.counts[edge:].sum(axis=0)
        return Counts(int(tn), int(fp), int(fn), int(tp))

    def best_threshold(self, *, objective: str = "iou") -> float | None:
        """Threshold that maximizes a score of the pooled counts: iou, f1 or balanced_accuracy.

        It is a bin edge in the middle (of the log-odds) of the gap between the scores it parts. A float32, so that
        `score >= threshold` reproduces the counts exactly. Of equally good ones the one that flags fewest.

        Returns:
            The threshold, or None where there is one class only.
        """
        if objective not in OBJECTIVES:
            raise unknown_name(objective, OBJECTIVES, what="objective")
        best = best_entry(self.negatives, self.positives, objective)
        if best is None:
            return None
        below = np.flatnonzero(self.counts[:best].any(axis=1))
        return float(self.edge(best if below.size == 0 else (int(below[-1]) + 1 + best) // 2))

    def best_f1(self) -> tuple[float, float] | None:
        """Largest F1 over all thresholds and the threshold that gives it (an oracle); None for one class only."""
        threshold = self.best_threshold(objective="f1")
        best = None if threshold is None else f1(self.counts_at(threshold))
        return None if threshold is None or best is None else (best, threshold)

    def index_of(self, score: float) -> int:
        """Bin of one score."""
        return int(bin_index(np.array([score], dtype=np.float32), self.thresholds)[0])

    def edge(self, index: int) -> np.float32:
        """Smallest float32 score in bin `index` or above: found by bisection over float32 bits, which are ordered."""
        low, high = -1, int(np.float32(1).view(np.int32))
        while high - low > 1:
            middle = (low + high) // 2
            if self.index_of(float(np.int32(middle).view(np.float32))) >= index:
                high = middle
            else:
                low = middle
        return np.float32(np.int32(high).view(np.float32))


def working_arrays(size: int) -> Work:
    """Scratch space of `bin_index`: fresh memory for each chunk would take as long as the arithmetic."""
    return np.empty(size, dtype=np.float32), np.empty(size, dtype=np.int32), np.empty(size, dtype=np.bool_)


def bin_index(
    scores: NDArray[np.float32], thresholds: Sequence[float], *, work: Work | None = None
) -> NDArray[np.int32]:
    """Bin of each score in 0..1: never falling with the score, and with a step exactly at each threshold.

    The result lies in `work`, if given, until the next call.
    """
    odds, coarse, above = (array[: scores.size] for array in work or working_arrays(scores.size))
    np.subtract(np.float32(1), scores, out=odds)
    np.maximum(odds, SMALLEST_REST, out=odds)
    np.multiply(odds, SCALE_REST, out=odds)
    np.divide(scores, odds, out=odds)
    bits = odds.view(np.int32)
    np.right_shift(bits, COARSE_SHIFT, out=coarse)
    index = np.right_shift(bits, FINE_SHIFT, out=bits)
    index -= np.int32(FINE_OFFSET)
    np.maximum(index, coarse, out=index)
    coarse -= np.int32(UPPER_OFFSET)
    np.minimum(index, coarse, out=index)
    for threshold in thresholds:
        index += np.greater_equal(scores, np.float32(threshold), out=above)
    return index


def valid_scores(scores: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Flatten, and leave out what is to be ignored."""
    score_array, label_array = np.asarray(scores, dtype=np.float32), np.asarray(labels)
    if score_array.shape != label_array.shape:
        raise ValueError(
            f"Expected scores and labels of one shape, got {list(score_array.shape)} and {list(label_array.shape)}."
        )
    if label_array.dtype.kind not in "uib" or (
        label_array.dtype.kind == "i" and label_array.size and label_array.min() < 0
    ):
        raise ValueError(f"Expected labels to be bools or mask values of 0..{IGNORE}, got {label_array.dtype}.")
    flat, values = score_array.reshape(-1), label_array.reshape(-1)
    if values.dtype != np.bool_ and values.size and values.max() == IGNORE:
        valid = values != IGNORE
        flat, values = flat[valid], values[valid]
    return flat, values != AUTHENTIC


def checked(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return scores that are all in 0..1, those within a rounding error of it put to 0 or 1."""
    low, high = scores.min(), scores.max()
    if not (low >= -ROUNDING and high <= 1 + ROUNDING):
        wrong = low if not low >= -ROUNDING else high
        raise ValueError(f"Expected edited-probabilities of 0..1, got {wrong}.")
    if low <= 0 or high > 1:
        return np.clip(scores, np.float32(0), np.float32(1)) + np.float32(0)  # the sum turns -0 into 0
    return scores
