"""What happens to images between their maker and their judge: real encoders, resizing, blur, noise, tone.

`distort(image, "resize(0.5)|jpeg(70)")` is the whole interface; the same chains are the training augmentation and the
robustness sweep. To add an operation, put an `Op` into `OPS`.
"""

from forensegm.distortions.chains import Chain, Range, Step, distort, parse_chain
from forensegm.distortions.levels import GRIDS, Grid, grid
from forensegm.distortions.ops import OPS, Op, Param, resize_mask

__all__ = [
    "GRIDS",
    "OPS",
    "Chain",
    "Grid",
    "Op",
    "Param",
    "Range",
    "Step",
    "distort",
    "grid",
    "parse_chain",
    "resize_mask",
]
