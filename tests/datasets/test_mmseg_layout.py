import numpy as np
import pytest

from forensegm.datasets.mmseg_layout import mmseg
from forensegm.imageio import write_image, write_mask


@pytest.fixture
def root(tmp_path):
    for number, split in enumerate(["train", "train", "val"]):
        mask = np.zeros((4, 5), np.uint8)
        mask[0, : number + 1] = 2
        mask[3, 0] = 255
        write_image(tmp_path / "img_dir" / split / f"{number}.jpg", np.full((4, 5, 3), 9, np.uint8), "jpeg:90")
        write_mask(tmp_path / "ann_dir" / split / f"{number}.png", mask)
    return tmp_path


def test_splits_are_folders(root):
    dataset = mmseg(root, labels=2)
    assert dataset.splits == ["train", "train", "val"]
    assert [int((dataset[index].mask == 2).sum()) for index in range(3)] == [1, 2, 3]
    assert dataset[0].mask[3, 0] == 255
    assert mmseg(root, labels=2, split="val").ids == ["img_dir/val/2.jpg"]
    with pytest.raises(ValueError, match=r"split of .*, got 'test'"):
        mmseg(root, labels=2, split="test")


def test_suffixes_as_mmsegmentation_has_them(root):
    (root / "ann_dir/val/2.png").rename(root / "ann_dir/val/2_label.png")
    with pytest.raises(ValueError, match="none for 1"):
        mmseg(root, labels=2, split="val")
    dataset = mmseg(root, labels=2, split="val", img_suffix=".jpg", seg_map_suffix="_label.png")
    assert dataset.ids == ["img_dir/val/2.jpg"]


def test_lists_of_images(root):
    (root / "splits").mkdir()
    (root / "splits/a.txt").write_text("train/0\n\nval/2\n")
    (root / "splits/b.txt").write_text("train/1\n")
    dataset = mmseg(root, labels=2, ann_file="splits", split="a")
    assert dataset.ids == ["img_dir/train/0.jpg", "img_dir/val/2.jpg"]
    (root / "splits/b.txt").write_text("train/0\n")
    with pytest.raises(ValueError, match=r"'train/0' in a\.txt and 'b\.txt'"):
        mmseg(root, labels=2, ann_file="splits")
    (root / "splits/b.txt").write_text("train/7\n")
    with pytest.raises(ValueError, match=r"got none for 'train/7' \(line 1\)"):
        mmseg(root, labels=2, ann_file="splits")
    with pytest.raises(FileNotFoundError, match=r"train\.txt"):
        mmseg(root, labels=2, ann_file="ann_dir")


def test_what_would_hide_authentic_pixels_is_refused(root):
    with pytest.raises(ValueError, match="reduce_zero_label=False: class 0 is authentic"):
        mmseg(root, labels=2, reduce_zero_label=True)
    with pytest.raises(ValueError, match=r"ids 0\.\.1 and 255 to ignore, got 2"):
        mmseg(root, labels=1)[0]
    with pytest.raises(FileNotFoundError):
        mmseg(root / "gone", labels=2)
    with pytest.raises(FileNotFoundError, match="Expected a folder 'x'"):
        mmseg(root, labels=2, img_dir="x")
