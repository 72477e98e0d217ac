"""Train a network on a data set. Copy this file to change how a run is put together.

    python tools/train.py --data native:runs/data --out runs/train
    python tools/train.py --config train.yaml --optim.lr 3e-4

It takes the options of `forensegm train`; --help explains each.
"""

import sys

import forensegm
from forensegm.cli.errors import guard
from forensegm.cli.main import configure
from forensegm.cli.progress import Bars


def main(argv: list[str]) -> int:
    """Train, and say where the checkpoint is."""
    config, _ = configure("train", argv)
    with Bars() as progress:
        result = forensegm.train(config, progress=progress)
    print(f"wrote {result.checkpoint}")
    return 0


if __name__ == "__main__":
    sys.exit(guard("tools/train.py", lambda: main(sys.argv[1:])))
