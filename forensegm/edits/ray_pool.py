"""Run a function over many items on a Ray cluster. Workers are processes that load models once; a lost one is replaced.

What a lost worker was doing is done again by another: items write their files whole or not at all, and the same item
always writes the same, so that nothing is lost and nothing is there twice.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from forensegm.lookup import require

Item = TypeVar("Item")
Result = TypeVar("Result")
AHEAD = 2  # items handed to a worker beyond which it gets no more before one is done


class Worker:
    """Calls functions in a process of its own."""

    def call(self, function: Callable[[Any], Any], item: Any) -> Any:
        """Return function(item)."""
        return function(item)


@contextmanager
def ray_pool(workers: int, *, gpus: bool) -> Iterator[Any]:
    """Yield a `Run` over `workers` Ray actors; 0 = one per GPU, or per CPU where no model needs one.

    The cluster is the one that RAY_ADDRESS names, or that this process is connected to; else one is started on this
    machine and stopped afterwards.

    Raises:
        RuntimeError: Ray is not installed.
    """
    ray = require("ray", extra="ray")
    started = not ray.is_initialized()
    if started:
        ray.init(
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
            # Worker processes find the user's own modules where this process finds them.
            runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}},
            **({} if os.environ.get("RAY_ADDRESS") else {"num_cpus": workers or None}),
        )
    try:
        resources = ray.cluster_resources()
        count = workers or max(1, int(resources.get("GPU" if gpus else "CPU", 1)))
        options = {"max_restarts": -1, "max_task_retries": -1, "num_cpus": 1, "num_gpus": 1 if gpus else 0}
        actors = [ray.remote(Worker).options(**options).remote() for _ in range(count)]
        yield partial(_run, ray, actors)
    finally:
        if started:
            ray.shutdown()


def _run(ray: Any, actors: list[Any], function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    waiting = iter(items)
    busy: dict[Any, Any] = {}

    def feed(actor: Any) -> None:
        for item in waiting:
            busy[actor.call.remote(function, item)] = actor
            return

    for _ in range(AHEAD):
        for actor in actors:
            feed(actor)
    while busy:
        ready, _ = ray.wait(list(busy), num_returns=1)
        for one in ready:
            actor = busy.pop(one)
            feed(actor)
            try:
                yield ray.get(one)
            except ray.exceptions.RayTaskError as error:
                raise error.cause if isinstance(error.cause, Exception) else RuntimeError(str(error)) from error
