"""`forensegm export`: turn a checkpoint into an ONNX file."""

from __future__ import annotations

from jsonargparse import Namespace

from forensegm.cli.errors import UsageError
from forensegm.cli.options import Command, Group, add_trusted_name
from forensegm.cli.output import say_wrote
from forensegm.config import Config


def run(config: Config, args: Namespace) -> int:  # noqa: ARG001
    """Export and name the file."""
    if not args.checkpoint:
        raise UsageError("Expected CHECKPOINT, the folder of a checkpoint, for example runs/train/checkpoint.")
    from forensegm.inference import export

    say_wrote(export(args.checkpoint, args.out, opset=args.opset, trusted_name=args.trusted_name or None))
    return 0


def add_arguments(group: Group) -> None:
    """Add the checkpoint, the file and the opset."""
    group.add_argument("checkpoint", nargs="?", metavar="CHECKPOINT", help="folder of a checkpoint")
    group.add_argument("--out", type=str, default="model.onnx", metavar="FILE", help="ONNX file to write")
    group.add_argument("--opset", type=int, default=18, metavar="INT", help="version of the ONNX operator set")
    add_trusted_name(group)


COMMAND = Command(
    name="export",
    summary="Turn a checkpoint into an ONNX file that carries labels and thresholds",
    run=run,
    usage="CHECKPOINT",
    add_arguments=add_arguments,
    examples=("export runs/train/checkpoint --out model.onnx",),
)
