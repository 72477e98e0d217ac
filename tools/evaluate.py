"""Score a checkpoint on a data set, clean and under distortions. Copy this file to change what is scored.

    python tools/evaluate.py runs/train/checkpoint --data native:runs/data --out runs/evaluate

It takes the options of `forensegm robustness`; --help explains each.
"""

import sys

import forensegm
from forensegm.cli.errors import guard
from forensegm.cli.main import configure
from forensegm.cli.progress import Bars
from forensegm.evaluation import write_evaluation


def main(argv: list[str]) -> int:
    """Evaluate, and write metrics.json, per_image.jsonl and report.html."""
    config, args = configure("robustness", argv)
    dataset = forensegm.open_dataset(config.data.source, split=config.evaluate.split, **config.data.options)
    predictor = forensegm.Predictor.from_checkpoint(args.checkpoint, device=config.predict.device)
    with Bars() as progress:
        evaluation = forensegm.evaluate(predictor, dataset, config.evaluate, progress=progress)
        evaluation.metrics["distortions"] = forensegm.robustness(
            predictor, dataset, config.evaluate, config.distort, progress=progress
        )
    labels = list(predictor.labels.names)
    for path in write_evaluation(args.out, evaluation, labels=labels, title=f"{args.checkpoint} on {dataset.name}"):
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(guard("tools/evaluate.py", lambda: main(sys.argv[1:])))
