"""The tables of goals, through their SQL functions; what these stored as events comes back to be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.contract import GoalMetric, Period
from core.companion.reflect.goals.draft import Draft
from core.companion.reflect.goals.goal import Goal, goal_of, metric_json
from core.db.client import Database
from core.events.actor import normalize_actor, system
from core.events.emitter import Events
from core.events.event import Event, Meta


@dataclass(frozen=True)
class Outcome:
    """created, changed, unchanged, duplicate or missing; `before` is the status there was."""

    outcome: str
    id: str | None = None
    before: str | None = None


class GoalStore:
    """Thread-safe. Source: companion_goals, companion_goal_periods. `today` is a day of the zone."""

    def __init__(self, db: Database, events: Events, clock: Clock, zone: ZoneInfo) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._zone = zone

    def today(self) -> date:
        return self._clock.now().astimezone(self._zone).date()

    def list(self, history: int = 14) -> tuple[Goal, ...]:
        """Active ones first, then paused, then those that are over. Errors: DatabaseError."""
        params = {"p_day": self.today().isoformat(), "p_history": history}
        return tuple(goal_of(row) for row in self._db.rpc("companion_goal_list", params, read=True, returns=list))

    def preview(self, metric: GoalMetric, period: Period) -> tuple[float, int]:
        """What it would be in the present period, and from how many stored events."""
        found = self._db.rpc(
            "companion_goal_preview",
            {"p_metric": metric_json(metric), "p_period": period, **self._when()},
            read=True,
            returns=dict,
        )
        return float(found["value"]), int(found["events"])

    def save(self, draft: Draft, event: Event) -> Outcome:
        goal = {
            "id": draft.id,
            "title": draft.title,
            "description": draft.description,
            "module": draft.module,
            "linked_modules": list(draft.linked_modules),
            "template_id": draft.template_id,
            "metric": metric_json(draft.metric),
            "target": vars(draft.target),
        }
        answer = self._change("companion_goal_save", event, p_goal=goal)
        return Outcome(answer["outcome"], answer["id"])

    def status(self, goal_id: str, status: str, event: Event) -> Outcome:
        answer = self._change("companion_goal_status", event, p_id=goal_id, p_status=status)
        return Outcome(answer["outcome"], goal_id, answer["before"])

    def increment(self, event: Event) -> int:
        """Count an event for each goal that it concerns; how many moved."""
        row = event.row()
        given = {name: row[name] for name in ("event_id", "type", "payload", "ts")}
        params = {"p_event": given, **self._when(), "p_mark": self._mark(event.meta.id)}
        return int(self._told(self._db.rpc("companion_goal_increment", params, read=False, returns=dict))["moved"])

    def set(self, goal: Goal, value: float | None) -> None:
        """The value of a named figure in the period that the goal is in."""
        params = {"p_id": goal.id, "p_start": goal.start.isoformat(), "p_value": value}
        answer = self._db.rpc("companion_goal_set", params | self._moment(), read=False, returns=dict)
        self._told(answer)

    def roll(self) -> int:
        """Close the periods that are over; how many events that led to."""
        return len(self._told(self._db.rpc("companion_goal_roll", self._moment(), read=False, returns=dict))["events"])

    def recount(self) -> int:
        """Count stored events that nobody counted; how many goals that changed."""
        answer = self._db.rpc("companion_goal_recount", self._moment(), read=False, returns=dict)
        return int(self._told(answer)["changed"])

    def running(self) -> tuple[Goal, ...]:
        """The active ones in the period that is stored, also where it is over."""
        rows = self._db.rpc("companion_goal_running", {}, read=True, returns=list)
        return tuple(goal_of(row) for row in rows)

    def _change(self, function: str, event: Event, **params: Any) -> Mapping[str, Any]:
        params |= {"p_actor": event.meta.actor.as_json(), "p_event": event.row(), **self._moment(event.meta.id)}
        answer = self._told(self._db.rpc(function, params, read=False, returns=dict))
        if answer["outcome"] in ("created", "changed"):
            self._events.announce(event)
        return answer

    def _when(self) -> dict[str, Any]:
        return {"p_day": self.today().isoformat(), "p_zone": self._zone.key}

    def _moment(self, caused_by: str | None = None) -> dict[str, Any]:
        return {**self._when(), "p_mark": self._mark(caused_by)}

    def _mark(self, caused_by: str | None) -> dict[str, Any]:
        """What every GoalReached and GoalExceeded has in common; SQL fills in which goal, and stores it."""
        return {
            "class": "audit",
            "app_id": "companion",
            "collection": "companion_goals",
            "ts": self._clock.now().isoformat(),
            "actor": system("projection").as_json(),
            "actor_kind": "system",
            "caused_by": caused_by,
        }

    def _told(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        for row in answer["events"]:
            meta = Meta(
                id=row["event_id"],
                timestamp=datetime.fromisoformat(row["ts"]),
                app_id=row["app_id"],
                actor=normalize_actor(row["actor"]),
                event_class=row["class"],
                collection=row["collection"],
                record_id=row["record_id"],
                caused_by=row["caused_by"],
            )
            self._events.announce(Event(row["type"], row["payload"], meta))
        return answer
