"""Chunks that another embedding model made, embedded again with the one that searches: what it costs, and the job."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from core.access.roles import permit
from core.db.client import Database
from core.embedding.provider import Embedder
from core.embedding.recipe import split_name
from core.errors import ConflictError, InputError
from core.events.emitter import Events
from core.jobs.job import Job
from core.jobs.jobs import Jobs
from core.jobs.run import JobRun
from core.memory.store import ChunkStore
from core.services.chunk_vectors import vector_rows

KIND = "reembed"
BATCH = 32  # as the embedder's: a job that is stopped loses at most one call
SERVICE_MODEL = "gemini-embedding-001:768"
CHARACTERS_A_TOKEN = 4  # the estimate of core.tokens, over a whole table
PROBE = 16
PAGE = 256

Price = Callable[[str], Decimal | None]  # model -> USD per million input tokens, None where no price is known


@dataclass(frozen=True)
class ModelRows:
    """Chunks of one other model; `recent`: written in the last 30 days, `newest` ISO text."""

    model: str
    chunks: int
    characters: int
    dialogs: int
    recent: int
    newest: str | None = None


@dataclass(frozen=True)
class ReembedPreview:
    """What it would take. `tokens` and `minutes` are estimates; `minutes` is None where nobody has measured, `cost_usd`
    where the model costs money and no price is known. `confirm`: why somebody has to say yes first."""

    model: str
    models: tuple[ModelRows, ...]
    chunks: int
    characters: int
    tokens: int
    minutes: float | None
    rate_per_s: float | None
    paid: bool
    cost_usd: Decimal | None
    confirm: str | None
    running: Job | None


class ReembedService:
    """One per process, thread-safe."""

    def __init__(
        self,
        db: Database,
        embedder: Callable[[], Embedder],
        events: Events,
        jobs: Jobs,
        *,
        hosted: bool,
        price: Price | None = None,
    ) -> None:
        self._db = db
        self._embedder = embedder
        self._events = events
        self._jobs = jobs
        self._hosted = hosted
        self._price = price
        self._measured: dict[str, float] = {}
        jobs.register(KIND, self._run, action="reembed", title="Re-embed")

    def preview(self, dialog_key: str | None = None, *, measure: bool = True) -> ReembedPreview:
        """What a job would do and take, of all dialogs or of one. With `measure` a model that costs nothing is timed on
        a few of the texts, once. Errors: Forbidden, ProviderMissing and others of the embedder, DatabaseError."""
        permit("reembed")
        embedder = self._embedder()
        answer = self._db.rpc(
            "desk_other_model_summary", {"p_model": embedder.name, "p_dialog_key": dialog_key}, read=True, returns=dict
        )
        models = tuple(ModelRows(**row) for row in answer["models"])
        chunks, characters = int(answer["chunks"]), int(answer["characters"])
        paid = embedder.name.startswith("gemini-")
        rate = self.rate(embedder, dialog_key, measure=measure and not paid and chunks > 0)
        tokens = -(-characters // CHARACTERS_A_TOKEN)
        price = self._price(embedder.name) if paid and self._price else None
        return ReembedPreview(
            model=embedder.name,
            models=models,
            chunks=chunks,
            characters=characters,
            tokens=tokens,
            minutes=chunks / rate / 60 if rate else None,
            rate_per_s=rate,
            paid=paid,
            cost_usd=price * tokens / 1_000_000 if price is not None else None,
            confirm=self._reason(embedder.name, models),
            running=self._running(),
        )

    def start(self, *, dialog_key: str | None = None, confirmed: bool = False, id: str | None = None) -> Job:
        """Start the job; one at a time, whatever its scope. Errors: Forbidden, JobRunning, InputError where there is
        nothing to do, ConflictError where it needs a yes, and those of `preview`."""
        found = self.preview(dialog_key, measure=False)
        if not found.chunks and (id is None or found.running is None):
            raise InputError("There is no chunk of another model.", hint="Nothing has to be done.", field="dialogKey")
        if found.confirm and not confirmed:
            raise ConflictError(found.confirm, hint="Say yes to it, or leave these rows as they are.")
        params = {"model": found.model, "chunks": found.chunks, "dialog_key": dialog_key}
        return self._jobs.start(KIND, params, key=KIND, id=id)

    def _reason(self, model: str, models: tuple[ModelRows, ...]) -> str | None:
        """On a hosted database whoever writes with another model also searches with it."""
        theirs = next((m for m in models if m.model == SERVICE_MODEL), None)
        if not self._hosted or model == SERVICE_MODEL or theirs is None or not theirs.recent:
            return None
        return (
            f"{theirs.recent:,} chunks of {SERVICE_MODEL} were written here in the last 30 days: another writer is "
            "active, and its searches would no longer find the rows that are embedded again."
        )

    def _running(self) -> Job | None:
        live = self._jobs.list(kind=KIND, live=True, limit=1).rows
        return live[0] if live else None

    def rate(
        self, embedder: Embedder, dialog_key: str | None = None, *, measure: bool, of_model: str | None = None
    ) -> float | None:
        """Texts a second: of the last job with this model, else with `measure` timed here on a few, of chunks of the
        model `of_model` or of any other one than the embedder's."""
        base = split_name(embedder.name)[0]
        for job in self._jobs.list(live=False, limit=20).rows:
            result = job.result or {}
            model = str(job.params.get("model") or job.params.get("to") or "")
            if split_name(model)[0] == base and result.get("rate_per_s"):
                return float(result["rate_per_s"])
        if base not in self._measured and measure:
            if of_model:
                params = {"p_from": of_model, "p_to": "", "p_after": None, "p_limit": PROBE, "p_all": False}
                rows = self._db.rpc("desk_recipe_chunks", params, read=True, returns=list)
            else:
                rows = self._page(embedder.name, dialog_key, None, PROBE)
            if not rows:
                return None
            embedder.embed_documents([row["text"] for row in rows[:1]])  # the model is loaded at its first text
            began = time.perf_counter()
            embedder.embed_documents([row["text"] for row in rows])
            self._measured[base] = len(rows) / max(time.perf_counter() - began, 1e-6)
        return self._measured.get(base)

    def _run(self, run: JobRun) -> Mapping[str, Any]:
        """Batch by batch along the ids. A row that another process has done meanwhile is no longer there to be done."""
        embedder = self._embedder()
        model, dialog_key = run.params["model"], run.params.get("dialog_key")
        if embedder.name != model:
            raise ConflictError(
                f"The active model is {embedder.name} now, and was {model} when this was started.",
                hint="Start it again for the model that is active.",
            )
        after, total = run.cursor.get("after"), int(run.params["chunks"])
        written, passed_over = int(run.cursor.get("written", 0)), int(run.cursor.get("passed_over", 0))
        by_model: Counter[str] = Counter()  # of this run alone, as its event is
        began, before, outcome = time.perf_counter(), written, "failed"
        try:
            while rows := self._page(model, dialog_key, after, PAGE):
                for start in range(0, len(rows), BATCH):
                    outcome = "stopped"
                    run.check()
                    outcome = "failed"
                    batch = rows[start : start + BATCH]
                    new, left = self._write(embedder, batch)
                    written, passed_over, after = written + new, passed_over + left, batch[-1]["id"]
                    by_model.update(row["embedding_model"] or "none" for row in batch)
                    seconds = time.perf_counter() - began
                    run.result.update(
                        written=written, passed_over=passed_over, rate_per_s=round((written - before) / seconds, 2)
                    )
                    done = written + passed_over
                    run.progress(done, max(total, done), f"{written:,} chunks embedded again with {model}")
                    run.save({"after": after, "written": written, "passed_over": passed_over})
            outcome = "done"
        finally:
            self._emit(run, by_model, written - before, passed_over, outcome, time.perf_counter() - began)
        return dict(run.result)

    def _page(self, model: str, dialog_key: str | None, after: str | None, limit: int) -> list[dict[str, Any]]:
        params = {"p_model": model, "p_dialog_key": dialog_key, "p_after": after, "p_limit": limit}
        return self._db.rpc("desk_other_model_chunks", params, read=True, returns=list)

    def _write(self, embedder: Embedder, batch: list[dict[str, Any]]) -> tuple[int, int]:
        rows = vector_rows(embedder, batch, ChunkStore(self._db))
        answer = self._db.rpc(
            "desk_reembed_chunks", {"p_rows": rows, "p_model": embedder.name}, read=False, returns=dict
        )
        return int(answer["written"]), len(batch) - int(answer["written"])

    def _emit(
        self, run: JobRun, by_model: Counter[str], written: int, passed_over: int, outcome: str, seconds: float
    ) -> None:
        dialog_key = run.params.get("dialog_key")
        self._events.emit(
            "ChunksReembedded",
            {
                "dialog_key": dialog_key,
                "from_model": next(iter(by_model)) if len(by_model) == 1 else None,
                "by_model": dict(by_model),
                "to_model": run.params["model"],
                "count": written,
                "passed_over": passed_over,
                "stopped": outcome == "stopped",
                "failed": outcome == "failed",
                "duration_ms": round(seconds * 1000, 1),
            },
            record_id=dialog_key,
        )
