"""Write mmsegmentation's folders."""

from __future__ import annotations

from collections.abc import Iterator

from forensegm.datasets.convert.source import Packed, Target, mask_png, write_file
from forensegm.imageio import write_text_atomic


def write_mmseg(items: Iterator[Packed], target: Target) -> None:
    """Write img_dir/SPLIT and ann_dir/SPLIT (all without splits), masks of class ids, 255 = ignore, and the classes."""
    suffixes: dict[str, int] = {}
    for packed in items:
        split = packed.split
        write_file(target.root / "img_dir" / split / f"{packed.stem}{packed.suffix}", packed.data)
        write_file(target.root / "ann_dir" / split / f"{packed.stem}.png", mask_png(packed.mask))
        suffixes[packed.suffix] = suffixes.get(packed.suffix, 0) + 1
    classes = ", ".join(f"'{name}'" for name in target.labels.names)
    several = (
        f"  # images end in {', '.join(sorted(suffixes))}: one data set of each suffix" if len(suffixes) > 1 else ""
    )
    write_text_atomic(
        target.root / "dataset_config.py",
        f"metainfo = dict(classes=({classes},))\n"
        f"img_suffix = '{max(suffixes, key=lambda suffix: suffixes[suffix])}'{several}\n"
        "seg_map_suffix = '.png'\n"
        "reduce_zero_label = False  # class 0 is authentic\n",
    )
