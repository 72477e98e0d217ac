"""Write a data set in another form: `convert(dataset, out, to="parquet")`.

A writer is a callable `(items, target) -> None` that makes everything below `target.root`; one more entry in `WRITERS`
adds a form. Image files are copied byte for byte where the source has them; masks never lose a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from forensegm.datasets.convert.coco import write_coco
from forensegm.datasets.convert.imdlbenco import write_imdlbenco
from forensegm.datasets.convert.mmseg import write_mmseg
from forensegm.datasets.convert.native import write_native
from forensegm.datasets.convert.parquet import write_parquet
from forensegm.datasets.convert.shards import write_shards
from forensegm.datasets.convert.source import Packed, Target, pack
from forensegm.datasets.protocol import Dataset
from forensegm.datasets.whole import whole_folder
from forensegm.lookup import lookup, unknown_name

__all__ = ["WRITERS", "ConvertResult", "Packed", "Target", "convert"]

Writer = Callable[[Iterator[Packed], Target], None]
Progress = Callable[[str, int, int, str], None]
OnError = Literal["skip", "raise"]

WRITERS: dict[str, Writer] = {
    "native": write_native,
    "shards": write_shards,
    "parquet": write_parquet,
    "coco": write_coco,
    "imdlbenco": write_imdlbenco,
    "mmseg": write_mmseg,
}


@dataclass
class ConvertResult:
    """What `convert` wrote.

    Attributes:
        out: the folder.
        images: images that it holds.
        reencoded: images whose source had no file of its own, saved as PNG.
        skipped: (id, reason) of every item that could not be read.
    """

    out: Path
    images: int = 0
    reencoded: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)


def convert(
    dataset: Dataset,
    out: str | Path,
    *,
    to: str,
    binary: bool = False,
    on_error: OnError = "skip",
    progress: Progress | None = None,
) -> ConvertResult:
    """Write a data set to a new folder, whole or not at all.

    Args:
        dataset: what to write, all or one split of it.
        out: folder that does not exist yet, or is empty.
        to: name of the form, see `WRITERS`; or a writer of your own.
        binary: for forms of two classes: fold all editors into "edited" instead of refusing several of them.
        on_error: what to do with an item that cannot be read: skip (count and name it) or raise.
        progress: called as progress("convert", done, total, id).

    Raises:
        ValueError: an unknown form, a folder that holds something, nothing readable, or something that the form cannot
            hold.
        RuntimeError: the extra `hub` is needed and not installed.
    """
    if on_error not in get_args(OnError):
        raise unknown_name(on_error, get_args(OnError), what="way with unreadable items")
    writer: Writer = lookup(WRITERS, to, what="form of data sets")
    result = ConvertResult(Path(out).expanduser())

    def items() -> Iterator[Packed]:
        for index, name in enumerate(dataset.ids):
            try:
                packed = pack(dataset, index)
            except (ValueError, OSError) as error:
                if on_error == "raise":
                    raise
                result.skipped.append((name, " ".join(str(error).split())))
            else:
                result.images += 1
                result.reencoded += packed.reencoded
                yield packed
            if progress is not None:
                progress("convert", index + 1, len(dataset), name)
        if not result.images:
            first = f" The first: {result.skipped[0][1]}" if result.skipped else ""
            raise ValueError(f"Expected readable images to convert, got none of {len(dataset)}.{first}")

    with whole_folder(result.out) as root:
        target = Target(root, dataset.name, dataset.labels, tuple(getattr(dataset, "splits", ())), binary)
        writer(items(), target)
    return result
