"""Single distortions: uint8 RGB in, uint8 RGB out, real encoders, parameters with range, unit and source.

`OPS` is the one place that describes an operation. One of your own is a function and an entry:

>>> def posterize(image, bits):
...     return image & np.uint8(256 - 2 ** (8 - bits))
>>> bits = Param("bits", "int", 1, 8, unit="bits kept per channel", source="our choice")
>>> op = Op("posterize", posterize, (bits,), library="numpy")
>>> int(op(np.full((1, 1, 3), 255, np.uint8), 1, rng=np.random.default_rng(0)).max())
128
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import cv2
import numpy as np
import PIL
from PIL import features

from forensegm.imageio import encode_image, read_image
from forensegm.sample import Image, Mask, check_image, check_mask

Value = float | int | str

NOISE_STRIP = 1 << 20


@dataclass(frozen=True)
class Param:
    """One parameter of an operation.

    Attributes:
        name: as it is called in errors and records.
        kind: a number, a whole number, or one of `choices`.
        low: smallest value, for numbers.
        high: largest value, for numbers.
        unit: what the number counts, and in which direction it grows.
        source: where the meaning and the limits come from.
        choices: the allowed words, for kind "choice".
        default: value of a parameter that may be left out; None = it must be given.
    """

    name: str
    kind: Literal["float", "int", "choice"]
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    source: str = ""
    choices: tuple[str, ...] = ()
    default: Value | None = None

    @property
    def range(self) -> str:
        """The allowed values in words, for example "a whole number of 1..100"."""
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}"
        return f"{'a whole number' if self.kind == 'int' else 'a number'} of {self.low:g}..{self.high:g}"

    def check(self, value: Value, *, op: str) -> Value:
        """Return the value as float, int or str; raises ValueError naming operation, parameter and range."""
        if self.kind == "choice":
            if value in self.choices:
                return value
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and self.low <= value <= self.high:
            if self.kind == "float":
                return float(value)
            if float(value).is_integer():
                return int(value)
        raise ValueError(f"Expected {self.name} of {op} to be {self.range} ({self.unit}), got {value}.")


@dataclass(frozen=True)
class Op:
    """One distortion and everything that is known about it.

    Calling it checks the parameters and applies it: `OPS["jpeg"](image, 70, rng=rng)`. Image and result never share
    memory.

    Attributes:
        name: its name in chains.
        apply: the function, called as apply(image, *values), with rng=... as well where `random`.
        params: its parameters in order; those with a default come last.
        library: key of `LIBRARIES`: what does the work.
        random: whether it draws from the generator. Ranges such as "jpeg(50..95)" are drawn by the chain, not here.
        move_mask: for geometric operations, how a mask follows: move_mask(mask, *values) -> mask; None = it stays.
        scale: for geometric operations, the factor that sides grow by: scale(*values) -> float; None = 1.
    """

    name: str
    apply: Callable[..., Image]
    params: tuple[Param, ...] = ()
    library: str = "numpy"
    random: bool = False
    move_mask: Callable[..., Mask] | None = None
    scale: Callable[..., float] | None = None

    def __post_init__(self) -> None:
        """Take over the function's docstring, which `forensegm list distortions` shows."""
        object.__setattr__(self, "__doc__", self.apply.__doc__)

    def __call__(self, image: Image, *values: Value, rng: np.random.Generator) -> Image:
        """Check the values, distort, and check what came out."""
        checked = self.check(values)
        drawn: dict[str, Any] = {"rng": rng} if self.random else {}
        return check_image(self.apply(check_image(image), *checked, **drawn), name=f"result of {self.name}")

    @property
    def usage(self) -> str:
        """How it is written, for example "jpeg(quality[, subsampling])"."""
        names = [param.name if param.default is None else f"[{param.name}]" for param in self.params]
        inside = ", ".join(names).replace(", [", "[, ")
        return f"{self.name}({inside})" if names else self.name

    def check(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """Return all values, defaults filled in; raises ValueError for a wrong number or a value out of range."""
        required = sum(param.default is None for param in self.params)
        if not required <= len(values) <= len(self.params):
            allowed = sorted({required, len(self.params)})
            expected = "no values" if allowed == [0] else f"{' to '.join(map(str, allowed))} value(s)"
            raise ValueError(f"Expected {expected} for {self.usage}, got {len(values)}.")
        filled = [*values, *(param.default for param in self.params[len(values) :] if param.default is not None)]
        return tuple(param.check(value, op=self.name) for param, value in zip(self.params, filled, strict=True))


def identity(image: Image) -> Image:
    """Nothing: the same pixels, bit for bit."""
    return image.copy()


def jpeg(image: Image, quality: int, subsampling: str = "4:2:0") -> Image:
    """JPEG encoding and decoding at a quality of 1..100 (higher is better; 100 is not lossless)."""
    return read_image(encode_image(image, f"jpeg:{quality}:{subsampling}"), name="JPEG distortion")


def webp(image: Image, quality: int) -> Image:
    """Lossy WebP encoding and decoding at a quality of 1..100 (higher is better)."""
    if max(image.shape[:2]) > WEBP_LARGEST_SIDE:
        raise ValueError(
            f"Expected sides of at most {WEBP_LARGEST_SIDE} pixels for webp, which its format ends at, got "
            f"{image.shape[0]}x{image.shape[1]}. Put a resize before it."
        )
    return read_image(encode_image(image, f"webp:{quality}"), name="WebP distortion")


WEBP_LARGEST_SIDE = 16383  # 14 bits: RFC 9649, section 2.5


def resize(image: Image, factor: float) -> Image:
    """Resizing both sides by a factor: area averaging to shrink, cubic interpolation to enlarge.

    OpenCV's manual names INTER_AREA for decimation, "as it gives moire-free results", and INTER_CUBIC for enlarging
    (https://docs.opencv.org/5.x/da/d54/group__imgproc__transform.html, cv::resize).
    """
    height, width = scaled_hw(image.shape[:2], factor)
    if (height, width) == image.shape[:2]:
        return image.copy()
    method = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(image, (width, height), interpolation=method), dtype=np.uint8)


def scaled_hw(hw: Sequence[int], factor: float) -> tuple[int, int]:
    """Height and width times a factor, rounded, at least 1."""
    return max(1, round(hw[0] * factor)), max(1, round(hw[1] * factor))


def resize_mask(mask: Mask, hw: Sequence[int]) -> Mask:
    """Resize a mask to (height, width) by nearest-exact: each new pixel centre takes the old pixel it lies in.

    The source index is floor((i + 1/2) * old / new), in whole numbers, as torch's "nearest-exact" and
    cv2.INTER_NEAREST_EXACT define it. Values are never mixed; regions thinner than a new pixel can vanish.
    """
    rows, columns = (
        (2 * np.arange(new) + 1) * old // (2 * new) for new, old in zip(hw, check_mask(mask).shape, strict=True)
    )
    return np.ascontiguousarray(mask[rows][:, columns])


def scale_mask(mask: Mask, factor: float) -> Mask:
    """How a mask follows `resize`."""
    return resize_mask(mask, scaled_hw(mask.shape, factor))


def blur(image: Image, sigma: float) -> Image:
    """Gaussian blur with a standard deviation in pixels, the kernel cut at 3 sigma, mirrored at the border."""
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma, borderType=cv2.BORDER_REFLECT_101), dtype=np.uint8)


def noise(image: Image, sigma: float, *, rng: np.random.Generator) -> Image:
    """Gaussian noise, independent per pixel and channel, with a standard deviation in 8-bit grey levels."""
    result = np.empty(image.shape, dtype=np.uint8)
    rows = max(1, NOISE_STRIP // image.shape[1])  # strips bound the memory; the numbers drawn are the same
    for top in range(0, image.shape[0], rows):
        strip = image[top : top + rows]
        drawn = rng.standard_normal(strip.shape, dtype=np.float32)
        drawn *= np.float32(sigma)
        drawn += strip
        result[top : top + rows] = np.clip(np.rint(drawn, out=drawn), 0, 255, out=drawn)
    return result


def gamma(image: Image, exponent: float) -> Image:
    """Tone curve 255 * (value / 255) ** exponent: above 1 darkens, below 1 brightens."""
    table = np.rint(255 * (np.arange(256) / 255) ** exponent).astype(np.uint8)
    return np.asarray(cv2.LUT(image, table), dtype=np.uint8)


_QUALITY = Param(
    "quality",
    "int",
    1,
    100,
    unit="higher is better",
    source="scale of the Independent JPEG Group: https://github.com/libjpeg-turbo/libjpeg-turbo, cjpeg(1), -quality",
)
_SUBSAMPLING = Param(
    "subsampling",
    "choice",
    unit="resolution of the colour channels",
    source="ITU-T T.81 A.1.1; 4:2:0 is the default of libjpeg, Pillow and OpenCV",
    choices=("4:2:0", "4:2:2", "4:4:4"),
    default="4:2:0",
)
_WEBP_QUALITY = Param(
    "quality",
    "int",
    1,
    100,
    unit="higher is better",
    source="cwebp -q, https://developers.google.com/speed/webp/docs/cwebp; 0 is left out, as for JPEG",
)
_FACTOR = Param("factor", "float", 0.05, 8, unit="new side over old side", source="limits are our choice")
_BLUR_SIGMA = Param(
    "sigma", "float", 0.1, 50, unit="pixels", source="limits are our choice; below 0.1 no 8-bit value moves"
)
_NOISE_SIGMA = Param(
    "sigma",
    "float",
    0,
    128,
    unit="8-bit grey levels; a standard deviation, not a variance",
    source="limits are our choice",
)
_EXPONENT = Param(
    "exponent",
    "float",
    0.1,
    10,
    unit="above 1 darkens",
    source="power-law transform as in skimage.exposure.adjust_gamma; limits are our choice",
)

OPS: dict[str, Op] = {
    "identity": Op("identity", identity),
    "jpeg": Op("jpeg", jpeg, (_QUALITY, _SUBSAMPLING), library="jpeg"),
    "webp": Op("webp", webp, (_WEBP_QUALITY,), library="webp"),
    "resize": Op(
        "resize",
        resize,
        (_FACTOR,),
        library="opencv",
        move_mask=scale_mask,
        scale=float,
    ),
    "blur": Op("blur", blur, (_BLUR_SIGMA,), library="opencv"),
    "noise": Op("noise", noise, (_NOISE_SIGMA,), random=True),
    "gamma": Op("gamma", gamma, (_EXPONENT,), library="opencv"),
}

LIBRARIES: dict[str, Callable[[], str]] = {
    "numpy": lambda: f"numpy {np.__version__}",
    "opencv": lambda: f"OpenCV {cv2.__version__}",
    "jpeg": lambda: f"Pillow {PIL.__version__}, libjpeg-turbo {features.version('libjpeg_turbo')}",
    "webp": lambda: f"Pillow {PIL.__version__}, libwebp {features.version('webp')}",
}
