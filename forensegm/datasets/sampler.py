"""The order in which a training epoch takes its items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from torch.utils.data import Sampler

Index = tuple[int, int]


class EpochSampler(Sampler[Index]):
    """The order of an epoch, as (epoch, item); it follows from (seed, epoch) alone.

    Args:
        length: number of items.
        seed: of the run.
        shuffle: whether to shuffle; without, items come in order.
        weights: how often each item is drawn, relative to the others (with replacement); None = each exactly once.

    Raises:
        ValueError: weights that are not one number of 0 or more per item, with a positive sum.
    """

    def __init__(self, length: int, *, seed: int, shuffle: bool = True, weights: Sequence[float] | None = None) -> None:
        """Keep the rule; `set_epoch` chooses the epoch, 0 at first."""
        self.length, self.seed, self.shuffle, self.epoch = length, seed, shuffle, 0
        self.shares = None
        if weights is not None:
            values = np.asarray(weights, dtype=np.float64)
            if values.shape != (length,) or not np.isfinite(values).all() or (values < 0).any() or values.sum() <= 0:
                raise ValueError(
                    f"Expected {length} weights of 0 or more with a positive sum, got {values.size} from "
                    f"{values.min(initial=0):g} to {values.max(initial=0):g}."
                )
            self.shares = values / values.sum()

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order is yielded next."""
        self.epoch = epoch

    def __len__(self) -> int:
        """Return the number of items per epoch."""
        return self.length

    def __iter__(self) -> Iterator[Index]:
        """Yield (epoch, item)."""
        # A spawn key keeps this stream apart from that of item 0, whose entropy is the same.
        rng = np.random.default_rng(np.random.SeedSequence((self.seed, self.epoch), spawn_key=(1,)))
        order = np.arange(self.length)
        if self.shares is not None:
            order = rng.choice(self.length, size=self.length, p=self.shares)
        if self.shuffle:
            order = rng.permutation(order)
        epoch = self.epoch
        yield from ((epoch, int(item)) for item in order)
