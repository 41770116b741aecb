"""What the pages of the own day read. Not cached: somebody who just wrote a line wants to see it."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from pages._shared.own import acting
from pages._shared.reads import Read, standing
from pages._shared.resources import core


def ask(room: str, name: str, *given: Any) -> Read[Any]:
    """An answer of the records by its name; the last good one where the database does not answer."""
    step = (room, name, *given)
    return standing(("own", *step), lambda: Read(acting.call(step), core().clock.now()))


def today() -> date:
    """Of the zone of the settings."""
    return core().companion.records.today()


def week() -> Read[Any]:
    """Figures of the seven local days that end today."""
    last = today()
    return ask("figures", "days", last - timedelta(6), last)
