"""A streak as it stands on a day. Source: spec/companion.md, ST-3 and ST-5."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from core.companion.contract import StreakDef

NOTE_DAYS = 90  # as long as days of another zone can be in what is shown
Status = Literal["active", "at_risk", "broken"]


@dataclass(frozen=True)
class Streak:
    """As it stands today. `current` is 0 once broken; `last_active` is None while nothing ever counted.

    `zone_note` names the zone in which days before a change of the setting were counted.
    """

    id: str
    module: str
    label: str
    current: int
    longest: int
    last_active: date | None
    status: Status
    grace: int
    closing: bool
    zone_note: str | None = None


def standing(last_active: date | None, today: date, grace: int, *, closing: bool = False) -> Status:
    """Active up to `grace` days after the last one, at risk on the day after, then broken; a closing streak is judged
    by yesterday, since today is not over. A last day after today (the zone was changed westward) is active."""
    if last_active is None:
        return "broken"
    gap = (today - last_active).days - closing
    return "active" if gap <= grace else "at_risk" if gap == grace + 1 else "broken"


def zone_note(state: Mapping[str, Any], today: date) -> str | None:
    """In which zone earlier days were counted, while such days can be in what is shown; `state`: companion_set_zone."""
    changes = state.get("changes") or ()
    if not changes or (today - datetime.fromisoformat(changes[-1]["at"]).date()).days > NOTE_DAYS:
        return None
    return f"Days before {changes[-1]['since']} were counted in the zone {changes[-1]['from']}."


def shown(known: StreakDef, row: Mapping[str, Any], today: date, note: str | None) -> Streak:
    """A streak as of today, from its row; {} for one that has none yet."""
    last = date.fromisoformat(row["last_active"]) if row.get("last_active") else None
    status = standing(last, today, known.grace, closing=known.closing)
    return Streak(
        id=known.id,
        module=known.module,
        label=known.label,
        current=0 if status == "broken" else int(row.get("current") or 0),
        longest=int(row.get("longest") or 0),
        last_active=last,
        status=status,
        grace=known.grace,
        closing=known.closing,
        zone_note=note,
    )
