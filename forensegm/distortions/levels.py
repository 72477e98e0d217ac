"""Named grids of distortion levels, each with the source of its numbers, so that results can be compared."""

from __future__ import annotations

from dataclasses import dataclass

from forensegm.lookup import lookup


@dataclass(frozen=True)
class Grid:
    """Chains that are evaluated together, and where their numbers come from."""

    chains: tuple[str, ...]
    source: str


def grid(name: str) -> tuple[str, ...]:
    """Return the chains of a named grid; raises ValueError with the closest names for an unknown one.

    >>> grid("lota_blur")
    ('blur(1)', 'blur(2)', 'blur(3)')
    """
    return lookup(GRIDS, name, what="grid of distortion levels").chains


def _each(op: str, *levels: float) -> tuple[str, ...]:
    return tuple(f"{op}({level:.6g})" for level in levels)


_BENCO = "IMDLBenCo 0.1.45, training_scripts/test_robust.py"

GRIDS: dict[str, Grid] = {
    "default_jpeg": Grid(_each("jpeg", 90, 70, 50), f"every other quality of {_BENCO}, without 100"),
    "default_resize": Grid(
        _each("resize", 0.75, 0.5),
        "our choice: DiffSeg30k (arXiv 2511.19111, table 3) tests resizing, but its factors are not known to us",
    ),
    "default_blur": Grid(_each("blur", 1, 2), "the inner levels of LOTA (arXiv 2510.14230), whose sigmas are 0..3"),
    "default_noise": Grid(
        _each("noise", 4, 8), f"our choice: inside the sigmas of {_BENCO} (1.7 to 4.8), and twice that"
    ),
    "imdlbenco_jpeg": Grid(
        _each("jpeg", 50, 60, 70, 80, 90, 100),
        f"{_BENCO}: JpegCompressionWrapper. It draws q - 1 or q for each image; here it is q, 4:2:0",
    ),
    "imdlbenco_noise": Grid(
        _each("noise", *(variance**0.5 for variance in (3, 7, 11, 15, 19, 23))),
        f"{_BENCO}: GaussianNoiseWrapper([3, 7, 11, 15, 19, 23]), which are variances: sigma 1.73 to 4.80",
    ),
    "lota_jpeg": Grid(_each("jpeg", 100, 95, 90, 85), "LOTA, ICCV 2025 (arXiv 2510.14230), robustness curves"),
    "lota_blur": Grid(_each("blur", 1, 2, 3), "LOTA, ICCV 2025 (arXiv 2510.14230), sigma 0..3; 0 is the clean image"),
    "tgif_jpeg": Grid(_each("jpeg", 80), "TGIF, WIFS 2024 (arXiv 2407.11566): F1 of CAT-Net and TruFor at quality 80"),
    "gapl": Grid(("jpeg(50)", "blur(3)"), "GAPL (arXiv 2512.12982): JPEG at quality 50 and blur of sigma 3"),
    "wide": Grid(
        (
            *_each("jpeg", 100, 95, 90, 85, 75, 60, 50),
            *_each("resize", 0.75, 0.5, 0.25),
            *_each("blur", 1, 2, 3),
            "resize(0.5)|jpeg(75)",
        ),
        "our choice: LOTA's qualities and sigmas extended downwards, and one composition",
    ),
}
