"""The front of the goals: made, changed, counted by events, closed by the calendar."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from threading import Lock

from core.access import require
from core.companion.contract import GoalMetric, MetricDef, Module, Period
from core.companion.reflect.goals.draft import Draft, checked, from_template
from core.companion.reflect.goals.goal import Goal
from core.companion.reflect.goals.store import GoalStore, Outcome
from core.companion.reflect.goals.templates import templates_of
from core.errors import CoreError, InputError
from core.events.actor import Actor
from core.events.emitter import Events
from core.events.event import Event

log = logging.getLogger(__name__)

# Which types count is asked again after this long, as another process may have made a goal.
INTERESTS_S = 10.0
AWAY_S = 30.0
OWN = {"GoalReached", "GoalExceeded"}
STATUSES = ("active", "paused", "completed", "abandoned", "deleted", "restored")


class Goals:
    """Thread-safe; one per process. `streaks` gives the current length of each streak by id; `daily` the values of a
    metric by day, for those that are read from events."""

    def __init__(
        self,
        store: GoalStore,
        events: Events,
        modules: Sequence[Module],
        *,
        streaks: Callable[[], Mapping[str, float]] = dict,
        daily: Callable[[MetricDef, date, date], Mapping[date, float]] | None = None,
    ) -> None:
        self.store = store
        self._events = events
        self._streaks = streaks
        self._daily = daily
        self.templates = templates_of(modules)
        self.metrics = {metric.id: metric for module in modules for metric in module.metrics}
        self.streak_names = {streak.id: streak.label for module in modules for streak in module.streaks}
        self._lock = Lock()
        self._interests: tuple[float, frozenset[str]] | None = None
        self._away_until = float("-inf")

    def list(self, history: int = 14) -> tuple[Goal, ...]:
        """Every goal in its present period. Errors: DatabaseError."""
        return self.store.list(history)

    def active(self) -> tuple[Goal, ...]:
        return tuple(goal for goal in self.store.list(0) if goal.status == "active")

    def preview(self, metric: GoalMetric, period: Period) -> float | None:
        """What it would be in the present period; None for a figure without a value. Errors: DatabaseError."""
        if metric.source in ("event_count", "event_sum"):
            return self.store.preview(metric, period)[0]
        return self._named(metric, self.store.today())

    def save(self, actor: Actor, draft: Draft) -> Outcome:
        """Make or change a goal; what happened in its period so far counts. Errors: Forbidden, InputError naming the
        field, DatabaseError."""
        require(actor, "change_goals")
        draft = checked(draft, metrics=self.metrics.keys(), streaks=self.streak_names.keys())
        # An event that still waits on disk was counted for goals that there were then, not for this one.
        self._events.flush(2.0)
        known = next((goal for goal in self.list(0) if goal.id == draft.id), None)
        if known is None:
            kind, payload = "GoalCreated", {"module": draft.module, "template_id": draft.template_id}
            payload["title"] = draft.title
        else:
            kind, payload = "GoalUpdated", {}
        changed = _changed(known, draft) if known else []
        event = self._events.prepare(
            kind,
            {"goal_id": draft.id, **payload, **({"fields": changed} if known else {})},
            actor=actor,
            record_id=draft.id,
            collection="companion_goals",
        )
        outcome = self.store.save(draft, event)
        if outcome.outcome == "missing":
            raise InputError("This goal is not there any more.", field="id")
        self._forget()
        return outcome

    def add(self, actor: Actor, template_id: str) -> Outcome:
        """A goal by its template; `duplicate` where an active one has this title. Errors: as `save`."""
        found = next((t for t in self.templates if t.id == template_id), None)
        if found is None:
            raise InputError("There is no such template.", field="template_id")
        return self.save(actor, from_template(str(uuid.uuid4()), found))

    def change_status(self, actor: Actor, goal: Goal, status: str) -> Outcome:
        """Pause, resume (active), complete, abandon, delete or restore; `unchanged` where somebody was quicker.

        Errors: Forbidden, InputError, DatabaseError.
        """
        require(actor, "change_goals")
        if status not in STATUSES:
            raise InputError("A goal is active, paused, completed, abandoned, deleted or restored.", field="status")
        deleted = status == "deleted"
        payload = {"title": goal.title} if deleted else {"new_status": goal.status if status == "restored" else status}
        event = self._events.prepare(
            "GoalDeleted" if deleted else "GoalStatusChanged",
            {"goal_id": goal.id, **payload},
            actor=actor,
            record_id=goal.id,
            collection="companion_goals",
        )
        outcome = self.store.status(goal.id, status, event)
        if outcome.outcome == "duplicate":
            raise InputError("Another active goal has this title. Rename one of them first.", field="title")
        self._forget()
        return outcome

    def track(self, event: Event) -> None:
        """The handler of every event. While the database is away it keeps out of the way of the next event: the
        recount finds what was missed."""
        if event.type in OWN or time.monotonic() < self._away_until:
            return
        try:
            if event.type in self._wanted():
                self.store.increment(event)
        except CoreError as error:
            self._away_until = time.monotonic() + AWAY_S
            log.info("events are not counted for goals now: %s", error.code)

    def tend(self) -> int:
        """Every few minutes, and daily: named figures, periods that are over, events that nobody counted. How many
        goals such events moved."""
        for goal in self.store.running():
            if goal.metric.source in ("streak_days", "custom"):
                self._refresh(goal)
        self.store.roll()
        return self.store.recount()

    def renew(self) -> int:
        """Every few seconds in every process: where another one made a goal, events that were not counted for it here
        are counted now. How many goals that moved. Errors: DatabaseError."""
        with self._lock:
            kept = self._interests
        gained = self._interests_now() - kept[1] if kept is not None else ()
        return self.store.recount() if gained else 0

    def _refresh(self, goal: Goal) -> None:
        try:
            self.store.set(goal, self._named(goal.metric, goal.start))
            if goal.start < self.store.today():
                self.store.set(
                    Goal(**{**vars(goal), "start": self.store.today()}), self._named(goal.metric, self.store.today())
                )
        except CoreError as error:
            log.warning("the figure of a goal could not be read: %s", error.what)

    def _named(self, metric: GoalMetric, day: date) -> float | None:
        name = metric.name or ""
        if metric.source == "streak_days":
            return self._streaks().get(name)
        found = self.metrics.get(name)
        if found is None:
            return None
        if found.daily is not None:
            return found.daily(day, day).get(day)
        return self._daily(found, day, day).get(day) if self._daily else None

    def _wanted(self) -> frozenset[str]:
        with self._lock:
            kept = self._interests
        if kept is not None and time.monotonic() - kept[0] < INTERESTS_S:
            return kept[1]
        types = self._interests_now()
        if kept is not None and types - kept[1]:
            self.store.recount()  # what came while this process did not know of the goal
        return types

    def _interests_now(self) -> frozenset[str]:
        goals = self.store.running()
        types = frozenset(name for goal in goals for name in (*goal.metric.events, *goal.metric.minus))
        with self._lock:
            self._interests = (time.monotonic(), types)
        return types

    def _forget(self) -> None:
        with self._lock:
            self._interests = None


def _changed(known: Goal, draft: Draft) -> list[str]:
    names = ("title", "description", "module", "linked_modules", "metric", "target")
    return [name for name in names if getattr(known, name) != getattr(draft, name)]
