"""`forensegm demo`: the whole main job on real photographs."""

from __future__ import annotations

from jsonargparse import Namespace

from forensegm.cli.options import Command, Group, add_dataclass
from forensegm.cli.output import say, say_skipped, say_wrote, short_path, show
from forensegm.cli.progress import Bars
from forensegm.config import Config


def run(config: Config, args: Namespace) -> int:  # noqa: ARG001
    """Run the demo, print its scores, and say what to open."""
    from forensegm.demo import DemoConfig, run_demo
    from forensegm.reports.tables import distortion_table, score_table

    with Bars() as progress:
        result = run_demo(DemoConfig(**{key: args[key] for key in vars(DemoConfig())}), progress=progress)
    show(score_table(result.metrics), distortion_table(result.metrics))
    say_skipped(result.skipped, what="item")
    say_wrote(*(result.out / name for name in ("data", "checkpoint", "metrics.json", "report.html")))
    say(f"open {short_path(result.out / 'report.html')}")
    return 0


def add_arguments(group: Group) -> None:
    """Add the demo's own options."""
    from forensegm.demo import DemoConfig

    add_dataclass(group, DemoConfig)


COMMAND = Command(
    name="demo",
    summary="Run the whole main job on real photographs: edits, training, evaluation, report",
    run=run,
    add_arguments=add_arguments,
    examples=("demo --out runs/demo", "demo --photos ~/photos --out runs/mine"),
)
