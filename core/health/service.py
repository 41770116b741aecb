"""Ask every component at once, judge the answers, remember since when, and tell when something changed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.clock import Clock
from core.db.client import Database
from core.errors import CoreError, SchemaMismatch
from core.events.emitter import Events
from core.health import checks
from core.health.changes import Changes
from core.health.history import MigrationFile, judge_history
from core.health.report import ESSENTIAL, Component, HealthReport, Verdict
from core.health.together import Outcome, ask_together

log = logging.getLogger(__name__)

DEADLINE_S = 4.0
# Each request ends a little before the check is given up, so that its own words arrive and its thread ends.
_MARGIN_S = 0.4
_NO_ROWS = "health:none"
_UNIT_VECTOR = "[1" + ",0" * 767 + "]"

# Component -> what it is called, and the question whose answer it is judged by. In the order in which they are shown.
COMPONENTS: Mapping[str, tuple[str, str]] = {
    "auth": ("Auth service", "auth"),
    "database": ("Chunk table", "chunks"),
    "search": ("Match function", "match"),
    "schema": ("Tables and functions", "facts"),
    "protection": ("Row-level security", "facts"),
    "index": ("Vector index", "facts"),
    "migrations": ("Migrations", "applied"),
    "models": ("Embedding models", "memory"),
    "keys": ("Dialog keys", "memory"),
    "rollups": ("Totals", "memory"),
    "embedder": ("Embedder", "embedder"),
    "spool": ("Records on their way", "spool"),
}


class HealthService:
    """Thread-safe; checks asked for at the same time are made once."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        *,
        embedded: bool,
        migrations: Sequence[MigrationFile],
        model: Callable[[], str | None],
        probe: Callable[[], None] | None = None,
        events: Events | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._db = db
        self._clock = clock
        self._embedded = embedded
        self._migrations = migrations
        self._model = model
        self._probe = probe
        self._events = events
        self._changes = Changes(events) if events else None
        self._deadline_s = deadline_s
        self._lock = threading.Lock()
        self._last: tuple[float, HealthReport] | None = None

    def report(
        self, *, max_age_s: float = 0.0, probe_embedder: bool = False, compare_totals: bool = False
    ) -> HealthReport:
        """The state of everything, in at most about `deadline_s`; never raises.

        A report younger than `max_age_s` is given again. `probe_embedder` embeds one word (it may cost money),
        `compare_totals` counts every row: both only on demand.
        """
        asked_at = time.monotonic()
        on_demand = probe_embedder or compare_totals
        with self._lock:
            if self._last and not on_demand and self._last[0] >= asked_at - max_age_s:
                return self._last[1]
            report = self._check(probe_embedder, compare_totals)
            if self._changes:
                self._changes.tell(report)
            # Stamped with its end, so that all who asked while it ran share it instead of queueing for their own.
            self._last = (time.monotonic(), report)
            return report

    def supabase_health(self) -> dict[str, Any]:
        """Body of GET /supabase/health: `ok` only if Auth and the chunk table both work. Never raises."""
        wanted = {
            name: question for name, question in self._questions(False, False).items() if name in ("auth", "chunks")
        }
        outcomes = ask_together(wanted, self._deadline_s)
        auth, table = (self._part(outcomes[name]) for name in ("auth", "chunks"))
        if table["ok"]:
            table["count"] = outcomes["chunks"].value
        return {"ok": auth["ok"] and table["ok"], "auth": auth, "table": {"name": checks.CHUNKS, **table}}

    def memory_status(self) -> dict[str, Any]:
        """Body of GET /memory/status. Never raises for what the database does."""
        try:
            total = self._db.count(checks.CHUNKS, timeout_s=self._deadline_s)
        except CoreError as error:
            missing = isinstance(error, SchemaMismatch)
            return {"ready": False, "table": checks.CHUNKS, "error": str(error), "needsMigration": missing}
        return {"ready": True, "table": checks.CHUNKS, "totalChunks": total}

    def _check(self, probe: bool, compare: bool) -> HealthReport:
        outcomes = ask_together(self._questions(probe, compare), self._deadline_s)
        now = self._clock.now()
        return HealthReport(
            tuple(self._component(name, outcomes[question], now) for name, (_, question) in COMPONENTS.items()), now
        )

    def _questions(self, probe: bool, compare: bool) -> dict[str, Callable[[], Any]]:
        wait = self._deadline_s - _MARGIN_S
        db = self._db
        match = {"query_embedding": _UNIT_VECTOR, "match_dialog_key": _NO_ROWS, "match_count": 1}

        def memory() -> tuple[dict[str, Any], dict[str, Any] | None]:
            compared = db.rpc("desk_check_rollups", {}, read=True, returns=dict, timeout_s=wait) if compare else None
            return db.rpc("desk_overview", {}, read=True, returns=dict, timeout_s=wait), compared

        return {
            "auth": lambda: db.auth_health(wait),
            "chunks": lambda: db.count(checks.CHUNKS, timeout_s=wait),
            "match": lambda: db.rpc("match_client_memory_chunks", match, read=True, returns=list, timeout_s=wait),
            "facts": lambda: db.rpc("desk_health_facts", {}, read=True, returns=dict, timeout_s=wait),
            "applied": lambda: db.rpc("desk_applied_migrations", {}, read=True, returns=list, timeout_s=wait),
            "memory": memory,
            "embedder": lambda: self._ask_embedder(probe),
            "spool": self._look_at_spool,
        }

    def _ask_embedder(self, probe: bool) -> tuple[str | None, bool]:
        model = self._model()
        if probe and self._probe and model is not None:
            self._probe()
            return model, True
        return model, False

    def _look_at_spool(self) -> tuple[int, int, int, float | None]:
        if self._events is None:
            return 0, 0, 0, None
        depth, since = self._events.spool.depth(), self._events.drain.failing_since
        return depth.waiting, depth.in_memory, depth.refused, None if since is None else time.monotonic() - since

    def _component(self, name: str, outcome: Outcome, now: datetime) -> Component:
        label = COMPONENTS[name][0]
        verdict = self._verdict(name, outcome)
        component = Component(
            name, label, verdict.status, verdict.reason, verdict.hint, now, now, outcome.latency_ms, verdict.facts
        )
        before = {c.name: c for c in self._last[1].components}.get(name) if self._last else None
        return replace(component, since=before.since) if before and before.status == component.status else component

    def _verdict(self, name: str, outcome: Outcome) -> Verdict:
        vital = name in ESSENTIAL or name == "search"
        if not outcome.answered:
            reason = f"No answer within {self._deadline_s:g} s."
            return Verdict("down" if vital else "unknown", reason, "Something holds it up: a lock, or a slow network.")
        if isinstance(outcome.error, CoreError):
            down = vital or isinstance(outcome.error, SchemaMismatch) or name == "embedder"
            return Verdict("down" if down else "unknown", outcome.error.what, outcome.error.hint)
        try:
            if outcome.error is not None:
                raise outcome.error
            return self._judge(name, outcome.value)
        except Exception:
            log.exception("the health check %s failed", name)
            return Verdict("unknown", "The check itself failed.", "The log says how.")

    def _judge(self, name: str, value: Any) -> Verdict:
        match name:
            case "auth":
                return Verdict("ok", "Answers.")
            case "database":
                return checks.judge_chunks(value, self._db.role)
            case "search":
                return Verdict("ok", "Answers.")
            case "schema":
                return checks.judge_schema(value)
            case "protection":
                return checks.judge_protection(value)
            case "index":
                return checks.judge_index(value)
            case "migrations":
                return judge_history(self._migrations, value, embedded=self._embedded)
            case "models":
                return checks.judge_models(value[0], self._model())
            case "keys":
                return checks.judge_keys(value[0])
            case "rollups":
                return checks.judge_rollups(*value)
            case "embedder":
                return checks.judge_embedder(*value)
            case _:
                return checks.judge_spool(*value)

    def _part(self, outcome: Outcome) -> dict[str, Any]:
        part: dict[str, Any] = {"ok": outcome.answered and outcome.error is None}
        part["latencyMs"] = round(outcome.latency_ms, 1)
        if not outcome.answered:
            part["error"] = f"No answer within {self._deadline_s:g} s."
        elif outcome.error is not None:
            part["error"] = str(outcome.error) if isinstance(outcome.error, CoreError) else "The check itself failed."
        return part
