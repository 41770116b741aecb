"""The record of calls to models: what for, how long, how many tokens; never what was said. Source: TI-5, CH-10."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

from core.companion.converse.llm.contract import Reply, Request
from core.db.client import Database
from core.errors import DatabaseError

log = logging.getLogger(__name__)


class AiRuns:
    """Thread-safe."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def note(self, request: Request, reply: Reply, outcome: str, *, mission_id: str | None = None) -> None:
        """Keep one call; never raises: an answer is not lost for its record."""
        answer = reply.answer
        run = {
            "task": request.task,
            "tier": reply.tier,
            "model": reply.model,
            "class": reply.content_class,
            "prompt_tokens": answer.prompt_tokens if answer else 0,
            "completion_tokens": answer.completion_tokens if answer else 0,
            "latency_ms": round(reply.latency_ms, 1),
            "outcome": outcome,
            "mission_id": mission_id,
        }
        try:
            self._db.rpc("companion_log_ai_run", {"p_run": run}, read=False, returns=dict)
        except DatabaseError as failure:
            log.warning("a model's call was not recorded (%s)", failure.code)

    def tokens(self, since: datetime, *, mission_id: str | None = None) -> int:
        """Prompt and completion together since then. Errors: DatabaseError."""
        params = {"p_since": since.isoformat(), "p_mission_id": mission_id}
        return int(self._db.rpc("companion_ai_tokens", params, read=True, returns=dict)["tokens"])

    def usage(self, since: datetime, until: datetime, zone: str) -> list[dict[str, Any]]:
        """Rows {day, task, tier, model, outcome, calls, prompt_tokens, completion_tokens, latency_ms} by local day.

        Errors: DatabaseError.
        """
        params = {"p_since": since.isoformat(), "p_until": until.isoformat(), "p_tz": zone}
        rows: list[dict[str, Any]] = self._db.rpc("companion_ai_usage", params, read=True, returns=list)
        return rows

    def prune(self, days: int) -> int:
        """Errors: DatabaseError."""
        return int(self._db.rpc("companion_prune_ai_runs", {"p_days": days}, read=False, returns=dict)["deleted"])
