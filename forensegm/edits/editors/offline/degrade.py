"""Local degradations: the content stays, its pixel statistics do not."""

from __future__ import annotations

import cv2
import numpy as np

from forensegm.edits.editors.base import EditorOutput, EditTask, Region
from forensegm.edits.editors.offline.blend import as_grey, feather, is_grey, mix
from forensegm.imageio import encode_image, read_image

INTERPOLATIONS = {"linear": cv2.INTER_LINEAR, "cubic": cv2.INTER_CUBIC, "lanczos": cv2.INTER_LANCZOS4}
MARGIN = 16  # pixels around the region that the filters may look at


def resample(task: EditTask) -> EditorOutput:
    """Shrink and enlarge by a drawn factor, then denoise: retouching that smooths, as skin and sky filters do."""
    factor = float(task.rng.uniform(0.4, 0.85))
    method = str(task.rng.choice(list(INTERPOLATIONS)))
    denoiser = str(task.rng.choice(["non_local_means", "bilateral"]))
    strength = float(task.rng.uniform(2.0, 6.0))
    width = float(task.rng.uniform(1.0, 3.0))
    box = _bounds(task.region, MARGIN)
    tile = np.ascontiguousarray(task.image[box])
    height, width_px = tile.shape[:2]
    small = (max(1, round(width_px * factor)), max(1, round(height * factor)))
    smooth = cv2.resize(tile, small, interpolation=cv2.INTER_AREA)
    smooth = cv2.resize(smooth, (width_px, height), interpolation=INTERPOLATIONS[method])
    if denoiser == "bilateral":
        smooth = cv2.bilateralFilter(smooth, 7, 4 * strength, 3)
    else:  # 5 and 11 instead of 7 and 21: a fifth of the time
        smooth = cv2.fastNlMeansDenoisingColored(smooth, None, strength, strength, 5, 11)
    edited = task.image.copy()
    edited[box] = (
        as_grey(np.asarray(smooth, np.uint8)) if is_grey(tile) else smooth
    )  # denoising in Lab leaves a trace of colour
    parameters = {
        "factor": round(factor, 4),
        "interpolation": method,
        "denoiser": denoiser,
        "strength": round(strength, 3),
        "feather": round(width, 2),
    }
    return EditorOutput(mix(task.image, edited, feather(task.region, width)), parameters)


def recompress(task: EditTask) -> EditorOutput:
    """JPEG ghost: the region went through JPEG at a lower quality, on a drawn grid, and was pasted back."""
    quality = int(task.rng.integers(35, 81))
    shift_y, shift_x = (int(value) for value in task.rng.integers(0, 8, 2))
    shifted = np.pad(task.image, ((shift_y, 0), (shift_x, 0), (0, 0)), mode="edge")
    edited = read_image(encode_image(shifted, f"jpeg:{quality}"))[shift_y:, shift_x:]
    return EditorOutput(np.ascontiguousarray(edited), {"quality": quality, "grid_shift": [shift_y, shift_x]})


def _bounds(region: Region, margin: int) -> tuple[slice, slice]:
    """Rows and columns that hold the region and `margin` pixels around it, cut at the image's border."""
    rows, columns = np.flatnonzero(region.any(axis=1)), np.flatnonzero(region.any(axis=0))
    return (
        slice(max(0, int(rows[0]) - margin), int(rows[-1]) + margin + 1),
        slice(max(0, int(columns[0]) - margin), int(columns[-1]) + margin + 1),
    )
