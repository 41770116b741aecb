"""Proposals as they stand in their table; each change is one SQL function with its event inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.db.client import Database
from core.events.actor import Actor, normalize_actor
from core.events.event import Event

Status = Literal["pending", "approved", "rejected", "expired"]
State = Literal["open", "pending", "overdue", "decided"]
LOST_S = 900  # without a result after this time, the process that ran it is gone


@dataclass(frozen=True)
class Proposal:
    """A tool call of an AI that waits, or what became of it. `result`: success, message, data (redacted); None while
    the approved run is under way. `target_hash`: the digest of what it would change, as it was then."""

    id: str
    status: Status
    actor: Actor
    mission_id: str
    iteration_id: str
    rationale: str
    tool_name: str
    module: str
    params: Mapping[str, Any]
    created_at: datetime
    expires_at: datetime | None = None
    target_hash: str | None = None
    decided_at: datetime | None = None
    decided_by: str | None = None
    decider: Mapping[str, Any] | None = None
    feedback: str | None = None
    attempts: int = 0
    run_at: datetime | None = None
    result: Mapping[str, Any] | None = None

    @property
    def succeeded(self) -> bool:
        return bool(self.result and self.result.get("success") is True)

    def may_retry(self, now: datetime) -> bool:
        """Whether its run failed, or never told its end."""
        if self.status != "approved" or self.succeeded:
            return False
        return self.result is not None or (self.run_at is not None and (now - self.run_at).total_seconds() > LOST_S)


@dataclass(frozen=True)
class ProposalPage:
    """Newest first; `total`: of all pages."""

    rows: tuple[Proposal, ...]
    total: int


class ProposalStore:
    """Source: companion_{stage,decide,retry,finish,list}_proposal(s). Errors: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def stage(
        self, proposal: Proposal, params_hash: str, dialogs: Sequence[str], event: Event
    ) -> tuple[bool, Proposal]:
        """(whether it is new, the one that waits now)."""
        row = {
            "id": proposal.id,
            "actor": proposal.actor.as_json(),
            "mission_id": proposal.mission_id,
            "iteration_id": proposal.iteration_id,
            "rationale": proposal.rationale,
            "tool_name": proposal.tool_name,
            "module": proposal.module,
            "params": dict(proposal.params),
            "params_hash": params_hash,
            "target_hash": proposal.target_hash,
            "expires_at": proposal.expires_at.isoformat() if proposal.expires_at else None,
        }
        now = proposal.created_at.isoformat()
        given = {"p_proposal": row, "p_dialogs": [*dialogs], "p_now": now, "p_event": event.row()}
        answer = self._db.rpc("companion_stage_proposal", given, read=False, returns=dict)
        return answer["outcome"] == "staged", proposal_of(answer["proposal"])

    def decide(
        self, id: str, to: Status, by: str, now: datetime, event: Event, feedback: str | None = None
    ) -> tuple[str, Proposal | None]:
        """("done", the proposal), or (missing or the state it is in, None)."""
        given = {"p_id": id, "p_to": to, "p_by": by, "p_now": now.isoformat(), "p_event": event.row()}
        return self._taken("companion_decide_proposal", {**given, "p_feedback": feedback})

    def retry(self, id: str, attempts: int, now: datetime) -> tuple[str, Proposal | None]:
        """As `decide`; `running` where somebody else has it."""
        given = {"p_id": id, "p_attempts": attempts, "p_now": now.isoformat(), "p_lost_s": LOST_S}
        return self._taken("companion_retry_proposal", given)

    def finish(self, proposal: Proposal, result: Mapping[str, Any]) -> bool:
        """Keep what a run gave; False where another run has taken over, or the proposal was erased meanwhile."""
        given = {"p_id": proposal.id, "p_attempts": proposal.attempts, "p_result": dict(result)}
        return bool(self._db.rpc("companion_finish_proposal", given, read=False, returns=dict)["stored"])

    def list(
        self,
        now: datetime,
        *,
        state: State | None = None,
        modules: Sequence[str] | None = None,
        mission_id: str | None = None,
        iteration_id: str | None = None,
        id: str | None = None,
        limit: int = 25,
        offset: int = 0,
    ) -> ProposalPage:
        """Every filter before the limit."""
        given = {
            "p_now": now.isoformat(),
            "p_state": state,
            "p_modules": None if modules is None else [*modules],
            "p_mission_id": mission_id,
            "p_iteration_id": iteration_id,
            "p_id": id,
            "p_limit": limit,
            "p_offset": offset,
        }
        answer = self._db.rpc("companion_list_proposals", given, read=True, returns=dict)
        return ProposalPage(tuple(proposal_of(row) for row in answer["rows"]), int(answer["total"]))

    def _taken(self, name: str, given: Mapping[str, Any]) -> tuple[str, Proposal | None]:
        answer = self._db.rpc(name, given, read=False, returns=dict)
        return answer["outcome"], proposal_of(answer["proposal"]) if answer.get("proposal") else None


def proposal_of(row: Mapping[str, Any]) -> Proposal:
    """From a row as the database writes it; columns of another version are left out."""
    values = {name: row.get(name) for name in Proposal.__dataclass_fields__}
    for name in ("created_at", "expires_at", "decided_at", "run_at"):
        at = values[name]
        values[name] = datetime.fromisoformat(at) if isinstance(at, str) else None
    values |= {"actor": normalize_actor(row.get("actor")), "params": dict(row.get("params") or {})}
    values["attempts"] = int(row.get("attempts") or 0)
    return Proposal(**values)  # type: ignore[arg-type]
