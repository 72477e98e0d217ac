"""A file that is read at any place, in any process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


class ForkedFile:
    """Read pieces of a file; every process opens it for itself.

    A file that is open over a fork has one reading position for all processes: a third of the reads of four workers
    then fails. Here positions are given with every call, and an open file is never inherited or pickled.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        """Keep the path; the file is opened at the first reading."""
        self.path = path
        self._descriptor, self._process = -1, -1

    def read(self, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`, fewer only where the file ends; raises FileNotFoundError if it is gone."""
        data = os.pread(self._open(), size, offset)
        while len(data) < size:  # one call gives at most 2 GiB, and less where it is interrupted
            more = os.pread(self._open(), size - len(data), offset + len(data))
            if not more:
                break
            data += more
        return data

    def close(self) -> None:
        """Close this process's file; the next reading opens it again."""
        if self._descriptor >= 0 and self._process == os.getpid():
            os.close(self._descriptor)
        self._descriptor = -1

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the open file."""
        return {"path": self.path, "_descriptor": -1, "_process": -1}

    def __del__(self) -> None:
        """Close the file."""
        if getattr(self, "_descriptor", -1) >= 0:
            self.close()

    def _open(self) -> int:
        if self._descriptor < 0 or self._process != os.getpid():
            try:
                self._descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            except FileNotFoundError as error:
                raise FileNotFoundError(f"Expected an archive at '{self.path}', got none there any more.") from error
            self._process = os.getpid()
        return self._descriptor
