"""Draw every image of a data set beside its mask, one PNG each, with the editors' names and colours.

python tools/visualize_masks.py native:runs/data --split test --out runs/masks
"""

import argparse
import sys
from pathlib import Path

import forensegm
from forensegm.cli.errors import guard
from forensegm.cli.output import say_skipped
from forensegm.cli.progress import Bars
from forensegm.imageio import write_image
from forensegm.reports import panel


def main(argv: list[str]) -> int:
    """Draw the pictures; an image that cannot be read is skipped and named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="the data set, for example native:runs/data")
    parser.add_argument("--split", help="split of the data set (default: all of it)")
    parser.add_argument("--out", type=Path, default=Path("runs/masks"), help="folder of the pictures")
    parser.add_argument("--images", type=int, help="how many at most (default: all)")
    args = parser.parse_args(argv)
    dataset = forensegm.open_dataset(args.data, split=args.split)
    indices = range(len(dataset))[: args.images]
    skipped = []
    args.out.mkdir(parents=True, exist_ok=True)
    with Bars() as progress:
        for done, index in enumerate(indices, start=1):
            try:
                sample = dataset[index]
            except (ValueError, OSError) as error:
                skipped.append((dataset.ids[index], str(error)))
                continue
            picture = panel(sample.image, dataset.labels, truth=sample.mask, caption=sample.id)
            target = args.out / f"{sample.id}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            write_image(target, picture)
            progress("draw", done, len(indices))
    say_skipped(skipped)
    print(f"wrote {len(indices) - len(skipped)} pictures to {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(guard("tools/visualize_masks.py", lambda: main(sys.argv[1:])))
