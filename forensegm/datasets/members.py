"""Check the members of an archive before any of them is read or written: names, kinds, clashes, count and size."""

from __future__ import annotations

import re
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

SHOWN = 10  # members in an error that lists them
MAX_MEMBERS = 2_000_000
MAX_TOTAL_BYTES = 1 << 38  # 256 GiB, ten times DiffSeg30k
MAX_MEMBER_BYTES = 1 << 30  # more than 256 megapixels of RGB take without any compression

DRIVE = re.compile(r"[A-Za-z]:")
ENCRYPTED = 0x1 | 0x40 | 0x2000  # general purpose flags: encrypted, strongly, central directory too (APPNOTE 4.4.4)
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Member(NamedTuple):
    """One member of an archive.

    Attributes:
        name: as the archive spells it.
        size: unpacked, in bytes.
        is_folder: whether it is a folder, without content.
        problem: what is wrong with its kind (link, device, encrypted, ...), or "".
    """

    name: str
    size: int
    is_folder: bool
    problem: str = ""


def zip_members(infos: Iterable[zipfile.ZipInfo]) -> list[Member]:
    """Return the members of a zip's central directory, with what is wrong with their kinds."""
    # orig_filename: zipfile cuts the other one at a NUL.
    return [Member(info.orig_filename, info.file_size, info.is_dir(), _zip_problem(info)) for info in infos]


def tar_members(infos: Iterable[tarfile.TarInfo]) -> list[Member]:
    """Return the members of a tar, with what is wrong with their kinds."""
    return [
        Member(info.name, info.size, info.isdir(), "" if info.isreg() or info.isdir() else _tar_kind(info))
        for info in infos
    ]


def check_tar_members(infos: Iterable[tarfile.TarInfo], *, where: str | Path) -> list[str]:
    """Return the normalized names of a tar's files; raises ValueError as `check_members` does."""
    return check_members(tar_members(infos), where=where)


def check_members(
    members: Sequence[Member],
    *,
    where: str | Path,
    max_members: int = MAX_MEMBERS,
    max_total_bytes: int = MAX_TOTAL_BYTES,
    max_member_bytes: int = MAX_MEMBER_BYTES,
) -> list[str]:
    """Return the names of the members that are files, normalized ("./a//b" is "a/b"), in the members' order.

    Args:
        members: all of them, folders too.
        where: the archive, for errors.
        max_members: how many there may be.
        max_total_bytes: how large all may be together, unpacked.
        max_member_bytes: how large one may be, unpacked.

    Raises:
        ValueError: a name that is empty or leads outside (absolute, "..", a drive, a backslash, NUL), a link or
            device, an encrypted or oddly compressed member, a name used twice or used both as file and folder, too
            many, or too large. All bad members are listed together.
    """
    problems = _limits(members, max_members, max_total_bytes)
    for member in members:
        problem = member.problem or name_problem(member.name)
        if not problem and member.size > max_member_bytes:
            problem = f"{member.size} bytes unpacked, over the limit of {max_member_bytes}"
        if problem:
            problems.append(f"'{_printable(member.name)}' ({problem})")
    names = [_normalized(member.name) for member in members if not member.is_folder]
    problems += _clashes(names, (_normalized(member.name) for member in members if member.is_folder))
    if problems:
        more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise ValueError(
            f"Expected only plain files with names of their own inside '{where}', got {'; '.join(problems[:SHOWN])}"
            f"{more}. Nothing of it was read or written. Do not trust the archive, or pack it anew."
        )
    return names


def name_problem(name: str) -> str:
    """Return what is wrong with the name of a member, or "".

    >>> name_problem("../evil.txt"), name_problem("images/a.png")
    ('leads outside', '')
    """
    if not name.strip("/."):
        return "leads outside" if ".." in name or name.startswith("/") else "" if name in (".", "./") else "no name"
    if "\0" in name:
        return "a NUL in its name"
    if name.startswith("/") or DRIVE.match(name):
        return "an absolute path"
    if "\\" in name:
        return "a backslash in its name"
    if ".." in name.split("/"):
        return "leads outside"
    return ""


def _limits(members: Sequence[Member], max_members: int, max_total_bytes: int) -> list[str]:
    total = sum(member.size for member in members)
    problems = [f"{len(members)} members, over the limit of {max_members}"] if len(members) > max_members else []
    if total > max_total_bytes:
        problems.append(f"{total} bytes unpacked in all, over the limit of {max_total_bytes}")
    return problems


def _clashes(names: Sequence[str], folders: Iterable[str]) -> list[str]:
    """Names that two files share, or a file and a folder. Compared as Unicode NFC, as pairing does."""
    seen: set[str] = set()
    doubled: set[str] = set()
    parents = {unicodedata.normalize("NFC", folder) for folder in folders}
    for name in names:
        key = unicodedata.normalize("NFC", name)
        (doubled if key in seen else seen).add(key)
        if "/" in key and key[: key.rindex("/")] not in parents:
            parts = key.split("/")
            parents.update("/".join(parts[:end]) for end in range(1, len(parts)))
    both = sorted(seen & parents)
    return [f"'{_printable(name)}' (more than once)" for name in sorted(doubled)] + [
        f"'{_printable(name)}' (both a file and a folder)" for name in both
    ]


def _normalized(name: str) -> str:
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _printable(name: str) -> str:
    return name if name.isprintable() else ascii(name)[1:-1]


def _zip_problem(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "no plain file"
    if info.flag_bits & ENCRYPTED:
        return "encrypted"
    if info.compress_type not in METHODS:
        return f"compression method {info.compress_type}, neither stored nor deflated"
    return "a folder with content" if info.is_dir() and info.file_size else ""


def _tar_kind(info: tarfile.TarInfo) -> str:
    return "a link" if info.issym() or info.islnk() else "no plain file"
