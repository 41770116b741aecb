"""What came of asking for a run: it was done, it was left alone, or it could not be begun."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.companion.act.missions.mission import Mission, RunStatus
from core.errors import ConflictError

WORDS = {"running": "is being run already", "not-due": "is not due", "done": "is completed"}
# Why a mission is left alone, None where it may be run.
MayRun = Callable[[Mission], str | None]


class MissionBusy(ConflictError):
    """It is not to be run now; `state` says why: running, paused, done, archived, not-due."""

    code = "mission_busy"

    def __init__(self, state: str) -> None:
        super().__init__(
            f"This mission {WORDS.get(state, f'is {state}')}: nothing was started.", hint="Reload the page."
        )
        self.state = state


@dataclass(frozen=True)
class Ran:
    """What became of a mission that was due: the status of its run, or None and why it was left alone."""

    mission: Mission
    status: RunStatus | None
    why: str | None = None
