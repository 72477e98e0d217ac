"""From the training split to batches on the device: order, shares of the processes, accumulation, transfer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Sampler

from forensegm.config import Config
from forensegm.datasets.torch_dataset import Batch, EpochSampler, TorchDataset, Transform, make_loader
from forensegm.sample import Sample
from forensegm.training.parts import Parts
from forensegm.transforms import ignore_regenerated

Index = tuple[int, int]


class RankSampler(Sampler[Index]):
    """The share of one process in an epoch: full batches only, as many for every process, none twice.

    The last incomplete batch of an epoch is left out: a batch of one image has no batch statistics worth learning
    from. Since every epoch has another order, no image is left out for long.

    Args:
        sampler: the order of the whole epoch.
        batch_size: items per batch and process.
        rank: number of this process.
        world: number of processes.
    """

    def __init__(self, sampler: EpochSampler, *, batch_size: int, rank: int = 0, world: int = 1) -> None:
        """Keep the order and the share."""
        self.sampler, self.batch_size, self.rank, self.world = sampler, batch_size, rank, world

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order is yielded next."""
        self.sampler.set_epoch(epoch)

    def __len__(self) -> int:
        """Items of this process in one epoch."""
        return len(self.sampler) // (self.batch_size * self.world) * self.batch_size

    @property
    def left_out(self) -> int:
        """Items of the whole epoch that no process takes."""
        return len(self.sampler) - len(self) * self.world

    def __iter__(self) -> Iterator[Index]:
        """Yield (epoch, item)."""
        order = list(self.sampler)
        for batch in range(self.rank, len(self) // self.batch_size * self.world, self.world):
            yield from order[batch * self.batch_size : (batch + 1) * self.batch_size]


def make_batches(config: Config, parts: Parts, *, rank: int = 0, world: int = 1) -> tuple[DataLoader[Any], RankSampler]:
    """Return the loader of the training split and the sampler whose epoch is to be set.

    Raises:
        ValueError: fewer images than the processes take in one step.
    """
    seed = config.train.seed
    transform: Transform = parts.transform
    if config.data.regenerated_outside == "ignore":
        transform = partial(_without_regenerated, parts.transform)
    dataset = TorchDataset(parts.train, transform=transform, seed=seed, on_error=config.data.on_error)
    order = EpochSampler(len(parts.train), seed=seed)
    sampler = RankSampler(order, batch_size=config.data.batch_size, rank=rank, world=world)
    if len(sampler) == 0:
        raise ValueError(
            f"Expected data.batch_size x {world} processes to be at most the {len(order)} training images, got "
            f"{config.data.batch_size} x {world}."
        )
    loader = make_loader(
        dataset,
        batch_size=config.data.batch_size,
        sampler=sampler,
        workers=config.data.workers,
        pin_memory=torch.cuda.is_available(),
    )
    return loader, sampler


def _without_regenerated(transform: Transform, sample: Sample, rng: np.random.Generator) -> Sample:
    return transform(ignore_regenerated(sample), rng)


def windows(batches: Iterable[Batch], accumulate: int) -> Iterator[list[Batch]]:
    """Yield the batches in lists of `accumulate`, one list per optimizer step; the last one may be shorter."""
    window: list[Batch] = []
    for batch in batches:
        window.append(batch)
        if len(window) == accumulate:
            yield window
            window = []
    if window:
        yield window


def to_device(batch: Batch, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return images as float32 in 0..1 (channels last in memory) and masks (uint8) on the device."""
    images = batch["images"].to(device, non_blocking=True, memory_format=torch.channels_last)
    return images.float().div_(255.0), batch["masks"].to(device, non_blocking=True)
