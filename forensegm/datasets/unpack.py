"""Unpack a zip or tar archive: checked before anything is written, and complete or not at all."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from forensegm.datasets.members import (
    MAX_MEMBERS,
    MAX_TOTAL_BYTES,
    Member,
    check_members,
    tar_members,
    zip_members,
)
from forensegm.datasets.whole import whole_folder

Progress = Callable[[str, int, int, str], None]

CHUNK = 1 << 20
# What the standard library raises on bytes that are no whole archive, seen under fuzzing; lzma's is its own class.
BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    NotImplementedError,
    EOFError,
    ArithmeticError,
    LookupError,
    ValueError,
    OSError,
)


def extract_archive(
    path: str | Path,
    target: str | Path,
    *,
    max_members: int = MAX_MEMBERS,
    max_total_bytes: int = MAX_TOTAL_BYTES,
    progress: Progress | None = None,
) -> list[str]:
    """Unpack an archive into a new folder and return the names of its files.

    All members are checked first (see `check_members`). They are written to a temporary folder beside the target,
    which takes the target's name when everything is there. Owners and permissions are not taken over.

    Args:
        path: a .zip, or a .tar, plain or compressed with gzip, bzip2 or xz.
        target: the folder to make; an empty one may exist.
        max_members: how many there may be.
        max_total_bytes: how large they may be together, unpacked.
        progress: called as progress("unpack", done, total, name) after each file.

    Raises:
        FileNotFoundError: there is no such archive.
        ValueError: no whole archive, bad members, or a target that holds something.
    """
    path, target = Path(path).expanduser(), Path(target).expanduser()
    if not path.is_file():
        found = "a folder" if path.exists() else "nothing"
        raise FileNotFoundError(f"Expected an archive at '{path}', got {found} there. Check the path.")
    with _opened(path) as archive:
        infos, members = _contents(archive, path, max_total_bytes=max_total_bytes)
        names = check_members(
            members, where=path, max_members=max_members, max_total_bytes=max_total_bytes, max_member_bytes=1 << 62
        )
        files = [info for info, member in zip(infos, members, strict=True) if not member.is_folder]
        with whole_folder(target) as temporary:
            for done, (info, name) in enumerate(zip(files, names, strict=True), start=1):
                with _reading(f"{path}/{name}"):
                    content = archive.open(info) if isinstance(archive, zipfile.ZipFile) else archive.extractfile(info)
                size = info.file_size if isinstance(info, zipfile.ZipInfo) else info.size
                _write(temporary / name, content, size, label=f"{path}/{name}")
                if progress is not None:
                    progress("unpack", done, len(names), name)
    return names


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile | tarfile.TarFile]:
    with path.open("rb") as file:
        is_zip = path.suffix.lower() == ".zip" or zipfile.is_zipfile(file)
        file.seek(0)
        with _reading(path):
            archive = zipfile.ZipFile(file) if is_zip else tarfile.open(fileobj=file, mode="r:*")  # noqa: SIM115
        with archive:
            yield archive


@contextmanager
def _reading(name: str | Path) -> Iterator[None]:
    """Turn what the standard library raises on broken bytes into one clear error."""
    from lzma import LZMAError

    try:
        yield
    except (*BROKEN, LZMAError) as error:
        detail = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(
            f"Expected whole content in '{name}', got a truncated or broken archive ({detail}). Fetch it again."
        ) from error


def _contents(
    archive: zipfile.ZipFile | tarfile.TarFile, path: Path, *, max_total_bytes: int
) -> tuple[Sequence[Any], list[Member]]:
    """What the archive says of its members, and the same as `Member`."""
    if isinstance(archive, zipfile.ZipFile):
        return archive.infolist(), zip_members(archive.infolist())
    infos: list[tarfile.TarInfo] = []
    total = 0
    with _reading(path):
        for info in archive:
            infos.append(info)
            total += info.size
            if total > max_total_bytes:  # to look further would inflate it all
                break
        else:
            _check_end(archive)
    return infos, tar_members(infos)


def _check_end(archive: tarfile.TarFile) -> None:
    """Raise ValueError unless the tar ends where tarfile stopped: at a broken header it stops without a word."""
    file: Any = archive.fileobj
    file.seek(archive.offset)
    if file.read(tarfile.BLOCKSIZE).strip(b"\0"):
        raise ValueError(f"a broken header at byte {archive.offset}")


def _write(path: Path, content: IO[bytes] | None, size: int, *, label: str) -> None:
    """Write a member in pieces; never more than it said."""
    if content is None:
        raise ValueError(f"Expected a plain file '{label}', got something else.")
    path.parent.mkdir(parents=True, exist_ok=True)
    left = size
    # x: where the file system takes two names for one (case, accents), the second fails instead of overwriting.
    with content, path.open("xb") as out:
        while True:
            with _reading(label):
                piece = content.read(min(CHUNK, left + 1))
            left -= len(piece)
            if not piece or left < 0:
                break
            out.write(piece)
    if left:
        raise ValueError(
            f"Expected {size} bytes in '{label}', got {'more' if left < 0 else size - left}. Fetch it again."
        )
