"""`forensegm robustness`: the scores of a checkpoint under distortions."""

from __future__ import annotations

from pathlib import Path

from jsonargparse import Namespace

from forensegm.cli.evaluate import REQUIRED, SHORT, add_checkpoint, open_both
from forensegm.cli.options import Command
from forensegm.cli.output import say_wrote, show
from forensegm.cli.progress import Bars
from forensegm.config import Config, DistortConfig

RESULTS = "robustness.json"
CLEAN = "identity"


def run(config: Config, args: Namespace) -> int:
    """Evaluate under every distortion chain, print one row for each, and write them all."""
    predictor, dataset = open_both(config, args)
    from forensegm.evaluation import robustness
    from forensegm.imageio import write_json
    from forensegm.reports.tables import comparison_table

    # The undistorted images come first: what the others are compared with.
    sweep = DistortConfig(chains=list(dict.fromkeys([CLEAN, *config.distort.chains])))
    with Bars() as progress:
        results = robustness(predictor, dataset, config.evaluate, sweep, progress=progress)
    folder = Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / RESULTS, results)
    rows = {"clean" if result["chain"] == CLEAN else result["chain"]: result for result in results}
    show(comparison_table(f"Scores on '{config.evaluate.split}'", "distortion", rows))
    say_wrote(folder / RESULTS)
    return 0


COMMAND = Command(
    name="robustness",
    summary="Score a checkpoint under JPEG, resizing, blur, noise and other distortions",
    run=run,
    usage="CHECKPOINT",
    own="evaluate",
    required=REQUIRED,
    short={**SHORT, "distort.chains": "--chains"},
    leave_out=("evaluate.bootstrap", "evaluate.examples"),
    add_arguments=lambda group: add_checkpoint(group, out="runs/robustness"),
    examples=(
        "robustness runs/train/checkpoint --data native:runs/data",
        'robustness runs/train/checkpoint --data native:runs/data --chains "jpeg(70),blur(1)"',
    ),
)
