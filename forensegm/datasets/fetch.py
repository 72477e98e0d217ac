"""Fetch files by URL once into a cache."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path

logger = logging.getLogger(__name__)

SCHEMES = ("http", "https", "file")
TIMEOUT_S = 60


def is_url(location: str) -> bool:
    """Whether a location is a URL of a kind that can be fetched."""
    return urllib.parse.urlsplit(location).scheme in SCHEMES


def default_cache() -> Path:
    """The folder for what was fetched: forensegm/shards in the user's cache folder (XDG)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "forensegm" / "shards"


def fetch(url: str, *, cache: str | Path | None = None) -> Path:
    """Return a local copy of a file, fetched once and kept.

    Args:
        url: http, https or file.
        cache: folder to keep it in; None = `default_cache`.

    Raises:
        FileNotFoundError: the server has no such file.
        RuntimeError: it cannot be reached, or ends early; nothing half is left behind.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in SCHEMES:
        raise ValueError(f"Expected a URL of {', '.join(SCHEMES)}, got '{url}'.")
    name = f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{Path(parts.path).name}"
    path = Path(cache or default_cache()).expanduser() / name
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{name}.{uuid.uuid4().hex[:8]}.tmp")
    logger.info("Fetching %s", url)
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer, temporary.open("wb") as file:
            shutil.copyfileobj(answer, file, 1 << 20)
            promised = answer.headers.get("Content-Length")
        size = temporary.stat().st_size
        if promised is not None and size != int(promised):
            raise RuntimeError(f"Expected {promised} bytes from {url}, got {size}. Try again.")
        temporary.rename(path)
    except urllib.error.HTTPError as error:
        kind = FileNotFoundError if error.code in (404, 410) else RuntimeError
        raise kind(f"Expected a file at {url}, got {error.code} {error.reason}.") from error
    except (urllib.error.URLError, TimeoutError, ConnectionError, ValueError) as error:
        missing = isinstance(getattr(error, "reason", None), FileNotFoundError)
        raise (FileNotFoundError if missing else RuntimeError)(f"Expected to fetch {url}, got: {error}.") from error
    finally:
        temporary.unlink(missing_ok=True)
    return path
