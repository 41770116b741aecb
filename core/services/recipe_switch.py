"""The job that switches the recipe. Searches go on under the old name until the last message has its new vector, which
waits beside the table; one transaction then puts them all in place and makes the new name the active one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from core.db.client import Database
from core.db.rows import batches
from core.embedding.provider import Embedder
from core.embedding.recipe import Recipe, recipe_of, split_name, with_recipe
from core.errors import ConflictError
from core.events.emitter import Events
from core.jobs.run import JobRun
from core.memory.store import ChunkStore
from core.memory.text import is_blank
from core.services.chunk_vectors import vector_rows
from core.services.embedder import ActiveEmbedder
from core.services.other_writer import AnotherWriter, other_writer
from core.services.recipe_setting import RecipeSetting
from core.services.reembed import BATCH, PAGE

SWITCH_TIMEOUT_S = 900.0  # one transaction over the table; its statement timeout is the same


class RecipeSwitch:
    """Handler of the job. Stopped or killed at any point it goes on where the database says that it is."""

    def __init__(self, db: Database, embedder: ActiveEmbedder, setting: RecipeSetting, events: Events) -> None:
        self._db = db
        self._store = ChunkStore(db)
        self._embedder = embedder
        self._setting = setting
        self._events = events

    def run(self, run: JobRun) -> Mapping[str, Any]:
        """Params: recipe, from, to (names of models). Errors: ConflictError where what it was started for no longer is,
        AnotherWriter, those of the embedder, DatabaseError; searches then go on as before."""
        target: Recipe = run.params["recipe"]
        source, goal = str(run.params["from"]), str(run.params["to"])
        base = self._embedder.base()
        if base.name != split_name(goal)[0]:
            raise ConflictError(
                f"The model is {base.name} now, and was {split_name(goal)[0]} when this was started.",
                hint="Start it again for the model that is active.",
            )
        embedder, active = with_recipe(base, target), self._setting.fresh()
        if active not in (target, recipe_of(source)):
            raise ConflictError("The active recipe changed since this was started.", hint="Start it again.")
        if active != target:
            began = time.perf_counter()
            self._stage(run, embedder, source, goal)
            while not self._switched(run, target, source, goal, began):
                self._stage(run, embedder, source, goal)  # an ingest wrote meanwhile
            self._setting.fresh()
        run.result["left_over"] = self._leftovers(run, embedder, source, goal)
        return dict(run.result)

    def _stage(self, run: JobRun, embedder: Embedder, source: str, goal: str) -> None:
        """Every message without a waiting vector gets one; what a former run staged is not embedded again."""
        held = self._db.rpc("desk_recipe_summary", {"p_from": source, "p_to": goal}, read=True, returns=dict)
        done, total, after = int(held["waiting"]), int(held["messages"]), None
        began, before = time.perf_counter(), done
        run.progress(done, total, f"{done:,} messages embedded as {goal}; searches use {source}")
        while rows := self._page(source, goal, after, everything=False):
            for batch in batches(rows, BATCH):
                run.check()
                blank = [_blank_row(row) for row in batch if is_blank(row["text"])]
                params = {"p_rows": [*vector_rows(embedder, batch, self._store), *blank], "p_to": goal}
                done += int(self._db.rpc("desk_stage_vectors", params, read=False, returns=dict)["written"])
                after = batch[-1]["id"]
                rate = (done - before) / max(time.perf_counter() - began, 1e-6)
                run.result.update(staged=done, rate_per_s=round(rate, 2))
                run.progress(done, max(total, done), f"{done:,} messages embedded as {goal}; searches use {source}")
                run.save({"staged": done})

    def _switched(self, run: JobRun, target: Recipe, source: str, goal: str, began: float) -> bool:
        """Try it: False while a message lacks its vector."""
        refused = other_writer(self._db, split_name(goal)[0]).refusal(target)
        if refused:
            raise AnotherWriter(refused, hint="Nothing was switched; searches go on as before.")
        run.check()
        seconds = time.perf_counter() - began
        facts = {"from_model": source, "to_model": goal, "recipe": target, "duration_ms": round(seconds * 1000, 1)}
        event = self._events.prepare("EmbeddingRecipeSwitched", facts)
        params = {"p_recipe": target, "p_from": source, "p_to": goal, "p_event": event.row()}
        answer = self._db.rpc("desk_switch_recipe", params, read=False, returns=dict, timeout_s=SWITCH_TIMEOUT_S)
        if answer["switched"]:
            self._events.announce(event)
            run.result.update(chunks=int(answer["chunks"]), embedded=int(answer["embedded"]))
        return not answer["missing"]

    def _leftovers(self, run: JobRun, embedder: Embedder, source: str, goal: str) -> int:
        """Chunks that an ingest wrote under the old name while the switch took place."""
        written, after = 0, None
        while rows := self._page(source, goal, after, everything=True):
            for batch in batches(rows, BATCH):
                run.check()
                params = {"p_rows": vector_rows(embedder, batch, self._store), "p_model": goal}
                written += int(self._db.rpc("desk_reembed_chunks", params, read=False, returns=dict)["written"])
                after = batch[-1]["id"]
        return written

    def _page(self, source: str, goal: str, after: str | None, *, everything: bool) -> list[dict[str, Any]]:
        params = {"p_from": source, "p_to": goal, "p_after": after, "p_limit": PAGE, "p_all": everything}
        return self._db.rpc("desk_recipe_chunks", params, read=True, returns=list)


def _blank_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A blank message has nothing to embed, and keeps the vector that it has."""
    return {"id": row["id"], "text_hash": sha256(row["text"].encode()).hexdigest(), "embedding": None}
