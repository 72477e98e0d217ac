"""Read files out of a zip archive in place, without unpacking it."""

from __future__ import annotations

import logging
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from forensegm.datasets.forked_file import ForkedFile
from forensegm.datasets.members import (
    MAX_MEMBER_BYTES,
    METHODS,
    check_members,
    check_tar_members,
    zip_members,
)
from forensegm.datasets.storage import FolderStorage, Storage
from forensegm.datasets.unpack import extract_archive

__all__ = ["ZipStorage", "check_tar_members", "extract_archive", "open_storage"]

logger = logging.getLogger(__name__)

LOCAL_HEADER = struct.Struct("<4s5HLLLHH")  # APPNOTE 4.3.7
LOCAL_MAGIC = b"PK\x03\x04"
FLAG_ENCRYPTED = 0x1
STORED, DEFLATED = METHODS
# What zipfile raises on bytes that are no whole archive, seen under fuzzing.
BROKEN = (
    zipfile.BadZipFile,
    NotImplementedError,
    UnicodeError,
    struct.error,
    ValueError,
    OverflowError,
    EOFError,
    IndexError,
    OSError,
)


class ZipStorage:
    """The files of a zip archive, stored or deflated, ZIP64 too.

    Its directory is read and checked once; forked workers share it. Each process opens a file of its own: one shared
    over a fork would be one reading position for all. Every member's checksum is checked. Stored members cost hardly
    more than files do; deflated ones are inflated at each reading, which is logged once.

    Args:
        path: the archive.
        max_member_bytes: a member that is larger when unpacked is refused.

    Attributes:
        root: the archive.
        compressed_members: how many members are deflated.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: no whole archive, or one with bad members (see `check_members`); it lists them.
    """

    def __init__(self, path: str | Path, *, max_member_bytes: int = MAX_MEMBER_BYTES) -> None:
        """Read and check the directory."""
        self.root = Path(path).expanduser()
        infos, size = _directory(self.root)
        members = zip_members(infos)
        names = check_members(members, where=self.root, max_member_bytes=max_member_bytes)
        files = [info for info, member in zip(infos, members, strict=True) if not member.is_folder]
        # Arrays, not one tuple per member: reading them writes no reference counts, so forked workers copy nothing.
        self._table = np.array(
            [(info.header_offset, info.file_size, info.compress_size, info.compress_type, info.CRC) for info in files],
            dtype=np.int64,
        ).reshape(-1, 5)
        self._rows = {name: row for row, name in enumerate(names)}
        _check_layout(self._table, size, self.root)
        self.compressed_members = int((self._table[:, 3] == DEFLATED).sum())
        if self.compressed_members:
            logger.warning(
                "%d of %d members of '%s' are deflated: each reading inflates them anew. Images hardly shrink; "
                "pack them stored (zip -0) to read as fast as from files.",
                self.compressed_members,
                len(names),
                self.root,
            )
        self._file = ForkedFile(self.root)

    @property
    def stored(self) -> bool:
        """Whether no member is compressed."""
        return self.compressed_members == 0

    def read(self, name: str) -> bytes:
        """Return the bytes of a member.

        Raises:
            FileNotFoundError: there is no such member, or the archive is gone.
            ValueError: the member is not whole.
        """
        row = self._rows.get(name)
        if row is None:
            raise FileNotFoundError(f"Expected '{name}' in '{self.root}', got no such member. Check the name.")
        offset, size, packed_size, method, crc = self._table[row].tolist()
        packed = self._read_at(self._data_offset(offset, name), packed_size, name)
        data = packed if method == STORED else _inflate(packed, size, self.label(name))
        if len(data) != size or zlib.crc32(data) != crc:
            raise _broken(self.label(name), "its checksum differs")
        return data

    def names(self) -> list[str]:
        """Every file of the archive, sorted."""
        return sorted(self._rows)

    def label(self, name: str) -> str:
        """The path of the archive and of the member in it."""
        return f"{self.root}/{name}"

    def close(self) -> None:
        """Close this process's file; the next reading opens it again."""
        self._file.close()

    def _read_at(self, offset: int, size: int, name: str) -> bytes:
        data = self._file.read(offset, size)
        if len(data) < size:
            raise _broken(self.label(name), "the archive ends within it")
        return data

    def _data_offset(self, offset: int, name: str) -> int:
        """Where the content begins: after the local header, whose length only it says."""
        header = LOCAL_HEADER.unpack(self._read_at(offset, LOCAL_HEADER.size, name))
        if header[0] != LOCAL_MAGIC or header[2] & FLAG_ENCRYPTED:
            raise _broken(self.label(name), "no header at its place")
        return int(offset + LOCAL_HEADER.size + header[-2] + header[-1])


def open_storage(location: str | Path) -> Storage:
    """Open a folder or a zip archive.

    Raises:
        FileNotFoundError: there is nothing at the location.
        ValueError: it is neither, or an archive with bad members.
    """
    path = Path(location).expanduser()
    if path.is_dir() or not path.exists():
        return FolderStorage(path)
    if path.suffix.lower() != ".zip" and not zipfile.is_zipfile(path):
        raise ValueError(
            f"Expected a folder or a .zip at '{path}', got another file. Unpack it (extract_archive), or name the "
            "reader of its kind."
        )
    return ZipStorage(path)


def _directory(path: Path) -> tuple[list[zipfile.ZipInfo], int]:
    """The central directory, and the size of the file."""
    if not path.is_file():
        found = "a folder" if path.exists() else "nothing"
        raise FileNotFoundError(f"Expected a zip archive at '{path}', got {found} there. Check the path.")
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist(), path.stat().st_size
    except PermissionError:
        raise
    except BROKEN as error:
        detail = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(
            f"Expected a whole zip archive in '{path}', got a truncated or broken one ({detail}). Fetch it again."
        ) from error


def _check_layout(table: np.ndarray[Any, np.dtype[np.int64]], size: int, path: Path) -> None:
    """Refuse members outside of the file, and members in one another, as in archives that unpack to endless data."""
    if not len(table):
        return
    starts = table[:, 0]
    ends = starts + LOCAL_HEADER.size + table[:, 2]
    order = np.argsort(starts, kind="stable")
    outside = (starts < 0) | (table[:, 2] < 0) | (ends > size)
    stored = table[:, 3] == STORED
    if outside.any() or (ends[order][:-1] > starts[order][1:]).any() or (table[stored, 1] != table[stored, 2]).any():
        raise ValueError(
            f"Expected every member of '{path}' to have a place of its own in the archive, got some that lie outside "
            "of it or in one another. It is truncated, broken or made to do harm; fetch it again."
        )


def _inflate(packed: bytes, size: int, label: str) -> bytes:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        data = inflater.decompress(packed, size + 1)  # never more than it said, whatever it holds
    except zlib.error as error:
        raise _broken(label, str(error)) from error
    if not inflater.eof:
        raise _broken(label, "its compressed data do not end where they should")
    return data


def _broken(label: str, detail: str) -> ValueError:
    return ValueError(f"Expected a whole member '{label}', got a truncated or broken one ({detail}). Fetch it again.")
