"""Images whose pixels say their own label, so that a network of two layers is an oracle on them."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from forensegm.inference import Predictor
from forensegm.models.segmenter import Network, Segmenter
from forensegm.sample import LabelSpace, Sample

LABELS = LabelSpace(("telea", "copy_move"))
GREY_LEVELS = (40, 120, 200)


class ReadsPixels(nn.Module):
    """Logits that say which of the three grey levels a pixel has; `confused` calls every editor the first one."""

    def __init__(self, *, confused: bool = False) -> None:
        super().__init__()
        self.confused = confused

    def forward(self, images: Tensor) -> Tensor:
        grey = images.mean(dim=1, keepdim=True) * 255
        levels = torch.tensor(GREY_LEVELS, dtype=grey.dtype, device=grey.device).view(1, -1, 1, 1)
        logits = -(grey - levels).abs() / 4
        if self.confused:
            logits = torch.stack([logits[:, 0], logits[:, 1:].amax(dim=1), logits[:, 1:].amax(dim=1) - 1], dim=1)
        return logits


@dataclass
class InMemory:
    """A data set of samples in memory; `broken` ones cannot be read."""

    samples: list[Sample]
    broken: dict[int, str] = field(default_factory=dict)
    name: str = "in memory"
    labels: LabelSpace = LABELS

    @property
    def ids(self) -> list[str]:
        return [sample.id for sample in self.samples]

    @property
    def groups(self) -> list[str]:
        return [sample.group for sample in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        if index in self.broken:
            raise ValueError(self.broken[index])
        return self.samples[index]


def paint(mask: np.ndarray) -> np.ndarray:
    """The image that says `mask` (ignored pixels look authentic)."""
    levels = np.full(256, GREY_LEVELS[0], dtype=np.uint8)
    levels[: len(GREY_LEVELS)] = GREY_LEVELS
    return np.repeat(levels[mask][..., None], 3, axis=2)


def samples() -> list[Sample]:
    """Twelve images of six photographs and two sizes: a third authentic, a third of each editor."""
    made = []
    for number in range(12):
        mask = np.zeros((32, 48) if number % 4 else (40, 32), dtype=np.uint8)
        mask[8:24, 8 : 16 + number] = number % 3
        mask[0, :4] = 255
        made.append(Sample(f"{number:02d}", paint(mask), mask, group=f"photo{number // 2}"))
    return made


@pytest.fixture
def dataset() -> InMemory:
    return InMemory(samples())


@pytest.fixture
def make_predictor() -> Callable[..., Predictor]:
    """make_predictor(confused=..., **options of Predictor)."""

    def make(*, confused: bool = False, labels: LabelSpace = LABELS, **options: object) -> Predictor:
        network = Network(ReadsPixels(confused=confused), stride=1, mean=(0.0,) * 3, std=(1.0,) * 3, origin="by hand")
        model = Segmenter(network, spec={"name": "by hand", "classes": 3, "frontend": "none", "weights": "by hand"})
        return Predictor(model, labels, device="cpu", precision="fp32", **options)

    return make
