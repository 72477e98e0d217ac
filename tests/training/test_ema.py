import pytest
import torch

from forensegm.models import create_model
from forensegm.training.ema import WeightAverage


@pytest.fixture
def model():
    return create_model("smp:linknet/lcnet_035", classes=3, weights="none")


def fill(model, value):
    for parameter in model.parameters():
        parameter.data.fill_(value)


def values(average):
    """Every value that occurs in the averaged parameters."""
    return torch.cat([parameter.flatten() for parameter in average.model.parameters()]).unique().tolist()


def test_average_by_hand(model):
    fill(model, 0.0)
    average = WeightAverage(model, decay=0.2)
    fill(model, 1.0)
    average.update(model)  # decay min(0.2, 2/11) = 2/11
    assert values(average) == pytest.approx([9 / 11])
    average.update(model)  # decay min(0.2, 3/12) = 0.2
    assert values(average) == pytest.approx([9 / 11 * 0.2 + 0.8])


def test_buffers_are_copied_by_sync_and_never_shared(model):
    average = WeightAverage(model, decay=0.9)
    model(torch.rand(2, 3, 64, 64))
    average.sync(model)
    for mine, other in zip(average.model.buffers(), model.buffers(), strict=True):
        assert torch.equal(mine, other)
        assert mine.data_ptr() != other.data_ptr()


def test_without_decay_it_is_a_copy(model):
    average = WeightAverage(model, decay=0.0)
    fill(model, 3.0)
    average.update(model)
    assert values(average) != [3.0]
    average.sync(model)
    assert values(average) == [3.0]
    assert not any(parameter.requires_grad for parameter in average.model.parameters())
