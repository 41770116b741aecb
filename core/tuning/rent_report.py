"""What the reads of memory rent give. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from core.tuning.contradictions import Candidate
from core.usage.pricing import Cost


@dataclass(frozen=True)
class Rent:
    """Places in prompts and what they took; each place is relevant, irrelevant or unjudged.

    `cost.usd` is what is known: the input price of the request's longest call, once a request. `unpriced`: tokens of
    records without such a call, or without a price for its model.
    """

    places: int
    tokens: int
    relevant: int
    irrelevant: int
    cost: Cost

    @property
    def unjudged(self) -> int:
        return self.places - self.relevant - self.irrelevant

    @property
    def coverage(self) -> float:
        """The judged share of the places, 0 to 1."""
        return (self.relevant + self.irrelevant) / self.places if self.places else 0.0

    @property
    def relevance(self) -> float | None:
        """The relevant share of the judged places; None where nobody judged."""
        judged = self.relevant + self.irrelevant
        return self.relevant / judged if judged else None


@dataclass(frozen=True)
class SourceRent:
    """`irrelevant_tokens`: those of places judged not relevant."""

    source: str
    rent: Rent
    records: int
    chunks: int
    relevant_tokens: int
    irrelevant_tokens: int


@dataclass(frozen=True)
class ChunkRent:
    """`judged_queries`: labelled queries for which a person graded it, asked or not. `stored`: it is still there."""

    chunk_id: str
    dialog_key: str
    source: str
    text: str
    rent: Rent
    last_at: str
    judged_queries: int
    relevant_queries: int
    stored: bool


@dataclass(frozen=True)
class RentReport:
    """`capped`: only the newest records were counted; `chunks`: the costliest of `chunks_in_prompts`."""

    records: int
    first_at: str | None
    last_at: str | None
    capped: bool
    sources: tuple[SourceRent, ...]
    chunks: tuple[ChunkRent, ...]
    chunks_in_prompts: int

    @property
    def total(self) -> Rent:
        parts = [source.rent for source in self.sources]
        return Rent(
            sum(p.places for p in parts),
            sum(p.tokens for p in parts),
            sum(p.relevant for p in parts),
            sum(p.irrelevant for p in parts),
            sum((p.cost for p in parts), Cost()),
        )


@dataclass(frozen=True)
class Chunk:
    """A stored chunk as a finding shows it; times ISO text."""

    id: str
    source: str
    source_id: str | None
    text: str
    note_date: str | None
    sent_at: str | None


@dataclass(frozen=True)
class DialogRent:
    """Findings in one dialog. Totals count all, the tuples hold the first of them.

    Of `comparable` chunks of the model the newest `compared` were compared by vector; of `notes_total` notes and
    profile lines the newest `notes` were read for contradictions.
    """

    chunks: int
    comparable: int
    compared: int
    equal: tuple[tuple[Chunk, ...], ...]
    equal_total: int
    near: tuple[tuple[Chunk, Chunk, float], ...]
    near_total: int
    old: tuple[tuple[Chunk, bool, bool], ...]  # aged, superseded
    old_total: int
    contradictions: tuple[Candidate, ...]
    notes: int
    notes_total: int
