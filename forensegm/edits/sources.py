"""Where photographs come from: a folder, or packages that are installed anyway. Found first, decoded when needed."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from forensegm.imageio import IMAGE_SUFFIXES, read_image
from forensegm.sample import Image

Skipped = tuple[str, str]  # path, reason
# HEIC cannot be decoded here: listed all the same, so that such files are named among the skipped.
SUFFIXES = IMAGE_SUFFIXES | {".heic", ".heif"}
CACHED = 4  # decoded photographs kept in memory, per process

_PUBLIC = "public domain"
_CC0 = "CC0-1.0"
_FREE = "no known copyright restrictions"
_CC_BY = "CC-BY-2.0"
# Package, file, licence as the package states it, scene where it is not the file's own. Left out of scikit-image:
# what is drawn, computed, scanned text or cut out of another one of these.
PACKAGED: tuple[tuple[str, str, str, str], ...] = (
    ("skimage", "data/astronaut.png", _PUBLIC, ""),
    ("skimage", "data/brick.png", _CC0, ""),
    ("skimage", "data/camera.png", _CC0, ""),
    ("skimage", "data/chelsea.png", _CC0, ""),
    ("skimage", "data/clock_motion.png", _PUBLIC, ""),
    ("skimage", "data/coffee.png", _CC0, ""),
    ("skimage", "data/coins.png", _FREE, ""),
    ("skimage", "data/grass.png", _CC0, ""),
    ("skimage", "data/gravel.png", _CC0, ""),
    ("skimage", "data/hubble_deep_field.jpg", _PUBLIC, ""),
    ("skimage", "data/ihc.png", _FREE, ""),
    ("skimage", "data/moon.png", "not stated by scikit-image", ""),
    ("skimage", "data/motorcycle_left.png", "not stated by scikit-image (Middlebury 2014 stereo)", "motorcycle"),
    ("skimage", "data/motorcycle_right.png", "not stated by scikit-image (Middlebury 2014 stereo)", "motorcycle"),
    ("skimage", "data/retina.jpg", _CC0, ""),
    ("skimage", "data/rocket.jpg", _PUBLIC, ""),
    ("sklearn", "datasets/images/china.jpg", f"{_CC_BY} (danielbuechele on Flickr)", ""),
    ("sklearn", "datasets/images/flower.jpg", f"{_CC_BY} (vultilion on Flickr)", ""),
)


@dataclass(frozen=True)
class Photo:
    """A photograph that has been found, and, once probed, decoded completely at least once.

    Attributes:
        name: unique in its source: the path below the folder, or "package/file".
        path: where it is.
        scene: what splits never cut; photographs of one scene share it.
        licence: as its source states it.
        hw: height and width in pixels as displayed; (0, 0) before it is probed.
        digest: hash of its pixels; empty before it is probed.
    """

    name: str
    path: Path
    scene: str
    licence: str
    hw: tuple[int, int] = (0, 0)
    digest: str = ""


def list_folder(folder: str) -> list[Photo]:
    """List the image files of a folder and its sub-folders, sorted by path, each its own scene.

    Hidden files and files without an image suffix are no photographs and are passed over.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    root = Path(folder).expanduser()
    if not root.is_dir():
        found = "a file" if root.exists() else "nothing"
        raise FileNotFoundError(f"Expected a folder of photographs at '{folder}', got {found} there.")
    files = [path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file()]
    names = sorted((path.relative_to(root).as_posix(), path) for path in files if not path.name.startswith("."))
    return [Photo(name, path, scene=name, licence="not stated") for name, path in names]


def list_packaged(_: str = "") -> list[Photo]:
    """List the photographs that scikit-image and scikit-learn ship; the stereo pair is one scene."""
    photos = []
    for package, file, licence, scene in PACKAGED:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise FileNotFoundError(f"Expected the package '{package}' to be installed. Install it, or name a folder.")
        path = Path(spec.origin).parent / file
        photos.append(Photo(f"{package}/{path.name}", path, scene or path.stem, licence))
    return photos


SOURCES: dict[str, Callable[[str], list[Photo]]] = {"folder": list_folder, "packaged": list_packaged}


def probe(photo: Photo, *, min_side: int) -> Photo | Skipped:
    """Decode a photograph completely; return it with its size and digest, or its path with the reason to skip it."""
    try:
        image = read_image(photo.path)
    except (OSError, ValueError) as error:
        return str(photo.path), str(error)
    height, width = image.shape[:2]
    if min(height, width) < min_side:
        return str(photo.path), f"{width}x{height} pixels (width x height) are fewer than the crop of {min_side}"
    return replace(photo, hw=(height, width), digest=hashlib.sha256(image.tobytes()).hexdigest()[:16])


def sift(probed: Iterable[Photo | Skipped]) -> tuple[list[Photo], list[Skipped]]:
    """Part usable photographs from skipped ones; a second file with the same pixels is skipped, as it would leak."""
    photos: dict[tuple[str, tuple[int, int]], Photo] = {}
    skipped: list[Skipped] = []
    for found in probed:
        if not isinstance(found, Photo):
            skipped.append(found)
        elif (first := photos.setdefault((found.digest, found.hw), found)) is not found:
            skipped.append((str(found.path), f"same pixels as {first.name}"))
    return list(photos.values()), skipped


@lru_cache(maxsize=CACHED)
def _decoded(path: Path) -> Image:
    image = read_image(path)
    image.setflags(write=False)
    return image


def load(photo: Photo) -> Image:
    """Return the photograph's pixels, read-only: uint8 RGB HxWx3. A few are kept in memory; see `forget`."""
    return _decoded(photo.path)


def forget() -> None:
    """Free the decoded photographs of this process."""
    _decoded.cache_clear()
