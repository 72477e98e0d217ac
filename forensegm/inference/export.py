"""Export a checkpoint to ONNX: images in, class probabilities out, label space and thresholds in the metadata."""

from __future__ import annotations

import json
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from forensegm.checkpoint import Checkpoint, load_checkpoint
from forensegm.imageio import write_bytes_atomic
from forensegm.lookup import require
from forensegm.version import __version__

logger = logging.getLogger(__name__)

# What the exported file may differ from torch by: both compute in float32, in another order.
TOLERANCE = 1e-3
CHECKED_SIZES_HW = ((64, 96), (128, 64))


class Probabilities(nn.Module):
    """What is exported: uint8 images to class probabilities, nothing left for the caller to normalize."""

    def __init__(self, model: nn.Module) -> None:
        """Wrap a segmenter."""
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        """Return float32 BxKxHxW of uint8 Bx3xHxW."""
        return torch.softmax(self.model(images.float() / 255), dim=1)


def export(checkpoint: str | Path, path: str | Path, *, opset: int = 18, trusted_name: str | None = None) -> Path:
    """Write a checkpoint as an ONNX file and compare it with torch.

    The file takes `images` (uint8 Bx3xHxW, H and W multiples of the network's stride, which `stride` in its metadata
    gives; pad on the right and at the bottom) and returns `probabilities` (float32 BxKxHxW).

    Args:
        checkpoint: folder of a checkpoint.
        path: file to write, ending in .onnx.
        opset: ONNX operator set.
        trusted_name: see `forensegm.checkpoint.load_checkpoint`.

    Raises:
        ValueError: a path that does not end in .onnx, or a checkpoint that cannot be read.
        RuntimeError: the extra `export` is not installed, or the exported network computes something else.
    """
    path = Path(path)
    if path.suffix != ".onnx":
        raise ValueError(f"Expected a file ending in .onnx, got '{path}'.")
    saved = load_checkpoint(checkpoint, trusted_name=trusted_name)
    runtime = require("onnxruntime", extra="export")
    program = to_program(Probabilities(saved.model).eval(), opset=opset)
    proto = program.model_proto
    for key, value in metadata(saved).items():
        proto.metadata_props.add(key=key, value=value)
    content = proto.SerializeToString()
    check_equal(Probabilities(saved.model).eval(), runtime.InferenceSession(content))
    write_bytes_atomic(path, content)
    return path


def to_program(model: nn.Module, *, opset: int) -> Any:
    """Trace the network with free batch, height and width."""
    require("onnxscript", extra="export")
    example = torch.zeros(2, 3, 64, 96, dtype=torch.uint8)
    free = {0: torch.export.Dim("batch"), 2: 32 * torch.export.Dim("rows"), 3: 32 * torch.export.Dim("columns")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns of its own insides, at every call
        return torch.onnx.export(
            model,
            (example,),
            dynamo=True,
            verbose=False,
            opset_version=opset,
            input_names=["images"],
            output_names=["probabilities"],
            dynamic_shapes={"images": free},
        )


def metadata(saved: Checkpoint) -> dict[str, str]:
    """What travels with the numbers."""
    return {
        "forensegm": __version__,
        "labels": json.dumps(list(saved.labels.names)),
        "thresholds": json.dumps(saved.thresholds),
        "model": json.dumps(saved.model.spec),
        "stride": str(saved.model.stride),
    }


def check_equal(model: nn.Module, session: Any) -> None:
    """Raise RuntimeError unless the exported network gives torch's probabilities at several sizes."""
    rng = np.random.default_rng(0)
    for height, width in CHECKED_SIZES_HW:
        images = rng.integers(0, 256, (1, 3, height, width), dtype=np.uint8)
        with torch.inference_mode():
            expected = model(torch.from_numpy(images)).numpy()
        found = session.run(None, {"images": images})[0]
        difference = float(np.abs(found - expected).max())
        if difference > TOLERANCE:
            raise RuntimeError(
                f"Expected the exported network to give torch's probabilities within {TOLERANCE}, got a difference of "
                f"{difference:.2g} at {height}x{width}. The file was not written."
            )
