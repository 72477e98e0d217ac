"""What the header of a JPEG file says about how it was encoded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# ITU-T T.81, table K.1, row by row: the luma table that libjpeg (IJG) scales by quality.
LUMA_TABLE = np.array(
    (
        *(16, 11, 10, 16, 24, 40, 51, 61),
        *(12, 12, 14, 19, 26, 58, 60, 55),
        *(14, 13, 16, 24, 40, 57, 69, 56),
        *(14, 17, 22, 29, 51, 87, 80, 62),
        *(18, 22, 37, 56, 68, 109, 103, 77),
        *(24, 35, 55, 64, 81, 104, 113, 92),
        *(49, 64, 78, 87, 103, 121, 120, 101),
        *(72, 92, 95, 98, 112, 100, 103, 99),
    )
)
ROUNDING = 1  # encoders that scale the same table round differently
SUBSAMPLING = {(1, 1): "4:4:4", (2, 1): "4:2:2", (2, 2): "4:2:0", (1, 2): "4:4:0", (4, 1): "4:1:1", (4, 2): "4:1:0"}


def luma_tables() -> NDArray[np.int64]:
    """Return libjpeg's luma tables of quality 1..100, shape (100, 64) (`jpeg_quality_scaling` in its jcparam.c)."""
    quality = np.arange(1, 101)
    percent = np.where(quality < 50, 5000 // quality, 200 - 2 * quality)
    tables: NDArray[np.int64] = np.clip((LUMA_TABLE * percent[:, None] + 50) // 100, 1, 255)
    return tables


TABLES = luma_tables()


def jpeg_quality(picture: Any) -> int | None:
    """Quality 1..100 of the IJG luma table closest to the picture's (an opened Pillow JPEG); None if none is close."""
    table = getattr(picture, "quantization", {}).get(0)
    if table is None or len(table) != LUMA_TABLE.size:
        return None
    difference = np.abs(TABLES - np.asarray(table))
    best = int(difference.sum(axis=1).argmin())
    return best + 1 if difference[best].max() <= ROUNDING else None


def jpeg_subsampling(picture: Any) -> str | None:
    """Chroma subsampling of an opened Pillow JPEG, for example "4:2:0"; "4:0:0" = grey; None where it has no name."""
    sampling = [(component[1], component[2]) for component in getattr(picture, "layer", [])]
    if len(sampling) == 1:
        return "4:0:0"
    if len(sampling) != 3 or sampling[1] != sampling[2]:
        return None
    (luma_x, luma_y), (chroma_x, chroma_y) = sampling[:2]
    if luma_x % chroma_x or luma_y % chroma_y:
        return None
    return SUBSAMPLING.get((luma_x // chroma_x, luma_y // chroma_y))
