"""Run a function over many items in this process or in several; what it returns depends on the item alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import Protocol, TypeVar

import cv2

from forensegm.config import EditConfig
from forensegm.edits import sources
from forensegm.edits.models_needed import models_of, uses_gpu
from forensegm.edits.ray_pool import ray_pool

Item = TypeVar("Item")
Result = TypeVar("Result")


class Run(Protocol):
    """Calls a function with every item; yields the results as they come, in any order."""

    def __call__(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield function(item) for every item."""
        ...


@contextmanager
def worker_pool(config: EditConfig) -> Iterator[Run]:
    """Yield a `Run` over the processes that the configuration asks for.

    Local: 1 = in this process, 0 = one per core that this process may use, or a single one where models are loaded:
    several would share one accelerator, or one machine's memory. With Ray: see `ray_pool`.

    Processes are spawned, not forked: OpenCV's threads do not survive a fork. On the way out, also by Ctrl-C, work
    not yet begun is dropped and work begun is waited for.

    Raises:
        RuntimeError: a worker process died.
    """
    if config.engine == "ray":
        with ray_pool(config.workers, gpus=uses_gpu(config)) as run:
            yield run
        return
    count = config.workers or (1 if models_of(config) else available_cores())
    if count == 1:
        threads = cv2.getNumThreads()
        cv2.setNumThreads(1)
        try:
            yield _run_here
        finally:
            cv2.setNumThreads(threads)
            sources.forget()
        return
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=_start_worker)
    try:
        yield partial(_run_in_pool, executor)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def available_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run_here(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    return map(function, items)


def _run_in_pool(
    executor: ProcessPoolExecutor, function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result]:
    futures = [executor.submit(function, item) for item in items]
    try:
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool as error:
        raise RuntimeError(
            "Expected every worker process to live, but one died: for want of memory (lower edit.workers), or as a "
            'script builds without an `if __name__ == "__main__":` around it.'
        ) from error


def _start_worker() -> None:
    """One thread per worker, and Ctrl-C is left to the main process, which then ends the pool."""
    cv2.setNumThreads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
