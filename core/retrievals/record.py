"""One recorded search and the chunks that it returned, as they were. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from core.memory.prompt import prompt_block

Scope = Literal["dialog", "all"]
# One word each, as events hold words alone.
WRONG: Mapping[str, str] = {
    "wrong_dialog": "belongs to another dialog",
    "stale": "no longer true",
    "irrelevant": "has nothing to do with the query",
    "boost": "is here only by its boost",
}
NOT_USED = (
    "Retrieved is not the same as used by the model: this says what could reach the prompt, not what it made of it."
)


@dataclass(frozen=True)
class RetrievedChunk:
    """One chunk of a record: text and dates as the search returned them, `cosine` + `lexical` + `boost` = `score`.

    `tokens` is the estimate for its line of the prompt block; `lexical` is None where no fusion was used.
    """

    rank: int
    id: str
    dialog_key: str
    source: str
    source_id: str | None
    text: str
    cosine: float
    boost: float
    score: float
    tokens: int
    lexical: float | None = None
    note_date: str | None = None
    sent_at: str | None = None
    direction: str | None = None

    @property
    def weighted_score(self) -> float:
        """The score under the name that a row of the RPC has: a record can be printed as a prompt block."""
        return self.score


@dataclass(frozen=True)
class WrongContext:
    """A report that a chunk should not have been there; `withdrawn_at` once it was taken back.

    `recorded`: the record that it is about still exists (known in lists alone).
    """

    id: str
    retrieval: str
    dialog_key: str
    chunk_id: str
    source: str
    rank: int
    reason: str
    at: str
    actor: Mapping[str, Any] = field(default_factory=dict)
    request_id: str | None = None
    withdrawn_at: str | None = None
    recorded: bool = True


@dataclass(frozen=True)
class Retrieval:
    """One search as it was recorded; times are ISO text. `query` is None once an erasure took it.

    `weights` are the boosts used, of profile `weights_version` (None: they came with the request); `profile` holds the
    rest of that profile where there was more than boosts. `tokens` is an estimate, 0 for a search over all dialogs.
    `ru_id` and `tu_id` are today's. Lists leave `chunks` and `wrong` empty and count `reports`; one of a chunk's
    searches has `chunk_rank`.
    """

    id: str
    at: str
    scope: Scope
    query: str | None
    query_hash: str
    query_len: int
    asked_limit: int
    model: str
    results: int
    request_id: str | None = None
    dialog_key: str | None = None
    client_id: str | None = None
    compose_mode: str | None = None
    fallback: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)
    weights_version: int | None = None
    profile: Mapping[str, Any] | None = None
    embed_ms: float = 0.0
    database_ms: float = 0.0
    score_ms: float = 0.0
    total: int | None = None
    searchable: int | None = None
    other_models: Mapping[str, int] = field(default_factory=dict)
    top_score: float | None = None
    tokens: int = 0
    prompt_hash: str | None = None
    actor: Mapping[str, Any] = field(default_factory=dict)
    ru_id: str | None = None
    tu_id: str | None = None
    reports: int = 0
    chunk_rank: int | None = None
    chunks: tuple[RetrievedChunk, ...] = ()
    wrong: tuple[WrongContext, ...] = ()

    @property
    def total_ms(self) -> float:
        return self.embed_ms + self.database_ms + self.score_ms

    @property
    def prompt_block(self) -> str:
        """The block that these chunks make; a search over all dialogs makes none."""
        return prompt_block(self.chunks) if self.scope == "dialog" else ""

    @property
    def block_is_whole(self) -> bool:
        """Whether that block is, character for character, the one of the search."""
        return self.prompt_hash is None or self.prompt_hash == block_hash(self.prompt_block)


def block_hash(block: str) -> str:
    """SHA-256 in hex of a prompt block."""
    return hashlib.sha256(block.encode("utf-8", "surrogatepass")).hexdigest()


def chunk_of(row: Mapping[str, Any]) -> RetrievedChunk:
    """From a row of `memory_retrieval_chunks`."""
    return RetrievedChunk(**_known(RetrievedChunk, {**row, "id": row["chunk_id"]}))


def wrong_of(row: Mapping[str, Any]) -> WrongContext:
    """From a row of `memory_wrong_contexts`."""
    return WrongContext(**_known(WrongContext, row))


def retrieval_of(
    row: Mapping[str, Any], chunks: Sequence[Mapping[str, Any]] = (), wrong: Sequence[Mapping[str, Any]] = ()
) -> Retrieval:
    """From a row of `memory_retrievals` with its chunks and reports. The one place that reads the query's text."""
    parts = {"chunks": tuple(map(chunk_of, chunks)), "wrong": tuple(map(wrong_of, wrong))}
    return Retrieval(**{**_known(Retrieval, row), **parts})


def _known(kind: type, row: Mapping[str, Any]) -> dict[str, Any]:
    return {f.name: row[f.name] for f in fields(kind) if f.name in row}
