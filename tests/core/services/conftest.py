"""What the services' tests share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _each_step_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job asks once a second whether it is to stop; the small ones of a test may be done by then."""
    monkeypatch.setattr("core.jobs.run.ASK_EVERY_S", 0)
