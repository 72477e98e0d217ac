"""How fast data come in: our loaders over a plain OpenCV read of the same files, and over other frameworks' loaders.

    python tools/bench_data.py [--imdlbenco PYTHON] [--mmseg PYTHON] [--images 48] [--rounds 7] [--out FILE.json]

The files: photographs of scikit-image and scikit-learn at 1024x1024, as JPEG 90 and as PNG, with PNG masks, 0 and 255.
The floor reads the same image and mask with cv2.imread and stacks batches of 8, in a `DataLoader` of the same number of
workers. Training is a crop of 512 with flips; evaluation whole images, padded. Within a round every loader takes its
turn, so that other load on the machine falls on all alike, and ratios are medians over rounds of ratios within a round.
A peer is measured by naming the Python of its environment (IMDLBenCo 0.1.45 with numpy<2 and requests; mmsegmentation
1.2.2 with mmcv-lite 2.1.0); it decodes and makes float tensors as it does in its own training. Also here: the same
files out of a stored and a deflated zip over the folder, and the memory of a worker over an epoch.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from skimage import data as photographs
from skimage.transform import resize
from torch.utils.data import DataLoader

from forensegm.config import AugmentConfig
from forensegm.datasets.archive import ZipStorage
from forensegm.datasets.entries import EntryDataset
from forensegm.datasets.folder import folder
from forensegm.datasets.sampler import EpochSampler
from forensegm.datasets.torch_dataset import TorchDataset, make_loader
from forensegm.imageio import write_image, write_json, write_mask
from forensegm.transforms import TrainTransform

ROOT = Path(__file__).resolve().parents[1]
SIDE, CROP, BATCH = 1024, 512, 8
SUFFIX = {"jpeg": ".jpg", "png": ".png"}


def write_files(root: Path, *, count: int) -> None:
    """Write images/jpeg, images/png, masks (PNG, 0 and 255), and IMDLBenCo's JSON of each codec."""
    rng = np.random.default_rng(0)
    scenes = [photographs.astronaut(), photographs.chelsea(), photographs.coffee(), photographs.rocket()]
    pairs: dict[str, list[list[str]]] = {codec: [] for codec in SUFFIX}
    for number in range(count):
        scene = scenes[number % len(scenes)]
        pixels = resize(scene, (SIDE, SIDE), order=3, anti_aliasing=True) * 255 + rng.normal(0, 2, (SIDE, SIDE, 3))
        image = np.clip(pixels, 0, 255).astype(np.uint8)
        mask = np.zeros((SIDE, SIDE), dtype=np.uint8)
        cv2.ellipse(mask, (int(rng.integers(200, 800)), 500), (220, 140), 30.0, 0, 360, 255, -1)
        write_mask(root / "masks" / f"{number:03d}.png", mask)
        for codec, suffix in SUFFIX.items():
            path = root / "images" / codec / f"{number:03d}{suffix}"
            write_image(path, image, "jpeg:90" if codec == "jpeg" else "png")
            pairs[codec].append([str(path), str(root / "masks" / f"{number:03d}.png")])
    for codec, rows in pairs.items():
        write_json(root / f"{codec}.json", rows)


class OpenCV(torch.utils.data.Dataset):
    """The floor: what OpenCV reads from the same two files, as arrays."""

    def __init__(self, root: Path, codec: str) -> None:
        """List the files."""
        self.images = sorted((root / "images" / codec).iterdir())
        self.masks = [root / "masks" / f"{path.stem}.png" for path in self.images]

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Read one pair."""
        image = cv2.imread(str(self.images[index]), cv2.IMREAD_COLOR)
        return image, cv2.imread(str(self.masks[index]), cv2.IMREAD_GRAYSCALE)


def stacked(items: list[tuple[np.ndarray, np.ndarray]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Stack a batch, as any loader has to."""
    return torch.from_numpy(np.stack([a for a, _ in items])), torch.from_numpy(np.stack([b for _, b in items]))


def one_thread(worker: int) -> None:  # noqa: ARG001
    """What our workers do as well."""
    cv2.setNumThreads(0)
    torch.set_num_threads(1)


def read_floor(root: Path, codec: str, workers: int) -> float:
    """Images per second of the floor."""
    files = OpenCV(root, codec)
    loader = DataLoader(
        files, batch_size=BATCH, num_workers=workers, collate_fn=stacked, shuffle=True, worker_init_fn=one_thread
    )
    return timed(iter_sizes(loader))


def iter_sizes(loader: Any) -> Iterator[int]:
    """The number of images of each batch."""
    for batch in loader:
        yield len(batch["ids"]) if isinstance(batch, dict) else len(batch[0])


def timed(sizes: Iterator[int]) -> float:
    """Images per second of one pass."""
    started = time.perf_counter()
    images = sum(sizes)
    return images / (time.perf_counter() - started)


def read_ours(dataset: EntryDataset, mode: str, workers: int) -> float:
    """Images per second of our loader."""
    transform = TrainTransform(AugmentConfig(distort=0.0), CROP, 0.5) if mode == "train" else None
    items = TorchDataset(dataset, transform=transform, on_error="raise")
    order = EpochSampler(len(items), seed=0, shuffle=True)
    return timed(iter_sizes(make_loader(items, batch_size=BATCH, sampler=order, workers=workers)))


def open_files(root: Path, codec: str) -> EntryDataset:
    """The pairs of one codec as a `folder` data set."""
    return folder(root, images=f"images/{codec}", masks="masks")


def zipped(root: Path, codec: str, compression: int) -> EntryDataset:
    """The same data set with its files in a zip."""
    files = open_files(root, codec)
    path = root / f"{codec}-{compression}.zip"
    if not path.exists():
        with zipfile.ZipFile(path, "w", compression) as archive:
            for entry in files.entries:
                for name in (entry.image, str(entry.mask)):
                    archive.write(root / name, name)
    return EntryDataset("zip", files.entries, labels=files.labels, spec=files.spec, storage=ZipStorage(path))


class Peer:
    """Another framework in its own environment, asked line by line."""

    def __init__(self, name: str, python: Path, root: Path) -> None:
        """Start its process."""
        script = ROOT / "tools" / "peer_loaders.py"
        self.process = subprocess.Popen(
            [str(python), str(script), name, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __call__(self, mode: str, codec: str, workers: int) -> float:
        """Images per second of one pass."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"mode": mode, "codec": codec, "workers": workers}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"images": 0, "seconds": 0}')
        if not answer["images"]:
            raise RuntimeError(
                "Expected the peer to answer, got nothing. Run tools/peer_loaders.py by hand to see why."
            )
        return answer["images"] / answer["seconds"]


Loaders = dict[str, Callable[[], float]]


def in_turn(loaders: Loaders, *, rounds: int) -> dict[str, list[float]]:
    """Images per second of every loader in every round; the first round warms up and is left out."""
    rates: dict[str, list[float]] = {name: [] for name in loaders}
    for number in range(rounds + 1):
        order = list(loaders)[:: 1 if number % 2 else -1]
        for name in order:
            rate = loaders[name]()
            if number:
                rates[name].append(rate)
    return rates


def ratio(rates: dict[str, list[float]], above: str, below: str) -> float:
    """Median over rounds of one rate over another."""
    return round(statistics.median(a / b for a, b in zip(rates[above], rates[below], strict=True)), 3)


def compare(root: Path, peers: dict[str, Peer], *, rounds: int) -> list[dict[str, Any]]:
    """Every codec, mode and number of workers: rates, and the ratios that count."""
    rows = []
    for codec in SUFFIX:
        dataset = open_files(root, codec)
        for mode in ("eval", "train"):
            for workers in sorted({1, os.cpu_count() or 1}):
                loaders: Loaders = {
                    "opencv": lambda codec=codec, workers=workers: read_floor(root, codec, workers),
                    "forensegm": lambda dataset=dataset, mode=mode, workers=workers: read_ours(dataset, mode, workers),
                }
                for name, peer in peers.items():
                    loaders[name] = lambda peer=peer, asked=(mode, codec, workers): peer(*asked)
                rates = in_turn(loaders, rounds=rounds)
                row = {
                    "codec": codec,
                    "mode": mode,
                    "workers": workers,
                    "images_per_second": {name: round(statistics.median(each), 1) for name, each in rates.items()},
                    "time_over_opencv": ratio(rates, "opencv", "forensegm"),
                    **{f"times_{name}": ratio(rates, "forensegm", name) for name in peers},
                }
                print(json.dumps(row), flush=True)
                rows.append(row)
    return rows


def compare_zips(root: Path, *, rounds: int) -> dict[str, float]:
    """Time of reading from a zip over the time of reading the same files from the folder, one worker."""
    sets = {
        "folder": open_files(root, "jpeg"),
        "stored": zipped(root, "jpeg", zipfile.ZIP_STORED),
        "deflated": zipped(root, "jpeg", zipfile.ZIP_DEFLATED),
    }
    loaders = {name: (lambda dataset=dataset: read_ours(dataset, "eval", 1)) for name, dataset in sets.items()}
    rates = in_turn(loaders, rounds=rounds)
    return {name: ratio(rates, "folder", name) for name in ("stored", "deflated")}


class Watched(TorchDataset):
    """A loader's data set that tells the resident memory of the worker in place of the id."""

    def __getitem__(self, index: Any) -> Any:
        """Read an item."""
        item = super().__getitem__(index)
        item["id"] = str(resident_mib())
        return item


def resident_mib() -> float:
    """Resident memory of this process in MiB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def worker_memory(root: Path, *, passes: int = 8) -> dict[str, float]:
    """Memory of one worker early and late in a long epoch, MiB."""
    files = open_files(root, "jpeg")
    long = EntryDataset(
        "long",
        [
            type(entry)(f"{number}/{entry.id}", entry.image, entry.mask)
            for number in range(passes)
            for entry in files.entries
        ],
        labels=files.labels,
        spec=files.spec,
        storage=files.storage,
    )
    loader = make_loader(Watched(long), batch_size=BATCH, workers=1)
    seen = [float(value) for batch in loader for value in batch["ids"]]
    quarter = len(seen) // 4
    return {
        "first_quarter": round(statistics.median(seen[quarter // 2 : quarter]), 1),
        "last_quarter": round(statistics.median(seen[-quarter:]), 1),
    }


def machine() -> dict[str, object]:
    """What the numbers were measured on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.machine(),
        "cpus": os.cpu_count(),
        "torch": torch.__version__,
        "opencv": cv2.__version__,
        "python": platform.python_version(),
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--imdlbenco", type=Path, help="Python of an environment with IMDLBenCo")
    parser.add_argument("--mmseg", type=Path, help="Python of an environment with mmsegmentation")
    parser.add_argument("--images", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results" / "data.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        write_files(root, count=options.images)
        named = {"imdlbenco": options.imdlbenco, "mmseg": options.mmseg}
        peers = {name: Peer(name, python, root) for name, python in named.items() if python}
        result = {
            "loaders": compare(root, peers, rounds=options.rounds),
            "zip_time_over_folder": compare_zips(root, rounds=options.rounds),
            "worker_memory_mib": worker_memory(root),
            "images": options.images,
            "rounds": options.rounds,
            "machine": machine(),
        }
        for peer in peers.values():
            peer.process.kill()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_json(options.out, result)
    print(f"zip over folder {result['zip_time_over_folder']}, worker memory {result['worker_memory_mib']} MiB")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
