"""Which component is judged by the answer to which question, and how."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from core.db.keys import KeyRole
from core.errors import CoreError, PermissionDenied, SchemaMismatch
from core.health import checks, stock
from core.health.corrections import judge_corrections
from core.health.declared import declared
from core.health.history import judge_history
from core.health.report import ESSENTIAL, Verdict
from core.health.together import Outcome

log = logging.getLogger(__name__)

# Component -> what it is called, and the question whose answer it is judged by. In the order in which they are shown.
COMPONENTS: Mapping[str, tuple[str, str]] = {
    "auth": ("Auth service", "auth"),
    "database": ("Chunk table", "chunks"),
    "search": ("Match function", "match"),
    "schema": ("Tables and functions", "facts"),
    "protection": ("Row-level security", "facts"),
    "index": ("Vector index", "facts"),
    "plan": ("Index use", "plan"),
    "migrations": ("Migrations", "applied"),
    "models": ("Embedding models", "memory"),
    "keys": ("Dialog keys", "memory"),
    "rollups": ("Totals", "memory"),
    "usage": ("Usage totals", "counts"),
    "expired": ("Expired snapshots", "counts"),
    "jobs": ("Jobs", "counts"),
    "corrections": ("Corrections", "corrections"),
    "embedder": ("Embedder", "embedder"),
    "spool": ("Records on their way", "spool"),
    "webhook": ("Webhook", "webhook"),
}
# Not a fault where the database is older, or where nothing is configured: then there is no such component.
OPTIONAL = frozenset({"plan", "usage", "expired", "jobs", "corrections", "webhook"})
PUBLIC_KEY = "The key is an anon or publishable key: row-level security and grants hide this from it."


class Judge:
    """From outcomes to verdicts. No I/O."""

    def __init__(self, *, role: KeyRole, embedded: bool, migrations: Any, deadline_s: float) -> None:
        self._role = role
        self._embedded = embedded
        self._migrations = migrations
        self._declared = declared(migrations)
        self._deadline_s = deadline_s
        self._only_demo = False  # as last known: a check without an answer makes no fault of what the demo shows

    def verdict(self, name: str, outcomes: Mapping[str, Outcome], model: str | None) -> Verdict | None:
        """What is to be said of a component; None where there is no such component here."""
        question = COMPONENTS[name][1]
        if question not in outcomes:
            return None
        outcome = outcomes[question]
        vital = name in ESSENTIAL or name == "search"
        if not outcome.answered:
            reason = f"No answer within {self._deadline_s:g} s."
            hint = "Something holds it up: a lock, or a slow network."
            return Verdict("down" if vital else "unknown", reason, hint, code="no_answer")
        if isinstance(outcome.error, CoreError):
            return self._failed(name, outcome.error, vital)
        try:
            if outcome.error is not None:
                raise outcome.error
            return self._judge(name, outcome.value, outcomes, model)
        except Exception:
            log.exception("the health check %s failed", name)
            return Verdict("unknown", "The check itself failed.", "The log says how.", code="check_failed")

    def _failed(self, name: str, error: CoreError, vital: bool) -> Verdict | None:
        missing = isinstance(error, SchemaMismatch)
        if missing and name in OPTIONAL:
            return None
        if isinstance(error, PermissionDenied) and self._role == "anon":
            status = "down" if vital else "unknown"
            return Verdict(status, PUBLIC_KEY, checks.SERVICE_KEY, {"key": self._role}, code="public_key")  # type: ignore[arg-type]
        down = vital or missing or name == "embedder"
        return Verdict("down" if down else "unknown", error.what, error.hint, code=error.code)

    def _judge(self, name: str, value: Any, outcomes: Mapping[str, Outcome], model: str | None) -> Verdict | None:
        daily = _value(outcomes, "counts").get("daily")
        match name:
            case "auth" | "search":
                return Verdict("ok", "Answers.")
            case "database":
                return checks.judge_chunks(value, self._role)
            case "schema":
                return checks.judge_schema(value, self._declared.missing(_value(outcomes, "state")))
            case "protection":
                return checks.judge_protection(value, _value(outcomes, "state").get("unprotected", ()))
            case "index":
                return checks.judge_index(value)
            case "plan":
                return stock.judge_plan(value, daily)
            case "migrations":
                return judge_history(self._migrations, value, embedded=self._embedded)
            case "models":
                return checks.judge_models(value, model)
            case "keys":
                return checks.judge_keys(value)
            case "rollups":
                return checks.judge_rollups(value, daily)
            case "usage":
                return stock.judge_usage(value)
            case "expired":
                if memory := _value(outcomes, "memory"):
                    self._only_demo = checks.only_demo(memory)
                return stock.judge_expired(value, only_demo=self._only_demo)
            case "jobs":
                return stock.judge_jobs(value)
            case "corrections":
                return judge_corrections(value)
            case "embedder":
                return checks.judge_embedder(*value)
            case "webhook":
                return value
            case _:
                return checks.judge_spool(*value)


def _value(outcomes: Mapping[str, Outcome], question: str) -> Mapping[str, Any]:
    """What another question gave, {} where it gave nothing."""
    outcome = outcomes.get(question)
    return outcome.value if outcome and outcome.answered and outcome.error is None else {}
