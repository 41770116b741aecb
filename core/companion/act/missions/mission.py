"""Missions and their runs, as they stand in their tables. Source: spec/companion.md, MI-1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from core.companion.act.missions.cadence import Cadence, read_cadence
from core.errors import InputError

State = Literal["active", "paused", "done", "archived"]
Planner = Literal["rules", "llm"]
Origin = Literal["foreground", "server"]
RunStatus = Literal["running", "awaiting-review", "approved", "rejected", "failed"]
StepStatus = Literal["planned", "staged", "approved", "rejected", "skipped", "failed"]
PHASES = ("resolving-inputs", "calling-llm", "parsing-response", "staging-proposals", "finalizing")


@dataclass(frozen=True)
class Input:
    """A reference that each run resolves anew. `kind` names what of the module; `ref` is a dialog key where that is
    a dialog."""

    module: str
    kind: str
    ref: str

    @property
    def dialog_key(self) -> str | None:
        return self.ref if self.kind == "dialog" else None

    def row(self) -> dict[str, str]:
        place = "dialog_key" if self.kind == "dialog" else "ref"
        return {"module": self.module, "kind": self.kind, place: self.ref}


@dataclass(frozen=True)
class Step:
    """One call of a plan and what became of it; `approved` is also what ran without asking."""

    id: str
    tool: str
    params: Mapping[str, Any]
    summary: str = ""
    rationale: str = ""
    status: StepStatus = "planned"
    proposal_id: str | None = None
    message: str = ""
    latency_ms: float | None = None

    def row(self) -> dict[str, Any]:
        return {**asdict(self), "params": dict(self.params)}


@dataclass(frozen=True)
class Iteration:
    """One run. `error`: name, message and phase of what ended it; `tier`: who planned it."""

    id: str
    mission_id: str
    status: RunStatus
    source: Origin
    phase: str
    phase_at: datetime
    started_at: datetime
    finished_at: datetime | None = None
    steps: tuple[Step, ...] = ()
    notices: tuple[str, ...] = ()
    summary: str | None = None
    feedback: str | None = None
    error: Mapping[str, str] | None = None
    tier: str | None = None
    cancel_requested: bool = False


@dataclass(frozen=True)
class Mission:
    """`iterations` counts its runs, `waiting` its proposals that nobody decided; `fail_count` failures in a row."""

    id: str
    title: str
    objective: str
    concept: str
    cadence: Cadence
    planner: Planner
    template: str | None
    state: State
    token_budget: int
    created_at: datetime
    inputs: tuple[Input, ...] = ()
    next_run_at: datetime | None = None
    lease_until: datetime | None = None
    fail_count: int = 0
    iterations: int = 0
    waiting: int = 0
    latest: Iteration | None = field(default=None)


def mission_of(row: Mapping[str, Any]) -> Mission:
    return Mission(
        id=row["id"],
        title=row["title"],
        objective=row["objective"],
        concept=row["concept"],
        cadence=_cadence(row["cadence"]),
        planner=row["planner"],
        template=row["template"],
        state=row["state"],
        token_budget=int(row["token_budget"]),
        created_at=datetime.fromisoformat(row["created_at"]),
        inputs=tuple(Input(i["module"], i["kind"], i.get("ref") or i.get("dialog_key", "")) for i in row["inputs"]),
        next_run_at=_moment(row["next_run_at"]),
        lease_until=_moment(row["lease_until"]),
        fail_count=int(row["fail_count"]),
        iterations=int(row["iterations"]),
        waiting=int(row["waiting"]),
        latest=iteration_of(row["latest"]) if row["latest"] else None,
    )


def iteration_of(row: Mapping[str, Any]) -> Iteration:
    return Iteration(
        id=row["id"],
        mission_id=row["mission_id"],
        status=row["status"],
        source=row["source"],
        phase=row["phase"],
        phase_at=datetime.fromisoformat(row["phase_at"]),
        started_at=datetime.fromisoformat(row["started_at"]),
        finished_at=_moment(row["finished_at"]),
        steps=tuple(_step(step) for step in row["steps"]),
        notices=tuple(row["notices"]),
        summary=row["summary"],
        feedback=row["feedback"],
        error=row["error"],
        tier=row["tier"],
        cancel_requested=row["cancel_requested"],
    )


def verdict(steps: Sequence[Step]) -> RunStatus:
    """What a run came to by its steps. Source: MI-8."""
    states = {step.status for step in steps}
    if "staged" in states:
        return "awaiting-review"
    return "failed" if states == {"failed"} else "approved"


def _step(row: Mapping[str, Any]) -> Step:
    names = Step.__dataclass_fields__
    return Step(**{name: value for name, value in row.items() if name in names})


def _cadence(stored: Mapping[str, Any]) -> Cadence:
    try:
        return read_cadence(stored)
    except InputError:  # of another version: it runs when somebody says so
        return Cadence()


def _moment(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None
