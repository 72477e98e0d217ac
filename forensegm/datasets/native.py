"""Read native data sets, as `forensegm edit` and `forensegm data convert` write them."""

from __future__ import annotations

from pathlib import Path

from forensegm.datasets.records import DATASET_FILE, Record, read_dataset_yaml, read_records
from forensegm.imageio import MaskSpec, read_image, read_mask
from forensegm.lookup import unknown_name
from forensegm.sample import IGNORE, MAX_EDITORS, Mask, Sample


class NativeDataset:
    """A folder with `dataset.yaml` and `records.jsonl`, as `forensegm edit` writes it.

    Args:
        location: its root folder.
        split: name of the split to read; None = all.

    Attributes:
        root: its root folder.
        meta: what `dataset.yaml` says.
        records: the records of the split, in order.
        name: as `dataset.yaml` says.
        labels: likewise.
        ids: of the records.
        groups: of the records.
        splits: of the records.

    Raises:
        FileNotFoundError: there is no native data set.
        ValueError: a file that does not say what it should, or an unknown split.
    """

    def __init__(self, location: str | Path, *, split: str | None = None) -> None:
        """Read the records; images and masks are read item by item."""
        self.root = Path(location).expanduser()
        self.meta = read_dataset_yaml(self.root)
        if self.meta.mask != "ids":
            raise ValueError(f"Expected mask: ids in {self.root / DATASET_FILE}, got '{self.meta.mask}'.")
        self.records = read_records(self.root)
        splits = {record.split for record in self.records}
        if split is not None:
            if split not in splits:
                raise unknown_name(split, splits or {"(none: it is empty)"}, what=f"split of {self.root}")
            self.records = [record for record in self.records if record.split == split]
        self.name = self.meta.name
        self.labels = self.meta.labels
        self.ids = [record.id for record in self.records]
        self.groups = [record.group for record in self.records]
        self.splits = [record.split for record in self.records]
        self._spec = MaskSpec("ids", num_classes=self.labels.num_classes, ignore=IGNORE)

    def __len__(self) -> int:
        """Return the number of records of the split."""
        return len(self.records)

    def __getitem__(self, index: int) -> Sample:
        """Read one item; raises ValueError or FileNotFoundError naming the file that is broken or missing."""
        record = self.records[index]
        for edit in record.edits:
            if edit.editor not in self.labels.editors:
                raise unknown_name(edit.editor, self.labels.editors, what=f"editor in the record '{record.id}'")
        image = read_image(self.root / record.image)
        hw = (image.shape[0], image.shape[1])
        if list(hw) != record.size:
            raise ValueError(
                f"Expected '{self.root / record.image}' to have the size of its record, "
                f"{record.size[0]}x{record.size[1]}, got {hw[0]}x{hw[1]}. One of them was changed."
            )
        mask = read_mask(self.root / record.mask, self._spec, image_hw=hw)
        return Sample(record.id, image, mask, record.group, self._turn_map(record, hw), record.to_dict())

    def encoded_image(self, index: int) -> bytes:
        """Return the bytes of an item's image file, as they are."""
        return (self.root / self.records[index].image).read_bytes()

    def _turn_map(self, record: Record, hw: tuple[int, int]) -> Mask | None:
        if record.turns is None:
            return None
        last = max((edit.turn for edit in record.edits), default=0)
        spec = MaskSpec("ids", num_classes=min(last, MAX_EDITORS) + 1)
        return read_mask(self.root / record.turns, spec, image_hw=hw)
