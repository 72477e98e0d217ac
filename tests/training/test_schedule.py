import math
from itertools import pairwise

import pytest
import torch

from forensegm.config import OptimConfig
from forensegm.models import create_model
from forensegm.training.schedule import BufferSnapshot, lr_factor, make_optimizer, parameter_groups, set_lr


def test_lr_factor_by_hand():
    factors = [lr_factor(step, total=10, warmup=2) for step in range(10)]
    assert factors[:3] == [0.5, 1.0, 1.0]
    assert factors[6] == pytest.approx(0.5 * (1 + math.cos(math.pi * 4 / 8)))
    assert factors[9] == pytest.approx(0.5 * (1 + math.cos(math.pi * 7 / 8)))


@pytest.mark.parametrize(("total", "warmup"), [(1, 0), (1, 1), (7, 0), (7, 7), (40, 5)])
def test_lr_factor_rises_then_falls_within_bounds(total, warmup):
    factors = [lr_factor(step, total=total, warmup=warmup) for step in range(total)]
    assert all(0.0 < factor <= 1.0 for factor in factors)
    assert all(low < high for low, high in pairwise(factors[:warmup]))
    assert all(high > low for high, low in pairwise(factors[max(warmup, 1) :]))


def test_parameter_groups_hold_every_parameter_once():
    model = create_model("smp:linknet/lcnet_035", classes=3, weights="none")
    config = OptimConfig(lr=0.1, encoder_lr_factor=0.5, weight_decay=0.2)
    groups = parameter_groups(model, config)
    members = [parameter for group in groups for parameter in group["params"]]
    assert len(members) == len(set(map(id, members))) == len(list(model.parameters()))
    for group in groups:
        vectors = {parameter.ndim <= 1 for parameter in group["params"]}
        assert vectors == {group["weight_decay"] == 0.0}
    encoder = {id(parameter) for parameter in model.encoder_parameters()}
    rates = {group["lr"]: {id(parameter) in encoder for parameter in group["params"]} for group in groups}
    assert rates == {0.05: {True}, 0.1: {False}}


def test_frozen_parameters_are_left_out_and_rates_follow_the_factor():
    model = create_model("smp:linknet/lcnet_035", classes=3, weights="none")
    for parameter in model.encoder_parameters():
        parameter.requires_grad_(False)
    optimizer = make_optimizer(model, OptimConfig(lr=0.1), device=torch.device("cpu"))
    set_lr(optimizer, 0.25)
    assert [group["lr"] for group in optimizer.param_groups] == [0.025, 0.025]


def test_snapshot_undoes_a_poisoned_batch():
    norm = torch.nn.BatchNorm2d(2)
    norm(torch.randn(4, 2, 3, 3))
    snapshot = BufferSnapshot(norm)
    norm(torch.randn(4, 2, 3, 3))
    snapshot.take()
    before = {name: value.clone() for name, value in norm.named_buffers()}
    norm(torch.full((4, 2, 3, 3), torch.inf))
    assert not norm.running_mean.isfinite().all()
    snapshot.restore()
    assert all(torch.equal(value, before[name]) for name, value in norm.named_buffers())
