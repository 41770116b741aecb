"""The tables of missions, through their SQL functions: each change is a compare-and-set with its event inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.companion.act.missions.draft import MissionDraft
from core.companion.act.missions.mission import Iteration, Mission, Origin, Step, iteration_of, mission_of
from core.db.client import Database
from core.events.event import Event

LEASE_S = 240.0  # longer than a run may take; a run that lives renews it
STALE_S = 600.0


@dataclass(frozen=True)
class IterationPage:
    """Newest first; `total`: of all pages."""

    rows: tuple[Iteration, ...]
    total: int


@dataclass(frozen=True)
class Stale:
    """A run whose process is gone."""

    id: str
    mission_id: str
    owner: str
    phase: str


class MissionStore:
    """Thread-safe. Source: companion_missions, companion_iterations. Errors: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self, now: datetime, *, id: str | None = None, due: bool = False) -> tuple[Mission, ...]:
        """Active ones first, by their next run; `due`: only those to run now that nobody runs."""
        params = {"p_now": now.isoformat(), "p_id": id, "p_due": due}
        return tuple(mission_of(row) for row in self._db.rpc("companion_mission_list", params, read=True, returns=list))

    def save(self, draft: MissionDraft, next_run: datetime | None, now: datetime, event: Event) -> str:
        """created, changed or missing."""
        mission = {
            "id": draft.id,
            "title": draft.title,
            "concept": draft.concept,
            "objective": draft.objective,
            "cadence": draft.cadence.as_json(),
            "planner": draft.planner,
            "template": draft.template,
            "token_budget": draft.token_budget,
            "next_run_at": _iso(next_run),
        }
        params = {"p_mission": mission, "p_inputs": [one.row() for one in draft.inputs], **_when(now, event)}
        return str(self._db.rpc("companion_mission_save", params, read=False, returns=dict)["outcome"])

    def state(
        self, id: str, state: str, next_run: datetime | None, now: datetime, event: Event
    ) -> tuple[str, str | None]:
        """(changed, unchanged or missing; the state before)."""
        params = {"p_id": id, "p_state": state, "p_next": _iso(next_run), **_when(now, event)}
        answer = self._db.rpc("companion_mission_state", params, read=False, returns=dict)
        return answer["outcome"], answer["before"]

    def claim(self, id: str, owner: str, iteration: str, source: Origin, *, due: bool, now: datetime) -> str:
        """claimed, running, not-due, missing, or the state it is in. With `due` only a run that is due is taken."""
        params = {"p_id": id, "p_owner": owner, "p_iteration": iteration, "p_source": source, "p_due": due}
        params |= {"p_lease_s": LEASE_S, "p_now": now.isoformat()}
        return str(self._db.rpc("companion_mission_claim", params, read=False, returns=dict)["outcome"])

    def phase(
        self,
        iteration: str,
        owner: str,
        phase: str | None,
        now: datetime,
        steps: Sequence[Step] | None = None,
        dialogs: Sequence[str] = (),
    ) -> tuple[bool, bool]:
        """(whether the run is still this owner's, whether somebody asked it to stop)."""
        rows = None if steps is None else [step.row() for step in steps]
        params = {"p_id": iteration, "p_owner": owner, "p_phase": phase, "p_lease_s": LEASE_S, "p_now": now.isoformat()}
        given = {**params, "p_steps": rows, "p_dialogs": [*dialogs]}
        answer = self._db.rpc("companion_iteration_phase", given, read=False, returns=dict)
        return bool(answer["held"]), bool(answer["cancel"])

    def finish(
        self,
        iteration: str,
        owner: str,
        outcome: Mapping[str, Any],
        after: Mapping[str, Any] | None,
        now: datetime,
        event: Event,
    ) -> bool:
        """End it; False where it was ended already. `after`: next_run_at, fail_count, paused of its mission."""
        params: dict[str, Any] = {"p_id": iteration, "p_owner": owner, "p_outcome": dict(outcome)}
        params |= {"p_after": dict(after) if after is not None else None, **_when(now, event)}
        return bool(self._db.rpc("companion_iteration_finish", params, read=False, returns=dict)["stored"])

    def stale(self, now: datetime) -> tuple[Stale, ...]:
        params = {"p_now": now.isoformat(), "p_after_s": STALE_S}
        return tuple(Stale(**row) for row in self._db.rpc("companion_iteration_stale", params, read=True, returns=list))

    def iterations(self, mission: str, *, id: str | None = None, limit: int = 20, offset: int = 0) -> IterationPage:
        params = {"p_mission": mission, "p_id": id, "p_limit": limit, "p_offset": offset}
        answer = self._db.rpc("companion_iteration_list", params, read=True, returns=dict)
        return IterationPage(tuple(iteration_of(row) for row in answer["rows"]), int(answer["total"]))

    def cancel(self, iteration: str) -> bool:
        """Whether it still runs and was asked to stop."""
        answer = self._db.rpc("companion_iteration_cancel", {"p_id": iteration}, read=False, returns=dict)
        return bool(answer["asked"])

    def feedback(self, iteration: str, words: str) -> bool:
        params = {"p_id": iteration, "p_words": words}
        return bool(self._db.rpc("companion_iteration_feedback", params, read=False, returns=dict)["stored"])


def _when(now: datetime, event: Event) -> dict[str, Any]:
    return {"p_now": now.isoformat(), "p_event": event.row()}


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
