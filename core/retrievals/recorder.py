"""Writes what searches returned into the retrieval record, without failing or delaying one of them."""

from __future__ import annotations

import hashlib
import logging
import threading
import uuid
from collections import deque
from typing import Any

from core.clock import Clock
from core.db.client import Database
from core.db.failures import refuses_values
from core.errors import CoreError
from core.events.actor import LOCAL_OPERATOR, current_actor
from core.memory.hits import AcrossResult, Exploration, Hit, SearchResult
from core.memory.notices import Notice
from core.memory.prompt import prompt_block, prompt_line
from core.memory.requests import AcrossRequest, SearchRequest
from core.memory.retrieval import Profile
from core.retrievals.record import block_hash
from core.tokens import estimate_tokens

log = logging.getLogger(__name__)

Found = SearchResult | Exploration | AcrossResult
WRITE_S = 5.0
RETRY_S = 2.0  # after a write that failed
BATCH = 20
WAITING_MOST = 500  # texts of searches in memory: some 10 kB each
WAITS = Notice("record", "Searches cannot be recorded at the moment: Prompt audit may miss this one. It is complete.")


class Recorder:
    """One per process, thread-safe. Searches do not wait for it: a thread of its own writes what they leave.

    While the database is away they are kept in memory and written later, the oldest given up beyond WAITING_MOST.
    """

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._state = threading.Condition()
        self._waiting: deque[dict[str, Any]] = deque()
        self._busy = False
        self._failing = False
        self._closing = False
        self._thread: threading.Thread | None = None

    def record(self, request: SearchRequest | AcrossRequest, found: Found, hits: tuple[Hit, ...]) -> Notice | None:
        """Leave one search to be written; a notice while the writes fail. Never raises."""
        try:
            row = self.row(request, found, hits)
        except Exception as bug:
            # Not the message: it may hold dialog text.
            log.error("a search was not recorded: %s", type(bug).__name__)
            return WAITS
        with self._state:
            if self._closing:
                return WAITS
            if len(self._waiting) >= WAITING_MOST:
                self._waiting.popleft()
                log.warning("more searches wait to be recorded than can be kept; the oldest was given up")
            self._waiting.append(row)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="retrieval record", daemon=True)
                self._thread.start()
            self._state.notify_all()
            return WAITS if self._failing else None

    def flush(self, timeout_s: float = 1.0) -> bool:
        """Wait until everything is written; False where writes fail or it takes longer."""
        with self._state:
            return self._state.wait_for(lambda: self._idle() or self._failing, timeout_s) and self._idle()

    def close(self, timeout_s: float = 5.0) -> None:
        """Write what waits, then stop. Idempotent."""
        with self._state:
            self._closing = True
            self._state.notify_all()
        if self._thread is not None:
            self._thread.join(timeout_s)
        if self._waiting:
            log.warning("%d searches were not recorded", len(self._waiting))

    def _idle(self) -> bool:
        return not self._waiting and not self._busy

    def _work(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: bool(self._waiting) or self._closing)
                batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
                if not batch:
                    return
                self._busy, last = True, self._closing
            done = self._write(batch)
            with self._state:
                self._busy, self._failing = False, not done
                if not done:
                    self._waiting.extendleft(reversed(batch))
                self._state.notify_all()
                if not done and last:
                    return
                if not done:
                    self._state.wait_for(lambda: self._closing, RETRY_S)  # then once more, for the last time

    def _write(self, batch: list[dict[str, Any]]) -> bool:
        """Whether they are off our hands; records that the database refuses for their values are given up."""
        try:
            self._db.rpc("desk_record_retrievals", {"p_records": batch}, read=False, returns=dict, timeout_s=WRITE_S)
        except CoreError as failure:
            if refuses_values(failure) and len(batch) > 1:
                done = [self._write([row]) for row in batch]  # the others are not to be lost with one
                return all(done)
            if refuses_values(failure):
                log.error("%d searches were not recorded (%s)", len(batch), failure.code)
                return True
            if not self._failing:
                log.warning("searches cannot be recorded (%s)", failure.code)
            return False
        except Exception as bug:
            log.error("%d searches were not recorded: %s", len(batch), type(bug).__name__)
        return True

    def row(
        self,
        request: SearchRequest | AcrossRequest,
        found: Found,
        hits: tuple[Hit, ...],
    ) -> dict[str, Any]:
        """The record as desk_record_retrievals takes it."""
        one = request if isinstance(request, SearchRequest) else None
        block = prompt_block(hits) if one else ""
        profile: Profile | None = getattr(found, "profile", None)
        ranked = profile if profile is not None and not profile.plain else None
        actor = current_actor() or LOCAL_OPERATOR
        row: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "at": self._clock.now().isoformat(),
            "request_id": one.request_id if one else None,
            "scope": "dialog" if one else "all",
            "dialog_key": one.dialog_key if one else None,
            "client_id": one.client_id if one else None,
            "query": request.query,
            "query_hash": hashlib.sha256(request.query.encode("utf-8", "surrogatepass")).hexdigest(),
            "query_len": len(request.query),
            "compose_mode": one.compose_mode if one else None,
            "asked_limit": request.limit,
            "model": found.model,
            "fallback": getattr(found, "fallback", False),
            "weights": dict(found.weights),
            "weights_version": found.weights_version,
            "profile": {"name": ranked.name, **ranked.as_json()} if ranked else None,
            "embed_ms": round(found.latency.embed_ms, 3),
            "database_ms": round(found.latency.database_ms, 3),
            "score_ms": round(found.latency.score_ms, 3),
            "total": getattr(found, "total", None),
            "searchable": getattr(found, "searchable", None),
            "other_models": dict(getattr(found, "other_models", {})),
            "results": len(hits),
            "top_score": hits[0].weighted_score if hits else None,
            "tokens": estimate_tokens(block),
            "prompt_hash": block_hash(block) if one else None,
            "actor": actor.as_json(),
        }
        row["chunks"] = [
            _chunk(hit, hit.dialog_key or row["dialog_key"], words=bool(ranked and ranked.fusion)) for hit in hits
        ]
        return row


def _chunk(hit: Hit, dialog_key: str, *, words: bool) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "chunk_id": hit.id,
        "dialog_key": dialog_key,
        "source": hit.source,
        "source_id": hit.source_id,
        "text": hit.text,
        "note_date": hit.note_date,
        "sent_at": hit.sent_at,
        "direction": hit.direction,
        "cosine": hit.cosine,
        "lexical": hit.lexical if words else None,
        "boost": hit.boost,
        "score": hit.weighted_score,
        "tokens": estimate_tokens(prompt_line(hit.rank, hit)),
    }
