"""What an AI wants to change and a person has to say yes to: staged, decided once, run as the AI that proposed it.

Source: spec/companion.md, PO-3 to PO-9. A proposal is bound to what it was made for: where that is another by now, its
approval is refused.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from core.access.roles import granted, permit
from core.canonical import content_hash
from core.clock import Clock
from core.companion.act.policy import Policies
from core.companion.act.proposal_store import Proposal, ProposalPage, ProposalStore, State
from core.companion.act.toolbox import Toolbox, dialogs_of
from core.companion.contract import ModuleTool, ToolResult
from core.errors import ConflictError, CoreError, Forbidden, NotFound
from core.events.actor import Actor, run_as, system
from core.events.emitter import Events

Run = Callable[[ModuleTool, Mapping[str, Any], Actor, str], ToolResult]
Verdict = Literal["pending", "approved", "rejected"]

FEEDBACK_LIMIT = 2_000
RATIONALE_LIMIT = 4_000
RESULT_LIMIT = 20_000  # characters of a result's data that are kept


class ProposalStale(ConflictError):
    """What it would change is no longer what it was proposed for."""

    code = "proposal_stale"


class ProposalDecided(ConflictError):
    """Somebody, or time, was quicker; `state` is what it is."""

    code = "proposal_decided"

    def __init__(self, state: str) -> None:
        words = "is being run" if state == "running" else f"is {state} already"
        super().__init__(f"This proposal {words}: nothing was done.", hint="Reload the page.")
        self.state = state


class Proposals:
    """One per process, thread-safe. `run` runs a tool that may be run, for a proposal; it never
    raises."""

    def __init__(
        self, store: ProposalStore, toolbox: Toolbox, policies: Policies, events: Events, clock: Clock, run: Run
    ) -> None:
        self._store = store
        self._toolbox = toolbox
        self._policies = policies
        self._events = events
        self._clock = clock
        self._run = run

    def stage(self, tool: ModuleTool, params: Mapping[str, Any], actor: Actor) -> ToolResult:
        """Keep a valid call for a person; the same call of the same mission is kept once. Errors: DatabaseError."""
        now = self._clock.now()
        wanted = Proposal(
            id=str(uuid.uuid4()),
            status="pending",
            actor=actor,
            mission_id=actor.mission_id or "",
            iteration_id=actor.iteration_id or "",
            rationale=(actor.rationale or "")[:RATIONALE_LIMIT],
            tool_name=tool.name,
            module=tool.module,
            params=params,
            created_at=now,
            expires_at=now + timedelta(hours=tool.expires_h) if tool.expires_h else None,
            target_hash=_target(tool, params, actor),
        )
        facts = {"proposal_id": wanted.id, "tool": tool.name, "module": tool.module}
        who = {"mission_id": wanted.mission_id, "iteration_id": wanted.iteration_id, "expires_at": wanted.expires_at}
        event = self._events.prepare("ProposalCreated", {**facts, **who}, actor=actor, record_id=wanted.id)
        new, kept = self._store.stage(wanted, content_hash(dict(params)), dialogs_of(tool, params), event)
        if new:
            self._events.announce(event)
        data = {"proposal_id": kept.id, "status": "pending", "new": new}
        return ToolResult(True, f"{tool.label}: waiting for approval. It has not run.", data, data)

    def approve(self, id: str) -> Proposal:
        """Say yes: whoever is first runs it, as the AI that proposed it. A run that fails is a result, no error.

        Errors: Forbidden, NotFound, ProposalDecided, ProposalStale, DatabaseError; then nothing was run.
        """
        proposal, tool = self._open(id, "pending")
        event = self._decision(proposal, "approved")
        self._same_target(tool, proposal)
        outcome, taken = self._store.decide(id, "approved", "user", self._clock.now(), event)
        if taken is None:
            raise _not_taken(outcome)
        self._events.announce(event)
        return self._finish(tool, taken)

    def retry(self, id: str) -> Proposal:
        """Run an approved proposal again whose run failed. Errors: as `approve`."""
        proposal, tool = self._open(id, "approved")
        if not proposal.may_retry(self._clock.now()):
            raise ProposalDecided("approved" if proposal.succeeded else "running")
        self._same_target(tool, proposal)
        outcome, taken = self._store.retry(id, proposal.attempts, self._clock.now())
        if taken is None:
            raise _not_taken(outcome)
        return self._finish(tool, taken)

    def reject(self, id: str, feedback: str = "") -> Proposal:
        """Say no, and why, for the next plan. Errors: Forbidden, NotFound, ProposalDecided, DatabaseError."""
        permit("decide_proposals")
        proposal = self.get(id)
        words = feedback.replace("\x00", "").strip()[:FEEDBACK_LIMIT] or None
        event = self._decision(proposal, "rejected", has_reason=words is not None)
        outcome, taken = self._store.decide(id, "rejected", "user", self._clock.now(), event, words)
        if taken is None:
            raise _not_taken(outcome)
        self._events.announce(event)
        return taken

    def expire(self) -> int:
        """Close what nobody decided in time; how many this call closed. For the tick. Errors: DatabaseError."""
        done = 0
        with run_as(system("rule")):
            for proposal in self._store.list(self._clock.now(), state="overdue", limit=500).rows:
                event = self._decision(proposal, "expired")
                outcome, _ = self._store.decide(proposal.id, "expired", "auto-expire", self._clock.now(), event)
                if outcome == "done":
                    self._events.announce(event)
                    done += 1
        return done

    def get(self, id: str) -> Proposal:
        """Errors: NotFound, DatabaseError."""
        rows = self._store.list(self._clock.now(), id=id, limit=1).rows if _is_id(id) else ()
        if not rows:
            raise NotFound("This proposal is not there.", hint="Its dialog may have been erased. Reload the page.")
        return rows[0]

    def list(
        self,
        state: State | None = "open",
        *,
        modules: Sequence[str] | None = None,
        mission_id: str | None = None,
        limit: int = 25,
        offset: int = 0,
    ) -> ProposalPage:
        """Newest first; `open`: those that wait, and approved ones that have not succeeded. Errors: DatabaseError."""
        permit("companion")
        now = self._clock.now()
        return self._store.list(now, state=state, modules=modules, mission_id=mission_id, limit=limit, offset=offset)

    def iteration(self, mission_id: str, iteration_id: str) -> tuple[Verdict, str | None]:
        """What became of an iteration's proposals: pending while one waits, approved if one was; and the reasons that
        were given, one a line, oldest first. Errors: DatabaseError."""
        found = self._store.list(self._clock.now(), mission_id=mission_id, iteration_id=iteration_id, limit=500).rows
        words = "\n".join(p.feedback for p in reversed(found) if p.feedback) or None
        states = {p.status for p in found}
        return ("pending" if "pending" in states else "approved" if "approved" in states else "rejected"), words

    def _open(self, id: str, status: str) -> tuple[Proposal, ModuleTool]:
        permit("decide_proposals")
        proposal = self.get(id)
        now = self._clock.now()
        if proposal.status != status:
            raise ProposalDecided(proposal.status)
        if status == "pending" and proposal.expires_at is not None and proposal.expires_at < now:
            raise ProposalDecided("expired")
        tool = self._toolbox.find(proposal.tool_name)
        if tool is None:
            raise NotFound(
                f"There is no tool {proposal.tool_name} any more.", hint="Reject it: this version cannot run it."
            )
        if self._policies.of(tool, proposal.actor) == "deny":
            raise Forbidden(
                f"{tool.label} is not for an AI, not even with a yes.", hint="Do it yourself, or reject the proposal."
            )
        for action in tool.actions:  # nobody gets by an AI what they may not do themselves
            permit(action)
        return proposal, tool

    def _same_target(self, tool: ModuleTool, proposal: Proposal) -> None:
        if _target(tool, proposal.params, proposal.actor) != proposal.target_hash:
            raise ProposalStale(
                "What this would change is no longer as it was when it was proposed.",
                hint="Reject it; it can be proposed anew for what is there now.",
            )

    def _finish(self, tool: ModuleTool, taken: Proposal) -> Proposal:
        result = self._run(tool, taken.params, taken.actor, taken.id)
        kept = {"success": result.success, "message": result.message[:2_000], "data": _kept(result.llm_data)}
        try:
            self._store.finish(taken, kept)
        except CoreError:
            # It ran, and that is what its caller has to hear; the row says it is under way until somebody retries.
            kept["message"] += " The result could not be stored."
        return Proposal(**{**taken.__dict__, "result": kept})

    def _decision(self, proposal: Proposal, decision: str, **more: Any) -> Any:
        tool = {"tool": proposal.tool_name, "module": proposal.module}
        payload = {"proposal_id": proposal.id, **tool, "decision": decision, "status": decision, **more}
        return self._events.prepare("ProposalDecided", payload, record_id=proposal.id)


def _target(tool: ModuleTool, params: Mapping[str, Any], actor: Actor) -> str | None:
    """The digest of what the call would change, None for a tool that does not say; read as the AI would."""
    if tool.target is None:
        return None
    with run_as(actor), granted(*tool.actions):
        return content_hash(json.loads(json.dumps(tool.target(params), default=str)))


def _kept(data: Any) -> Any:
    """The redacted data of a result, as JSON of a bounded size; None for what is none."""
    text = json.dumps(data, default=str)
    return json.loads(text) if len(text) <= RESULT_LIMIT else None


def _not_taken(outcome: str) -> CoreError:
    return NotFound("This proposal is not there.") if outcome == "missing" else ProposalDecided(outcome)


def _is_id(text: str) -> bool:
    try:
        uuid.UUID(text)
    except (ValueError, AttributeError, TypeError):
        return False
    return True
