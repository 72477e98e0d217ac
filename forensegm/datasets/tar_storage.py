"""Read files out of plain tar archives in place."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np

from forensegm.datasets.forked_file import ForkedFile
from forensegm.datasets.members import check_tar_members

# What tarfile raises on bytes that are no whole archive.
BROKEN = (tarfile.TarError, OSError, ValueError, EOFError, UnicodeError, OverflowError)
PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")  # gzip, bzip2, xz


class TarStorage:
    """The files of an uncompressed tar.

    Its headers are read and checked once, about as fast as they can be sought; forked workers share the index, and
    each process opens a file of its own. A tar has no checksums: what its images hold is checked when they are decoded.

    Args:
        path: the archive.

    Attributes:
        root: the archive.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: no whole plain tar, or one with links, devices, unsafe names or names used twice; they are listed.
    """

    def __init__(self, path: str | Path) -> None:
        """Read and check the headers."""
        self.root = Path(path).expanduser()
        infos = _headers(self.root)
        names = check_tar_members(infos, where=self.root)
        files = [info for info in infos if info.isreg()]
        self._table = np.array([(info.offset_data, info.size) for info in files], dtype=np.int64).reshape(-1, 2)
        self._rows = {name: row for row, name in enumerate(names)}
        self._file = ForkedFile(self.root)

    def read(self, name: str) -> bytes:
        """Return the bytes of a member; raises FileNotFoundError, or ValueError where the archive is cut off."""
        row = self._rows.get(name)
        if row is None:
            raise FileNotFoundError(f"Expected '{name}' in '{self.root}', got no such member. Check the name.")
        offset, size = self._table[row].tolist()
        data = self._file.read(offset, size)
        if len(data) < size:
            raise ValueError(f"Expected {size} bytes of '{self.label(name)}', got {len(data)}. Fetch it again.")
        return data

    def names(self) -> list[str]:
        """Every file of the archive, sorted."""
        return sorted(self._rows)

    def label(self, name: str) -> str:
        """The path of the archive and of the member in it."""
        return f"{self.root}/{name}"


def _headers(path: Path) -> list[tarfile.TarInfo]:
    if not path.is_file():
        found = "a folder" if path.exists() else "nothing"
        raise FileNotFoundError(f"Expected a tar archive at '{path}', got {found} there. Check the path.")
    with path.open("rb") as file:
        if file.read(6).startswith(PACKED):
            raise ValueError(
                f"Expected a plain tar in '{path}', got a compressed one. Unpack it: images do not shrink."
            )
        file.seek(0)
        try:
            with tarfile.open(fileobj=file, mode="r:") as archive:
                infos = archive.getmembers()
                end = archive.offset
        except BROKEN as error:
            raise ValueError(
                f"Expected a whole tar in '{path}', got a truncated or broken one ({' '.join(str(error).split())})."
            ) from error
        size = path.stat().st_size
        last = max((info.offset_data + info.size for info in infos), default=0)
        file.seek(end)
        # At a broken header tarfile stops without a word; a whole tar ends in blocks of zeros.
        if last > size or file.read(tarfile.BLOCKSIZE).strip(b"\0"):
            raise ValueError(f"Expected a whole tar in '{path}', got one that is cut off or broken at byte {end}.")
    return infos
