"""Fixtures shared by every suite: where real data is, and Hypothesis profiles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", max_examples=100, deadline=None)
settings.register_profile(
    "expensive", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def testdata() -> Path:
    """The folder of real chain data; tests that ask for it skip where there is none."""
    folder = os.environ.get("BLOCKPACK_TESTDATA")
    if not folder:
        pytest.skip("BLOCKPACK_TESTDATA is not set: no real chain data to test with")
    return Path(folder)
