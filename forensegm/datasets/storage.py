"""Where the files of a data set lie: in a folder, or unopened in an archive. Readers ask for bytes by name.

A name is a posix path relative to the root; nothing outside of the root is ever read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Protocol

from forensegm.datasets.records import check_inside


class Storage(Protocol):
    """Named files to read.

    Attributes:
        root: the folder or the archive.
    """

    root: Path

    def read(self, name: str) -> bytes:
        """Return the bytes of a file; raises FileNotFoundError or ValueError naming it."""
        ...

    def names(self) -> list[str]:
        """Every file below the root, sorted."""
        ...

    def label(self, name: str) -> str:
        """What errors call a file: its path, for an archive with the archive's in front."""
        ...


class FolderStorage:
    """The files below a folder.

    Args:
        root: the folder.

    Raises:
        FileNotFoundError: there is none.
    """

    def __init__(self, root: str | Path) -> None:
        """Keep the root; files are listed and read when asked for."""
        self.root = Path(root).expanduser()
        if not self.root.is_dir():
            found = "a file" if self.root.exists() else "nothing"
            raise FileNotFoundError(f"Expected a folder at '{self.root}', got {found} there.")

    def read(self, name: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: a name that points outside of the root, or at a folder.
        """
        check_inside(name, where=f"a file of '{self.root}'")
        path = self.root / name
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise FileNotFoundError(f"Expected a file at '{path}', got none there. Check the path.") from error
        except (IsADirectoryError, NotADirectoryError) as error:
            raise ValueError(f"Expected a file at '{path}', got a folder, or a file for a folder.") from error

    def names(self) -> list[str]:
        """Every file below the root, sorted."""
        return sorted(self._walk())

    def label(self, name: str) -> str:
        """The path of a file."""
        return str(self.root / name)

    def _walk(self) -> Iterator[str]:
        for place, _, names in os.walk(self.root, followlinks=True):
            for name in names:
                yield PurePath(place, name).relative_to(self.root).as_posix()
