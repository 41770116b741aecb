"""What a planner looks at, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.companion.act.missions.inputs import Resolved
from core.companion.act.missions.mission import Iteration, Mission
from core.companion.act.missions.plan import Plan
from core.companion.contract import ContentClass, ModuleTool
from core.companion.converse.llm.aliases import Aliases


@dataclass(frozen=True)
class Done:
    """A step of an earlier round of this run; `data` is the redacted result."""

    tool: str
    success: bool
    message: str
    data: Any = None


@dataclass(frozen=True)
class Situation:
    """`round` counts from 1; `history` the last runs, newest first; `left_s` the seconds that the run still has.

    `at` says which phase begins; it raises where the run is to stop.
    """

    mission: Mission
    round: int
    tools: Sequence[ModuleTool]
    at: Callable[[str], None]
    inputs: Sequence[Resolved] = ()
    history: Sequence[Iteration] = ()
    results: Sequence[Done] = ()
    notes: Sequence[str] = ()
    content_class: ContentClass = "personal"
    aliases: Aliases = field(default_factory=Aliases)
    left_s: float = 60.0


@dataclass(frozen=True)
class Planned:
    """A plan and the tier that made it."""

    plan: Plan
    tier: str


class PlannerUnavailable(Exception):
    """Nobody can plan now; in words for a person, with no text of the mission."""


class Planner(Protocol):
    def plan(self, situation: Situation) -> Planned:
        """Errors: PlanError, PlannerUnavailable, and what `at` raises."""
        ...
