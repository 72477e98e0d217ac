"""How fast a run is, and how much of the time it waits for data."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")

SLOW_LOADING = 0.3
SHORT = 5.0


class Meter:
    """Counts images and seconds of one epoch, from its creation on."""

    def __init__(self) -> None:
        """Start the clock."""
        self.started = time.perf_counter()
        self.waited = 0.0
        self.images = 0

    def watch(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items; the time until each one arrives is time spent waiting."""
        iterator = iter(items)
        while True:
            asked = time.perf_counter()
            try:
                item = next(iterator)
            except StopIteration:
                return
            finally:
                self.waited += time.perf_counter() - asked
            yield item

    def count(self, images: int) -> None:
        """Add images that were trained on."""
        self.images += images

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def figures(self) -> dict[str, float]:
        """Images per second and the share of time spent waiting, 0..1, under the names they have in the log."""
        seconds = max(self.seconds, 1e-9)
        return {
            "train/images_per_second": round(self.images / seconds, 3),
            "train/data_wait": round(self.waited / seconds, 4),
        }

    def warn_if_loading_is_slow(self, workers: int) -> None:
        """Say so when a good part of an epoch went into waiting for data."""
        share = self.waited / max(self.seconds, 1e-9)
        if share > SLOW_LOADING and self.seconds > SHORT:
            logger.warning(
                "Loading took %.0f %% of the epoch's time with data.workers=%d: more workers would train faster.",
                100 * share,
                workers,
            )
