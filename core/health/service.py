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
from core.health.history import MigrationFile
from core.health.judging import COMPONENTS, Judge
from core.health.report import Component, HealthReport, Verdict
from core.health.slow import Slowness
from core.health.together import Outcome, ask_together

log = logging.getLogger(__name__)

DEADLINE_S = 4.0
# Each request ends a little before the check is given up, so that its own words arrive and its thread ends.
_MARGIN_S = 0.4
_NO_ROWS = "health:none"
_UNIT_VECTOR = "[1" + ",0" * 767 + "]"
# Those whose time says something about the database, and not about how much there is to look at.
_TIMED = ("auth", "database", "search")


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
        webhook: Callable[[], Verdict] | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._db = db
        self._clock = clock
        self._judge = Judge(role=db.role, embedded=embedded, migrations=migrations, deadline_s=deadline_s)
        self._slowness = Slowness()
        self._model = model
        self._probe = probe
        self._events = events
        self._webhook = webhook
        self._deadline_s = deadline_s
        self.daily: dict[str, Any] | None = None  # what the daily checks last found, as of the last report
        self._lock = threading.Lock()
        self._last: tuple[float, HealthReport] | None = None

    def report(self, *, max_age_s: float = 0.0, probe_embedder: bool = False) -> HealthReport:
        """The state of everything, in at most about `deadline_s`; never raises.

        A report younger than `max_age_s` is given again. `probe_embedder` embeds one word: it may cost money.
        """
        asked_at = time.monotonic()
        with self._lock:
            if self._last and not probe_embedder and self._last[0] >= asked_at - max_age_s:
                return self._last[1]
            report = self._check(probe_embedder)
            # Stamped with its end, so that all who asked while it ran share it instead of queueing for their own.
            self._last = (time.monotonic(), report)
            return report

    def supabase_health(self) -> dict[str, Any]:
        """Body of GET /supabase/health: `ok` only if Auth and the chunk table both work. Never raises."""
        wanted = {name: question for name, question in self._questions(False).items() if name in ("auth", "chunks")}
        outcomes = ask_together(wanted, self._deadline_s)
        auth, table = (self._part(outcomes[name]) for name in ("auth", "chunks"))
        if table["ok"]:
            table["count"] = outcomes["chunks"].value
            if self._db.role == "anon" and not table["count"]:
                table |= {"ok": False, "error": checks.judge_chunks(0, "anon").reason}
        return {"ok": auth["ok"] and table["ok"], "auth": auth, "table": {"name": checks.CHUNKS, **table}}

    def memory_status(self) -> dict[str, Any]:
        """Body of GET /memory/status. Never raises for what the database does."""
        try:
            total = self._db.count(checks.CHUNKS, timeout_s=self._deadline_s)
        except CoreError as error:
            missing = isinstance(error, SchemaMismatch)
            return {"ready": False, "table": checks.CHUNKS, "error": str(error), "needsMigration": missing}
        if self._db.role == "anon" and not total:
            reason = checks.judge_chunks(0, "anon").reason
            return {"ready": False, "table": checks.CHUNKS, "error": reason, "needsMigration": False}
        return {"ready": True, "table": checks.CHUNKS, "totalChunks": total}

    def _check(self, probe: bool) -> HealthReport:
        outcomes = ask_together(self._questions(probe), self._deadline_s)
        now = self._clock.now()
        counts = outcomes["counts"]
        if counts.answered and counts.error is None:
            self.daily = counts.value.get("daily")
        found = (self._component(name, outcomes, now) for name in COMPONENTS)
        return HealthReport(tuple(component for component in found if component), now)

    def _questions(self, probe: bool) -> dict[str, Callable[[], Any]]:
        wait = self._deadline_s - _MARGIN_S
        db = self._db
        match = {"query_embedding": _UNIT_VECTOR, "match_dialog_key": _NO_ROWS, "match_count": 1}
        questions: dict[str, Callable[[], Any]] = {
            "auth": lambda: db.auth_health(wait),
            "chunks": lambda: db.count(checks.CHUNKS, timeout_s=wait),
            "match": lambda: db.rpc("match_client_memory_chunks", match, read=True, returns=list, timeout_s=wait),
            "facts": lambda: db.rpc("desk_health_facts", {}, read=True, returns=dict, timeout_s=wait),
            "state": lambda: db.rpc("desk_schema_state", {}, read=True, returns=dict, timeout_s=wait),
            "plan": lambda: db.rpc("desk_match_plan", {}, read=True, returns=dict, timeout_s=wait),
            "applied": lambda: db.rpc("desk_applied_migrations", {}, read=True, returns=list, timeout_s=wait),
            "memory": lambda: db.rpc("desk_overview", {}, read=True, returns=dict, timeout_s=wait),
            "counts": lambda: db.rpc("desk_health_counts", {}, read=True, returns=dict, timeout_s=wait),
            "corrections": lambda: db.rpc("desk_corrections_state", {}, read=True, returns=dict, timeout_s=wait),
            "embedder": lambda: self._ask_embedder(probe),
            "spool": self._look_at_spool,
        }
        return questions | ({"webhook": self._webhook} if self._webhook else {})

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

    def _component(self, name: str, outcomes: Mapping[str, Outcome], now: datetime) -> Component | None:
        label, question = COMPONENTS[name]
        verdict = self._judge.verdict(name, outcomes, self._model_now(outcomes))
        if verdict is None:
            return None
        latency = outcomes[question].latency_ms
        if name in _TIMED:
            slow = self._slowness.see(name, latency if verdict.status in ("ok", "degraded") else None)
            if slow and verdict.status == "ok":
                reason = f"Answers, but slowly: {latency:,.0f} ms, and not only now."
                verdict = Verdict("degraded", reason, "Look at the load of the database.", verdict.facts, "slow")
        code = "" if verdict.status == "ok" else verdict.code or name
        component = Component(
            name, label, verdict.status, verdict.reason, verdict.hint, now, now, latency, verdict.facts, code
        )
        before = {c.name: c for c in self._last[1].components}.get(name) if self._last else None
        return replace(component, since=before.since) if before and before.status == component.status else component

    def _model_now(self, outcomes: Mapping[str, Outcome]) -> str | None:
        """The active model as the embedder's own check found it: asking again could wait as that check did."""
        outcome = outcomes["embedder"]
        return outcome.value[0] if outcome.answered and outcome.error is None else None

    def _part(self, outcome: Outcome) -> dict[str, Any]:
        part: dict[str, Any] = {"ok": outcome.answered and outcome.error is None}
        part["latencyMs"] = round(outcome.latency_ms, 1)
        if not outcome.answered:
            part["error"] = f"No answer within {self._deadline_s:g} s."
        elif outcome.error is not None:
            part["error"] = str(outcome.error) if isinstance(outcome.error, CoreError) else "The check itself failed."
        return part
