"""From a data set to batches of tensors, the same ones for any number of loader workers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Literal

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Sampler, get_worker_info
from torch.utils.data import Dataset as TorchBase

from forensegm.datasets.batch import Batch, Item, collate
from forensegm.datasets.protocol import Dataset
from forensegm.datasets.sampler import EpochSampler, Index
from forensegm.sample import Sample

__all__ = [
    "Batch",
    "EpochSampler",
    "Index",
    "Item",
    "ItemError",
    "Loader",
    "TorchDataset",
    "collate",
    "item_generator",
    "make_loader",
]

Transform = Callable[[Sample, np.random.Generator], Sample]
OnError = Literal["skip", "raise"]

IDLE = -1
TIMEOUT_S = 120.0


class ItemError(ValueError):
    """An item of a data set that cannot be read; its message is one line and names the file."""


class TorchDataset(TorchBase[Item]):
    """A data set whose items are tensors, transformed by a generator of their own.

    The generator of an item is seeded by (seed, epoch, item) alone, so that workers and ranks change nothing.

    Args:
        dataset: what to read.
        transform: called with the sample and the item's generator; returns a sample.
        seed: of the run.
        on_error: what to do with an item that cannot be read: skip gives an item with the key error, raise raises.

    Attributes:
        working_on: where to note which item each worker is at, int64 per worker, -1 = none; set by `make_loader`.
    """

    def __init__(
        self, dataset: Dataset, *, transform: Transform | None = None, seed: int = 0, on_error: OnError = "skip"
    ) -> None:
        """Keep the parts."""
        if on_error not in ("skip", "raise"):
            raise ValueError(f"Expected on_error to be skip or raise, got '{on_error}'.")
        self.dataset, self.transform, self.seed, self.on_error = dataset, transform, seed, on_error
        self.working_on: torch.Tensor | None = None

    def __len__(self) -> int:
        """Return the number of items, unreadable ones included."""
        return len(self.dataset)

    def __getitem__(self, index: int | Index) -> Item:
        """Read an item by (epoch, item), as `EpochSampler` yields it, or by its number in epoch 0.

        Raises:
            ItemError: the item cannot be read, and on_error is raise.
        """
        epoch, number = index if isinstance(index, tuple) else (0, index)
        self._note(number)
        sample = self._read(number)
        if isinstance(sample, str):
            self._note(IDLE)
            return {"id": self.dataset.ids[number], "index": number, "error": sample}
        if self.transform is not None:
            sample = self.transform(sample, item_generator(self.seed, epoch, number))
        self._note(IDLE)
        image = torch.from_numpy(_own(sample.image)).permute(2, 0, 1)
        return {"image": image, "mask": torch.from_numpy(_own(sample.mask)), "id": sample.id, "index": number}

    def _read(self, number: int) -> Sample | str:
        """The sample, or what is wrong with it."""
        try:
            return self.dataset[number]
        except (ValueError, OSError) as error:
            message = " ".join(str(error).split())
            if self.on_error == "raise":
                raise ItemError(message) from error
            return message

    def _note(self, number: int) -> None:
        worker = get_worker_info()
        if worker is not None and self.working_on is not None:
            self.working_on[worker.id] = number


def item_generator(seed: int, epoch: int, item: int) -> np.random.Generator:
    """Return the generator of one item in one epoch of one run."""
    return np.random.default_rng(np.random.SeedSequence((seed, epoch, item)))


def _own(array: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What torch takes without a copy: contiguous and writable."""
    return np.require(array, requirements=["C", "W"])


class Loader(DataLoader[Item]):
    """A `DataLoader` whose errors say in one line what is wrong, and with which item; made by `make_loader`."""

    def __iter__(self) -> Iterator[Batch]:  # type: ignore[override]
        """Yield batches (see `collate`).

        Raises:
            ItemError: an item cannot be read, and the data set's on_error is raise.
            RuntimeError: a worker died, or gave nothing within the time-out.
        """
        batches: Any = None
        try:
            batches = super().__iter__()
            yield from batches
        except ItemError as error:  # out of a worker it comes with the worker's traceback in its message
            raise ItemError(str(error).rpartition(f"{ItemError.__name__}: ")[2].strip()) from None
        except (RuntimeError, ConnectionError, EOFError) as error:
            # A worker that dies may take batches with it that it had announced: then the connection breaks.
            broken = not isinstance(error, RuntimeError) and self.num_workers > 0
            if str(error).startswith("DataLoader ") or (broken and not str(error).startswith("Caught ")):
                raise RuntimeError(self._stalled(error)) from error
            raise
        finally:
            # Left to the garbage collector, as PyTorch does, this takes 5 s per worker after an error: by then their
            # queues are gone, and none hears that it should stop. That one has died was said above, if it matters.
            with contextlib.suppress(RuntimeError):
                getattr(batches, "_shutdown_workers", lambda: None)()

    def _stalled(self, error: Exception) -> str:
        """What to say of a dead or silent worker."""
        detail = str(error).rstrip(". ")
        dataset = self.dataset
        at = []
        if isinstance(dataset, TorchDataset) and dataset.working_on is not None:
            items = dataset.working_on.tolist()
            at = [f"worker {i} at '{dataset.dataset.ids[item]}'" for i, item in enumerate(items) if item != IDLE]
        return (
            f"Expected a batch from {self.num_workers} loader workers within {self.timeout:g} s, got none: {detail} "
            f"({', '.join(at) or 'no worker was at an item'}). See whether that file opens with workers=0; if it is "
            "only slow, raise timeout; if workers were killed for memory, use fewer, or smaller batches or crops."
        )


def make_loader(
    dataset: TorchDataset,
    *,
    batch_size: int,
    sampler: Sampler[Any] | None = None,
    workers: int = 0,
    timeout: float = TIMEOUT_S,
    drop_last: bool = False,
    pin_memory: bool = False,
    collate_fn: Callable[[Any], Any] = collate,
) -> Loader:
    """Return a loader of batches (see `collate`).

    Args:
        dataset: what to load.
        batch_size: items per batch, broken ones included.
        sampler: yields (epoch, item); by default every item in order, in epoch 0.
        workers: processes that load; 0 = load in this one. The batches are the same for any number.
        timeout: seconds to wait for a batch of the workers before giving up.
        drop_last: whether to leave out a last batch that is not full.
        pin_memory: whether to put batches into page-locked memory, for faster copies to a GPU.
        collate_fn: makes a batch of items.

    Raises:
        ValueError: a number that is not possible.
    """
    if batch_size < 1 or workers < 0 or timeout <= 0:
        raise ValueError(
            "Expected batch_size of 1 or more, workers of 0 or more and timeout above 0 s, got "
            f"{batch_size}, {workers} and {timeout:g}."
        )
    dataset.working_on = None
    if workers:
        dataset.working_on = torch.full((workers,), IDLE)
        dataset.working_on.share_memory_()  # type: ignore[no-untyped-call]
    return Loader(
        dataset,
        batch_size=batch_size,
        sampler=sampler or EpochSampler(len(dataset), seed=0, shuffle=False),
        num_workers=workers,
        collate_fn=collate_fn,
        timeout=timeout if workers else 0,
        drop_last=drop_last,
        pin_memory=pin_memory,
        worker_init_fn=start_worker,
        generator=torch.Generator().manual_seed(0),  # else each epoch would draw from the run's global generator
    )


def start_worker(worker: int) -> None:  # noqa: ARG001
    """Keep a worker to one thread: OpenCV's pool of threads does not survive the fork and stalls on large images."""
    cv2.setNumThreads(0)
    torch.set_num_threads(1)
