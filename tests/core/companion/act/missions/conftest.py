"""Missions on the real store, with a clock on Monday, 30 November 2026, nine o'clock."""

from __future__ import annotations

import pytest

from core.bootstrap import Core
from tests.support.missions import Field


@pytest.fixture
def field(core: Core) -> Field:
    return Field(core)
