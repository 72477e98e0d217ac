import json
import os
import signal
import time

import cv2
import numpy as np
import pytest
import torch

from forensegm.datasets import folder
from forensegm.datasets.torch_dataset import EpochSampler, ItemError, TorchDataset, item_generator, make_loader
from forensegm.sample import LabelSpace, Sample


class Drawn:
    """Identical images in memory; a chosen item can be made to fail in a chosen way."""

    def __init__(self, count=8, side=64, fail=()):
        self.name, self.labels, self.fail = "drawn", LabelSpace(("telea",)), dict(fail)
        self.ids = self.groups = [f"item{number}" for number in range(count)]
        self.image = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        if index in self.fail:
            self.fail[index]()
        return Sample(self.ids[index], self.image, np.zeros(self.image.shape[:2], np.uint8))


def unreadable():
    raise ValueError("Expected a whole image in\n 'images/x.png', got a broken one.")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def random_crop(sample, rng):
    top, left = (int(value) for value in rng.integers(0, 32, 2))
    return Sample(
        sample.id, sample.image[top : top + 32, left : left + 32], sample.mask[top : top + 32, left : left + 32]
    )


def epochs(dataset, workers, count=2, seed=5):
    """Images by (epoch, item), as the loader yields them."""
    sampler = EpochSampler(len(dataset), seed=seed)
    loader = make_loader(
        TorchDataset(dataset, transform=random_crop, seed=seed), batch_size=3, sampler=sampler, workers=workers
    )
    found = {}
    for epoch in range(count):
        sampler.set_epoch(epoch)
        for batch in loader:
            for index, image in zip(batch["indices"], batch["images"], strict=True):
                found[epoch, index] = image.numpy().tobytes()
    return found


def check_case_38(dataset):
    one, two = epochs(dataset, workers=0), epochs(dataset, workers=2)
    assert one == two
    assert list(one) == list(two)
    first = [one[0, index] for index in range(8)]
    second = [one[1, index] for index in range(8)]
    assert len(set(first)) > 4
    assert first != second
    assert epochs(dataset, workers=0, seed=6) != one


def test_case_38_worker_seeds(shared):
    case = shared / "cases" / "38_worker_seeds"
    assert json.loads((case / "expected.json").read_text())["workers_0_vs_2_same"]
    check_case_38(folder(case, images=".", masks=".", mask_suffix="_mask"))


def test_worker_seeds():
    check_case_38(Drawn())


def check_case_39(dataset, seconds):
    cv2.GaussianBlur(np.zeros((3000, 3000, 3), np.uint8), (31, 31), 5)
    start = time.monotonic()
    loader = make_loader(TorchDataset(dataset, transform=heavy), batch_size=2, workers=2, timeout=seconds)
    assert sum(len(batch["ids"]) for batch in loader) == 4
    assert time.monotonic() - start < seconds


def heavy(sample, rng):  # noqa: ARG001
    assert cv2.getNumThreads() == 1
    assert torch.get_num_threads() == 1
    cv2.GaussianBlur(sample.image, (31, 31), 5)
    return sample


def test_case_39_large_images_after_cv2_was_used(shared):
    case = shared / "cases" / "39_cv2_fork_stall"
    seconds = json.loads((case / "expected.json").read_text())["max_seconds"]
    check_case_39(folder(case, images=".", masks=".", mask_suffix="_mask"), seconds)


def test_large_images_after_cv2_was_used():
    check_case_39(Drawn(4, side=1600), 60)


def test_items():
    dataset = TorchDataset(Drawn(2, side=4))
    item = dataset[1]
    assert item["image"].shape == (3, 4, 4)
    assert item["image"].dtype == item["mask"].dtype == torch.uint8
    assert torch.equal(item["image"], torch.from_numpy(dataset.dataset.image).permute(2, 0, 1))
    assert (item["id"], item["index"], len(dataset)) == ("item1", 1, 2)
    assert torch.equal(item["image"], dataset[0, 1]["image"])


def test_flipped_and_read_only_arrays_are_taken():
    def flip(sample, rng):  # noqa: ARG001
        image = sample.image[:, ::-1]
        image.flags.writeable = False
        return Sample(sample.id, image, sample.mask[::-1])

    dataset = Drawn(1, side=4)
    item = TorchDataset(dataset, transform=flip)[0]
    assert np.array_equal(item["image"].permute(1, 2, 0).numpy(), dataset.image[:, ::-1])


def test_generators_are_distinct_and_repeatable():
    draws = {(s, e, i): item_generator(s, e, i).integers(1 << 60) for s in range(3) for e in range(3) for i in range(3)}
    assert len(set(draws.values())) == 27
    assert item_generator(1, 2, 0).integers(1 << 60) == draws[1, 2, 0]


def test_the_global_generators_are_left_alone():
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    assert epochs(Drawn(), workers=2, count=1)
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("workers", [0, 2])
def test_broken_items_are_skipped_and_named(workers):
    dataset = Drawn(4, fail={1: unreadable, 2: unreadable, 3: unreadable})
    batches = list(make_loader(TorchDataset(dataset), batch_size=2, workers=workers))
    assert [batch["ids"] for batch in batches] == [["item0"], []]
    assert batches[1]["images"] is None
    message = "Expected a whole image in 'images/x.png', got a broken one."
    assert [error for batch in batches for error in batch["errors"]] == [(f"item{n}", message) for n in (1, 2, 3)]


@pytest.mark.parametrize("workers", [0, 2])
def test_broken_items_can_raise_in_one_line(workers):
    dataset = TorchDataset(Drawn(4, fail={2: unreadable}), on_error="raise")
    with pytest.raises(ItemError) as error:
        list(make_loader(dataset, batch_size=2, workers=workers))
    assert str(error.value) == "Expected a whole image in 'images/x.png', got a broken one."


@pytest.mark.parametrize("workers", [0, 1])
def test_mistakes_of_a_transform_are_never_skipped(workers):
    def wrong(sample, rng):  # noqa: ARG001
        raise ValueError("wrong transform")

    with pytest.raises(ValueError, match="wrong transform"):
        list(make_loader(TorchDataset(Drawn(2), transform=wrong), batch_size=2, workers=workers))


def test_a_dead_worker_is_named_with_its_item():
    with pytest.raises(RuntimeError, match=r"got none: .*worker.* at 'item2'.*fewer") as error:
        list(make_loader(TorchDataset(Drawn(3, side=8, fail={2: die})), batch_size=1, workers=1))
    assert "\n" not in str(error.value)


def test_a_stalled_worker_is_named_with_its_item():
    dataset = Drawn(2, side=8, fail={0: lambda: time.sleep(5)})
    with pytest.raises(RuntimeError, match=r"within 3 s, got none: .*timed out.*worker 0 at 'item0'.*raise timeout"):
        list(make_loader(TorchDataset(dataset), batch_size=1, workers=1, timeout=3))


def test_other_errors_pass_through():
    def bug():
        raise RuntimeError("a bug")

    for workers in (0, 1):
        with pytest.raises(RuntimeError, match="a bug"):
            list(make_loader(TorchDataset(Drawn(1, fail={0: bug})), batch_size=1, workers=workers))


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"workers": -1}, {"timeout": 0}])
def test_impossible_numbers(options):
    with pytest.raises(ValueError, match="batch_size of 1 or more"):
        make_loader(TorchDataset(Drawn(1)), **{"batch_size": 1, **options})
    with pytest.raises(ValueError, match="skip or raise"):
        TorchDataset(Drawn(1), on_error="ignore")


def test_drop_last():
    assert len(list(make_loader(TorchDataset(Drawn(5)), batch_size=2, drop_last=True))) == 2
