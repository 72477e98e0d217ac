"""Devices and number formats."""

import pytest
import torch

from forensegm.models import precision
from forensegm.models.precision import DTYPES, resolve_device, resolve_precision


def test_cpu_is_always_there() -> None:
    assert resolve_device("cpu") == torch.device("cpu")


def test_auto_is_a_device_that_works() -> None:
    assert torch.zeros(1, device=resolve_device("auto")).sum() == 0


@pytest.mark.parametrize("device", ["cuda:99", "tpu9", "", "gpu"])
def test_a_device_that_is_not_there(device: str) -> None:
    with pytest.raises(ValueError, match=f"a device that is there, got '{device}': \\w+"):
        resolve_device(device)


@pytest.mark.parametrize("name", list(DTYPES))
def test_what_is_asked_for_is_kept(name: str) -> None:
    assert resolve_precision(name, torch.device("cpu")) == name


@pytest.mark.parametrize(("hardware", "expected"), [(True, "bf16"), (False, "fp32")])
def test_auto_follows_the_hardware(hardware: bool, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "computes_in_bf16", lambda _device: hardware)
    assert resolve_precision("auto", torch.device("cpu")) == expected


def test_a_torch_without_the_queries_says_no(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in precision.CPU_BF16:
        monkeypatch.delattr(torch.cpu, name)
    assert resolve_precision("auto", torch.device("cpu")) == "fp32"


def test_other_devices_compute_in_fp32() -> None:
    assert resolve_precision("auto", torch.device("meta")) == "fp32"
