"""Writes the invented weeks, then lets the companion look at them once: streaks, facts, correlations, goals, nudges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from core.clock import FixedClock
from core.companion.companion import Companion
from core.companion.demo.week import DAYS
from core.companion.demo.written import OPERATOR, Told, six_weeks
from core.companion.reflect.goals.goal import metric_json
from core.companion.reflect.memory import Facts
from core.db.rows import batches
from core.events.actor import ai
from core.events.event import Event
from core.services.demo_content import DemoDialog
from core.services.demo_marks import demo_id, is_demo_id

BATCH = 400
GOALS = ("drink.water-8", "drink.coffee-3", "todo.five-a-day", "food.calories-2000", "places.three-a-week")
LOOKED_BACK = (12, 9, 6, 3)  # days ago on which patterns were looked for, so that facts have been confirmed since
SAID = ("key-ambiguity", "overdue-tasks", "expired-snapshots", "correlation-insight", "stale-embeddings")
ASSISTANT = "demo-assistant"
MISSION = "demo"  # as desk_remove_demo_companion knows it
ASKED = (
    "id,at,request_id,scope,dialog_key,query_hash,query_len,compose_mode,asked_limit,model,fallback,weights_version,"
    "embed_ms,database_ms,score_ms,results,top_score"
)


class CompanionDemo:
    """Part of a load of the demo data. Errors of all: DatabaseError; a later load completes what was broken off."""

    def __init__(self, companion: Companion) -> None:
        self._companion = companion
        self._deps = companion.deps

    def write(self, dialogs: Sequence[DemoDialog], now: datetime) -> Iterator[tuple[str, int, int]]:
        """Step by step; after each what it was part of, steps done, of how many."""
        made = six_weeks(now, self._deps.zone)
        events = [*made.events, *self._searches()]
        events.sort(key=lambda event: (event.at, event.id))
        todo = [list(batch) for batch in batches(events, BATCH)]
        total = len(todo) + 1 + len(GOALS) + 1
        yield "days", 0, total
        self._deps.db.rpc("companion_write_demo", {"p_rows": made.rows}, read=False)
        yield "days", 1, total
        for done, batch in enumerate(todo, start=2):
            rows = [self._event(told).row() for told in batch]
            self._deps.db.rpc("companion_append_events", {"p_events": rows}, read=False)
            yield "days", done, total
        for done, template in enumerate(GOALS, start=len(todo) + 2):
            self._goal(template, now)
            yield "days", done, total
        self._look(now)
        yield "days", total, total

    def removed(self) -> None:
        """After the rows are gone: what was derived from them, anew from what is left."""
        self._companion.streaks.rebuild()
        self._companion.correlations.compute()
        self._companion.projections.invalidate()

    def _event(self, told: Told) -> Event:
        event = self._deps.events.prepare(
            told.type, told.payload, actor=told.actor, record_id=told.record_id, collection=told.collection
        )
        return replace(event, meta=replace(event.meta, id=told.id, timestamp=told.at.astimezone(UTC), caused_by=None))

    def _searches(self) -> Iterator[Told]:
        """One for each recorded search of the demo: what the record says, and nothing more."""
        for page in self._deps.db.pages("memory_retrievals", ASKED):
            yield from (_searched(row) for row in page if is_demo_id(row["id"]))

    def _goal(self, template_id: str, now: datetime) -> None:
        template = next(t for m in self._companion.modules for t in m.goal_templates if t.id == template_id)
        today = self._today(now)
        goal = {
            "id": demo_id("goal", template.id),
            "title": template.title,
            "module": template.module,
            "linked_modules": list(template.linked_modules),
            "template_id": template.id,
            "metric": metric_json(template.metric),
            "target": vars(template.target),
        }
        params = {"p_goal": goal, "p_since": (today - timedelta(DAYS - 1)).isoformat(), "p_day": today.isoformat()}
        params |= {"p_zone": self._deps.zone.key, "p_actor": OPERATOR.as_json()}
        self._deps.db.rpc("companion_write_demo_goal", params, read=False)

    def _look(self, now: datetime) -> None:
        companion, deps = self._companion, self._deps
        companion.streaks.settle()
        companion.streaks.rebuild()
        companion.correlations.compute()
        for ago in LOOKED_BACK:
            then = datetime.combine(self._today(now) - timedelta(ago), time(3, 30), deps.zone).astimezone(UTC)
            Facts(deps.db, deps.events, FixedClock(then), deps.zone, companion.modules).reflect()
        companion.reflection.goals.tend()
        companion.projections.invalidate()
        self._propose(now)
        companion.reflection.pulse.look_at(SAID)

    def _propose(self, now: datetime) -> None:
        self._ask(
            "create_task",
            {"title": "Ask upstream about the missing sync", "due_date": self._today(now).isoformat()},
            "Some dialogs that were synced in the last days have no completed sync today.",
        )
        pairs = self._deps.dialogs.ambiguous_pairs(limit=1).rows
        if pairs:
            keys = sorted(pairs[0].keys, key=lambda key: (-int(key["chunks"]), str(key["dialog_key"])))
            self._ask(
                "merge_dialog_keys",
                {"kept": keys[0]["dialog_key"], "dropped": keys[-1]["dialog_key"]},
                "The pair has chunks under both orders of its key, so that each search sees only a part of them.",
            )

    def _ask(self, tool: str, params: Mapping[str, Any], why: str) -> None:
        who = ai(ASSISTANT, "Demo assistant", mission_id=MISSION, iteration_id=f"{MISSION}-1", rationale=why)
        self._companion.act.executor.call(tool, dict(params), actor=who)

    def _today(self, now: datetime) -> date:
        return now.astimezone(self._deps.zone).date()


def _searched(row: Mapping[str, Any]) -> Told:
    dialog_key = row["dialog_key"] or ""
    asked = {name: row[name] for name in ("query_hash", "query_len", "compose_mode", "results", "fallback", "model")}
    ms = {"latency_ms": sum(row[name] for name in ("embed_ms", "database_ms", "score_ms")), "embed_ms": row["embed_ms"]}
    more = {"dialog_key": dialog_key, "limit": row["asked_limit"], "top_score": row["top_score"], "scope": row["scope"]}
    more |= {"request_id": row["request_id"], "weights_version": row["weights_version"]}
    at = datetime.fromisoformat(row["at"])
    return Told(("search", row["id"]), "SearchPerformed", at, {**asked, **ms, **more}, None, dialog_key or None)
