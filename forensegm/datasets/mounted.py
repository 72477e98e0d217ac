"""Several storages as one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forensegm.datasets.storage import Storage


class MountedStorage:
    """Several storages as one: the files of each are below a name of its own.

    Args:
        root: what holds them all, for errors.
        mounts: the storages by that name, which holds no slash.
    """

    def __init__(self, root: str | Path, mounts: Mapping[str, Storage]) -> None:
        """Keep the storages."""
        self.root, self.mounts = Path(root), dict(mounts)

    def read(self, name: str) -> bytes:
        """Return the bytes of a file; raises as the storages do."""
        storage, rest = self._find(name)
        return storage.read(rest)

    def names(self) -> list[str]:
        """Every file of every storage, sorted."""
        return sorted(f"{mount}/{name}" for mount, storage in self.mounts.items() for name in storage.names())

    def label(self, name: str) -> str:
        """What its storage calls a file."""
        storage, rest = self._find(name)
        return storage.label(rest)

    def _find(self, name: str) -> tuple[Storage, str]:
        mount, _, rest = name.partition("/")
        if mount not in self.mounts:
            raise FileNotFoundError(f"Expected '{name}' in '{self.root}', got no such file. Check the name.")
        return self.mounts[mount], rest
