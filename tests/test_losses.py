import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from segmentation_models_pytorch.losses import DiceLoss, FocalLoss, LovaszLoss
from torch import Tensor

from forensegm.config import LossConfig
from forensegm.losses import LOSSES, LossOptions, PixelLoss, make_loss

CLASSES = 4
LN2, LN4, LN4_3 = math.log(2), math.log(4), math.log(4 / 3)


@pytest.fixture
def batch() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(2, CLASSES, 6, 5, generator=generator)
    targets = torch.randint(0, CLASSES, (2, 6, 5), generator=generator, dtype=torch.uint8)
    targets[:, 3:, :2] = 255
    return logits, targets


def only(name: str, **options: float) -> LossConfig:
    return LossConfig(terms={name: 1.0}, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cross_entropy", (0.5 * LN4 + LN4_3) / 1.5),
        ("focal", (0.5 * LN2 / 4 + (9 / 16 * LN4 + LN4_3 / 16) / 2) / 1.5),
        ("dice", (2 / 3 + 2 / 5) / 2),
        ("lovasz", (3 / 4 + 1 / 2) / 2),
    ],
)
def test_hand_computed_values(name: str, expected: float) -> None:
    # Two classes, logits (0, ln 3) everywhere, so p = (1/4, 3/4); targets 0, 1 and two ignored pixels.
    logits = torch.tensor([0.0, math.log(3)])[None, :, None, None].expand(1, 2, 2, 2)
    targets = torch.tensor([[[0, 255], [1, 255]]], dtype=torch.uint8)
    values = make_loss(only(name, authentic_weight=0.5), 2)(logits, targets)
    assert values[name].item() == pytest.approx(expected, rel=1e-6)
    assert values["total"].item() == values[name].item()


def test_total_is_the_weighted_sum(batch: tuple[Tensor, Tensor]) -> None:
    weights = {"cross_entropy": 0.7, "focal": 2.0, "dice": 0.5, "lovasz": 0.0}
    values = make_loss(LossConfig(terms=weights), CLASSES)(*batch)
    assert list(values) == [*weights, "total"]
    expected = sum(weight * values[name].item() for name, weight in weights.items())
    assert values["total"].item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("dice", DiceLoss("multiclass", ignore_index=255)),
        ("lovasz", LovaszLoss("multiclass", ignore_index=255)),
        ("focal", FocalLoss("multiclass", ignore_index=255, class_weights=[0.5, 1, 1, 1])),
        ("cross_entropy", torch.nn.CrossEntropyLoss(torch.tensor([0.5, 1, 1, 1]), ignore_index=255)),
    ],
)
def test_equals_the_library_where_it_is_right(
    name: str, reference: torch.nn.Module, batch: tuple[Tensor, Tensor]
) -> None:
    logits, targets = batch
    ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    value = make_loss(only(name), CLASSES)(ours, targets)["total"]
    expected = reference(theirs, targets.long())
    value.backward()
    expected.backward()
    torch.testing.assert_close(value, expected)
    torch.testing.assert_close(ours.grad, theirs.grad)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_label_smoothing_is_torchs(smoothing: float, batch: tuple[Tensor, Tensor]) -> None:
    logits, targets = batch
    value = make_loss(only("cross_entropy", authentic_weight=1.0, label_smoothing=smoothing), CLASSES)(logits, targets)
    expected = torch.nn.functional.cross_entropy(logits, targets.long(), ignore_index=255, label_smoothing=smoothing)
    torch.testing.assert_close(value["total"], expected)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("under", [0.0, math.inf, math.nan])
def test_nothing_valid_is_zero_with_zero_gradient(name: str, under: float) -> None:
    logits = torch.full((2, CLASSES, 3, 3), under, requires_grad=True)
    values = make_loss(only(name), CLASSES)(logits, torch.full((2, 3, 3), 255, dtype=torch.uint8))
    values["total"].backward()
    assert [value.item() for value in values.values()] == [0.0, 0.0]
    assert logits.grad is not None
    assert torch.equal(logits.grad, torch.zeros_like(logits))


@pytest.mark.parametrize("name", LOSSES)
def test_ignored_pixels_change_nothing(name: str, batch: tuple[Tensor, Tensor]) -> None:
    logits, targets = batch
    loss = make_loss(only(name), CLASSES)
    plain, padded = logits.clone().requires_grad_(), torch.full((2, CLASSES, 8, 9), math.nan)
    padded[:, :, :6, :5] = logits
    padded.requires_grad_()
    wide = torch.full((2, 8, 9), 255, dtype=torch.uint8)
    wide[:, :6, :5] = targets
    small, large = loss(plain, targets)["total"], loss(padded, wide)["total"]
    small.backward()
    large.backward()
    assert plain.grad is not None
    assert padded.grad is not None
    torch.testing.assert_close(small, large)
    expected = torch.zeros_like(padded)
    expected[:, :, :6, :5] = plain.grad
    torch.testing.assert_close(padded.grad, expected)


@pytest.mark.parametrize("name", LOSSES)
def test_falls_when_the_truth_becomes_likelier(name: str, batch: tuple[Tensor, Tensor]) -> None:
    logits, targets = batch
    better = logits.clone()
    for class_id in range(CLASSES):
        better[:, class_id] += 2.0 * (targets == class_id)
    loss = make_loss(only(name), CLASSES)
    assert loss(better, targets)["total"] < loss(logits, targets)["total"]


@pytest.mark.parametrize("name", LOSSES)
def test_computes_in_float32_under_autocast(name: str, batch: tuple[Tensor, Tensor]) -> None:
    logits, targets = batch
    low = logits.bfloat16()
    loss = make_loss(only(name), CLASSES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = loss(low, targets)["total"]
    assert value.dtype == torch.float32
    assert value == loss(low.float(), targets)["total"]


def test_only_classes_of_weight_zero_is_zero() -> None:
    logits = torch.ones(1, 2, 2, 2, requires_grad=True)
    value = make_loss(only("cross_entropy", authentic_weight=0.0), 2)(logits, torch.zeros(1, 2, 2, dtype=torch.uint8))
    value["total"].backward()
    assert value["total"].item() == 0
    assert logits.grad is not None
    assert not logits.grad.any()


def test_case_25_ignore_fills_batch(shared: Path) -> None:
    case = shared / "cases" / "25_ignore_fills_batch"
    expected = json.loads((case / "expected.json").read_text())
    targets = {name: torch.from_numpy(array).to(torch.uint8) for name, array in np.load(case / "targets.npz").items()}
    loss = make_loss(LossConfig(terms=dict.fromkeys(LOSSES, 1.0)), 2)
    logits = torch.randn(2, 2, 8, 8, requires_grad=True)
    value = loss(logits, targets["all_ignored"])["total"]
    value.backward()
    assert value.item() == expected["all_ignored_loss"]
    assert logits.grad is not None
    assert not logits.grad.any()
    value = make_loss(only("cross_entropy"), 2)(torch.zeros(1, 2, 1, 4), targets["one_of_four"])["total"]
    assert value.item() == pytest.approx(expected["one_of_four_bce_at_logit0"])


def squared(config: LossOptions, num_classes: int) -> PixelLoss:  # noqa: ARG001
    def term(logits: Tensor, targets: Tensor) -> Tensor:
        return (1 - logits.softmax(1).gather(1, targets[:, None])).square().mean()

    return term


def test_a_loss_of_the_users_own(batch: tuple[Tensor, Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    values = make_loss(LossConfig(terms={"test_losses:squared": 2.0}), CLASSES)(*batch)
    assert values["total"].item() == pytest.approx(2 * values["test_losses:squared"].item())
    assert 0 < values["total"].item() < 2


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (LossConfig(terms={"dise": 1.0}), "Did you mean dice?"),
        (LossConfig(terms={}), "no positive weight"),
        (LossConfig(terms={"dice": 0.0}), "no positive weight"),
        (LossConfig(terms={"dice": -1.0}), "got dice: -1.0"),
        (LossConfig(terms={"dice": math.nan}), "got dice: nan"),
        (LossConfig(terms={"total": 1.0}), "a term called total"),
        (LossConfig(authentic_weight=-0.5), "authentic_weight to be 0 or more, got -0.5"),
        (LossConfig(label_smoothing=1.0), r"label_smoothing to be in \[0, 1\), got 1.0"),
    ],
)
def test_bad_options_are_named(config: LossConfig, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_loss(config, CLASSES)


@pytest.mark.parametrize(
    ("logits_shape", "targets", "message"),
    [
        ((1, 4, 2, 2), torch.full((1, 2, 2), 4, dtype=torch.uint8), "targets of 0..3 or 255, got 4"),
        ((1, 4, 2, 2), torch.zeros(1, 2, 3, dtype=torch.uint8), r"got logits \[1, 4, 2, 2\] and uint8 targets"),
        ((1, 3, 2, 2), torch.zeros(1, 2, 2, dtype=torch.uint8), "Expected logits Bx4xHxW"),
        ((4, 2, 2), torch.zeros(2, 2, dtype=torch.uint8), "Expected logits Bx4xHxW"),
        ((1, 4, 2, 2), torch.zeros(1, 2, 2, dtype=torch.int64), "int64 targets"),
    ],
)
def test_bad_input_is_named(logits_shape: tuple[int, ...], targets: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_loss(LossConfig(), CLASSES)(torch.zeros(logits_shape), targets)
