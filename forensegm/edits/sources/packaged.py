"""The photographs that scikit-image and scikit-learn ship: enough for a demo without any download."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from forensegm.edits.sources.photo import Photo

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
