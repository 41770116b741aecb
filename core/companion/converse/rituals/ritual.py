"""A routine, its steps and a run of it, as stored. Source: spec/companion.md section 9."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from core.companion.converse.rituals.step import Step

Trigger = Literal["morning", "evening", "manual"]
Status = Literal["active", "paused", "archived"]
RunStatus = Literal["running", "completed", "ended", "aborted"]
StepStatus = Literal["open", "running", "done", "failed", "skipped"]
Origin = Literal["person", "template", "rules", "server", "cloud"]


@dataclass(frozen=True)
class StepState:
    """What became of a step in a run. `taken` holds what a later step takes; `code` is the class of a failure.

    `length` of a text that was given, which is not kept itself. `items` of a checklist, by their place.
    """

    status: StepStatus = "open"
    at: datetime | None = None
    length: int | None = None
    code: str | None = None
    taken: Mapping[str, Any] = field(default_factory=dict)
    items: Mapping[int, StepState] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One run. It ended as `completed` only where every step is done."""

    id: str
    ritual_id: str
    version: int
    day: date
    status: RunStatus
    completed: int
    total: int
    steps: Mapping[int, StepState]
    started_at: datetime
    completed_at: datetime | None = None
    ended_at: datetime | None = None
    by: str = ""
    title: str = ""
    deleted: bool = False

    @property
    def open(self) -> bool:
        return self.status == "running"

    def state(self, pos: int) -> StepState:
        return self.steps.get(pos, StepState())


@dataclass(frozen=True)
class Ritual:
    """A routine with its run under way, and the latest run of the day."""

    id: str
    title: str
    trigger: Trigger
    steps: tuple[Step, ...]
    description: str | None = None
    status: Status = "active"
    template_id: str | None = None
    origin: Origin = "person"
    version: int = 0
    running: Run | None = None
    today: Run | None = None


def ritual_of(row: Mapping[str, Any]) -> Ritual:
    return Ritual(
        id=row["id"],
        title=row["title"],
        trigger=row["trigger"],
        steps=tuple(Step(s["type"], s["label"], s["config"]) for s in row["steps"]),
        description=row["description"],
        status=row["status"],
        template_id=row["template_id"],
        origin=row["origin"],
        version=row["version"],
        running=run_of(row["running"]) if row["running"] else None,
        today=run_of(row["today"]) if row["today"] else None,
    )


def run_of(row: Mapping[str, Any]) -> Run:
    return Run(
        id=row["id"],
        ritual_id=row["ritual_id"],
        version=row["version"],
        day=date.fromisoformat(row["day"]),
        status=row["status"],
        completed=row["completed"],
        total=row["total"],
        steps={int(pos): _state(entry) for pos, entry in row["results"].items()},
        started_at=datetime.fromisoformat(row["started_at"]),
        completed_at=_moment(row["completed_at"]),
        ended_at=_moment(row["ended_at"]),
        by=str(row["actor"].get("display_name", "")),
        title=row.get("title", ""),
        deleted=bool(row.get("deleted")),
    )


def _state(entry: Mapping[str, Any]) -> StepState:
    return StepState(
        status=entry.get("status", "open"),
        at=_moment(entry.get("at")),
        length=entry.get("length"),
        code=entry.get("code"),
        taken=entry.get("taken") or {},
        items={int(n): _state(item) for n, item in (entry.get("items") or {}).items()},
    )


def _moment(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None
