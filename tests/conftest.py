"""Fixtures that every test may use."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real photographs, edits and cases beside the checkout; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("no folder of shared inputs beside this checkout")
    return SHARED
