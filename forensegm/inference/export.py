"""Export a checkpoint to ONNX: images in, class probabilities out, label space and thresholds in the metadata."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor, nn

from forensegm.checkpoint import Checkpoint, load_checkpoint
from forensegm.imageio import write_bytes_atomic
from forensegm.lookup import require
from forensegm.version import __version__

# What the exported file may differ from torch by: both compute in float32, in another order.
TOLERANCE = 1e-3
# Batch, height, width: multiples of every stride, odd sizes, and a single pixel.
CHECKED_SHAPES = ((1, 64, 96), (2, 131, 200), (1, 1, 1))


class Probabilities(nn.Module):
    """What is exported: uint8 images to class probabilities, nothing left for the caller to pad or normalize."""

    def __init__(self, model: nn.Module) -> None:
        """Wrap a segmenter."""
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        """Return float32 BxKxHxW of uint8 Bx3xHxW."""
        return torch.softmax(self.model(images.float() / 255), dim=1)


def export(checkpoint: str | Path, path: str | Path, *, opset: int = 18, trusted_name: str | None = None) -> Path:
    """Write a checkpoint as an ONNX file and compare it with torch.

    The file takes `images` (uint8 RGB Bx3xHxW of any size) and returns `probabilities` (float32 BxKxHxW). Its metadata
    hold `labels`, `thresholds`, `model` (JSON) and `forensegm` (the version).

    Args:
        checkpoint: folder of a checkpoint.
        path: file to write, ending in .onnx.
        opset: ONNX operator set.
        trusted_name: see `forensegm.checkpoint.load_checkpoint`.

    Raises:
        ValueError: a path that does not end in .onnx, or a checkpoint that cannot be read.
        FileNotFoundError: no such checkpoint.
        RuntimeError: the extra `export` is not installed, or the network cannot be exported or computes something else.
    """
    path = Path(path)
    if path.suffix != ".onnx":
        raise ValueError(f"Expected a file ending in .onnx, got '{path}'.")
    onnx, runtime = require("onnx", extra="export"), require("onnxruntime", extra="export")
    saved = load_checkpoint(checkpoint, trusted_name=trusted_name)
    network = Probabilities(saved.model).eval()
    proto = onnx.load_from_string(to_onnx(network, opset=opset))
    onnx.helper.set_model_props(proto, metadata(saved))
    content = proto.SerializeToString()
    check_equal(network, runtime.InferenceSession(content))
    write_bytes_atomic(path, content)
    return path


def to_onnx(model: nn.Module, *, opset: int) -> bytes:
    """Trace the network with free batch, height and width.

    By tracing and not by torch.export: that one solves an equation for each padding and stride of a free size, which
    takes minutes for an EfficientNet where tracing takes a second.
    """
    example = torch.zeros(2, 3, 61, 83, dtype=torch.uint8)
    free = {0: "batch", 2: "height", 3: "width"}
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            warnings.catch_warnings(),
            # On an error torch prints the whole graph, hundreds of lines. Its own switch for that does not work:
            # `setup_onnx_logging` tests a function where it means to call it.
            mock.patch.object(torch._C, "_jit_onnx_log", create=True),
        ):
            path = Path(folder) / "model.onnx"
            warnings.simplefilter("ignore")  # of sizes taken for constant: `check_equal` compares several
            torch.onnx.export(
                model,
                (example,),
                path,
                dynamo=False,
                opset_version=opset,
                input_names=["images"],
                output_names=["probabilities"],
                dynamic_axes={"images": free, "probabilities": free},
            )
            return path.read_bytes()
    except (RuntimeError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise RuntimeError(
            f"Expected a network and an operator set (opset {opset}) that ONNX has the operators for, got: {reason}"
        ) from error


def metadata(saved: Checkpoint) -> dict[str, str]:
    """What travels with the numbers."""
    return {
        "forensegm": __version__,
        "labels": json.dumps(list(saved.labels.names)),
        "thresholds": json.dumps(saved.thresholds),
        "model": json.dumps(saved.model.spec),
    }


def check_equal(model: nn.Module, session: Any) -> None:
    """Raise RuntimeError unless the exported network gives torch's probabilities at several shapes."""
    rng = np.random.default_rng(0)
    for batch, height, width in CHECKED_SHAPES:
        images = rng.integers(0, 256, (batch, 3, height, width), dtype=np.uint8)
        with torch.inference_mode():
            expected = model(torch.from_numpy(images)).numpy()
        found = session.run(None, {"images": images})[0]
        same_shape = found.shape == expected.shape
        difference = float(np.abs(found - expected).max()) if same_shape else float("inf")
        if not difference <= TOLERANCE:
            raise RuntimeError(
                f"Expected the exported network to give torch's probabilities within {TOLERANCE}, got a difference of "
                f"{difference:.2g} at {batch}x3x{height}x{width}. The file was not written."
            )
