"""Labelled queries as they are read: who said what of which chunk, and the one grade that counts. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

LabelSource = Literal["person", "llm"]
GRADES: Mapping[int, str] = {0: "not relevant", 1: "touches on it", 2: "helps", 3: "exactly this"}
QUERY_LIMIT = 2_000
CATEGORY_LIMIT = 60
NOTE_LIMIT = 1_000
NAME_LIMIT = 120


@dataclass(frozen=True)
class Judgement:
    """The latest grade of one judge for one chunk of one query; `times`: how often that judge graded it.

    `present`: the chunk is stored now, under `chunk_id`; else that is the id it had.
    """

    id: str
    chunk_id: str
    content_hash: str
    parts_hash: str
    source: str
    source_id: str | None
    grade: int
    why: str | None
    label_source: LabelSource
    judge: str
    present: bool = True
    times: int = 1
    created_at: str | None = None


@dataclass(frozen=True)
class LabelledQuery:
    """One query over one dialog; `chunks`: how many the dialog holds now."""

    id: str
    dialog_key: str
    query: str
    category: str | None = None
    note: str | None = None
    ru_id: str | None = None
    tu_id: str | None = None
    chunks: int = 0
    created_at: str | None = None
    judgements: tuple[Judgement, ...] = ()

    def counted(self, *, llm: bool = False) -> tuple[Judgement, ...]:
        """The judgements that count: those of people, and with `llm` a model's for chunks that no person judged."""
        people = {j.parts_hash for j in self.judgements if j.label_source == "person"}
        return tuple(j for j in self.judgements if j.label_source == "person" or (llm and j.parts_hash not in people))

    def grades(self, *, llm: bool = False) -> dict[str, int]:
        """The grade that counts, by chunk id, of chunks that are stored: where judges differ, the lowest."""
        found: dict[str, int] = {}
        for j in self.counted(llm=llm):
            if j.present:
                found[j.chunk_id] = min(j.grade, found.get(j.chunk_id, j.grade))
        return found

    def disputed(self) -> dict[str, tuple[Judgement, ...]]:
        """By chunk id, what people said of it where they differ."""
        said: dict[str, list[Judgement]] = defaultdict(list)
        for j in self.judgements:
            if j.label_source == "person":
                said[j.chunk_id].append(j)
        return {chunk: tuple(all_) for chunk, all_ in said.items() if len({j.grade for j in all_}) > 1}

    def gone(self) -> tuple[Judgement, ...]:
        """Judgements of chunks that are no longer stored."""
        return tuple(j for j in self.judgements if not j.present)


@dataclass(frozen=True)
class QuerySet:
    id: str
    name: str
    note: str | None
    version: int
    queries: tuple[LabelledQuery, ...] = field(default_factory=tuple)
    archived_at: str | None = None

    def query(self, id: str) -> LabelledQuery | None:
        return next((q for q in self.queries if q.id == id), None)

    @property
    def categories(self) -> tuple[str, ...]:
        return tuple(sorted({q.category for q in self.queries if q.category}))

    @property
    def gone(self) -> int:
        """Judgements of chunks that are no longer stored; they count for nothing until the chunk is back."""
        return sum(len(q.gone()) for q in self.queries)


@dataclass(frozen=True)
class SetSummary:
    """A query set in the list; `judgements` counts the latest of each judge, `llm` those of models among them."""

    id: str
    name: str
    note: str | None
    version: int
    queries: int
    dialogs: int
    judgements: int
    llm: int
    judged: int
    with_relevant: int
    created_at: str
    updated_at: str
    archived_at: str | None = None


def by_dialog(queries: Iterable[LabelledQuery]) -> dict[str, list[LabelledQuery]]:
    """Queries by the dialog they ask about, in their order."""
    found: dict[str, list[LabelledQuery]] = defaultdict(list)
    for query in queries:
        found[query.dialog_key].append(query)
    return dict(found)
