"""What has become of a recorded search: its chunks beside those that the same query finds today. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from core.memory.hits import Hit
from core.retrievals.record import RetrievedChunk
from core.retrievals.store import Whereabouts

Change = Literal[
    "same",
    "rank",
    "deleted",
    "excluded",
    "superseded",
    "moved",
    "text",
    "model",
    "dropped",
    "added",
    "entered",
    "weights",
]
# What each change means, in the words of the page.
CHANGES: Mapping[Change, str] = {
    "same": "at the same place",
    "rank": "at another place",
    "deleted": "deleted since",
    "excluded": "excluded since",
    "superseded": "a newer text replaced it",
    "moved": "stands under another dialog key",
    "text": "its text is another one now",
    "model": "of another model now: not comparable",
    "dropped": "below the line today",
    "added": "was not stored then",
    "entered": "newly above the line",
    "weights": "by other weights alone",
}
GONE: frozenset[Change] = frozenset({"deleted", "excluded", "superseded", "moved"})


@dataclass(frozen=True)
class Drift:
    """One chunk, then and today. `rank_now` is its place under the active weights and `rank_before` under the recorded
    ones, both of today's rows; None where it is not among them. `score_now` belongs to `rank_now`."""

    id: str
    source: str
    text: str
    changes: tuple[Change, ...]
    then: RetrievedChunk | None = None
    now: Hit | None = None
    rank_now: int | None = None
    rank_before: int | None = None
    score_now: float | None = None

    @property
    def same(self) -> bool:
        return self.changes == ("same",)


@dataclass(frozen=True)
class Today:
    """One ranking of today's rows: what it takes, and place and score of every candidate by id."""

    hits: tuple[Hit, ...]
    ranks: Mapping[str, int]
    scores: Mapping[str, float]


def compare(
    then: Sequence[RetrievedChunk],
    dialog_key: str | None,
    at: str,
    now: Today,
    before: Today,
    places: Whereabouts,
    model: str,
) -> tuple[Drift, ...]:
    """Recorded chunks by their rank, then what is found only today by its own.

    `now` ranks with the active weights, `before` with the recorded ones; `places` knows both sides' ids. A row that
    gave way to an equal one (a merge, a new ingest) is matched by source and text.
    """
    taken = {hit.id: hit for hit in now.hits}
    taken_before = {hit.id for hit in before.hits}
    known = {chunk.id for chunk in then}
    twins = {(hit.source, hit.text): hit.id for hit in now.hits if hit.id not in known}
    rows: list[Drift] = []
    matched: set[str] = set()
    for chunk in then:
        id = chunk.id if chunk.id in places.stored else twins.get((chunk.source, chunk.text), chunk.id)
        matched.add(id)
        hit = taken.get(id)
        changes = _changes(chunk, id, hit, id in taken_before, dialog_key, places, model)
        rows.append(_drift(chunk, id, hit, changes, now, before))
    for hit in now.hits:
        if hit.id in matched:
            continue
        born = places.stored.get(hit.id, {}).get("created_at")
        change: Change = "added" if _later(born, at) else "weights" if hit.id not in taken_before else "entered"
        rows.append(_drift(None, hit.id, hit, (change,), now, before))
    return tuple(rows)


def _changes(
    chunk: RetrievedChunk,
    id: str,
    hit: Hit | None,
    taken_before: bool,
    dialog_key: str | None,
    places: Whereabouts,
    model: str,
) -> tuple[Change, ...]:
    row = places.stored.get(id)
    if row is None and hit is None:
        return (_gone(places.away.get(id, {}).get("kind")),)
    found: list[Change] = []
    if row is not None:
        if dialog_key is not None and row["dialog_key"] != dialog_key:
            return ("moved",)
        if row["text"] != chunk.text:
            found.append("text")
        if row["model"] != model:
            return (*found, "model")
    if hit is None:
        return (*found, "weights" if taken_before else "dropped")
    if hit.rank != chunk.rank:
        found.append("rank")
    return tuple(found) or ("same",)


def _gone(kind: object) -> Change:
    return "excluded" if kind == "excluded" else "superseded" if kind == "superseded" else "deleted"


def _drift(
    then: RetrievedChunk | None, id: str, hit: Hit | None, changes: tuple[Change, ...], now: Today, before: Today
) -> Drift:
    shown = then or hit
    assert shown is not None
    return Drift(
        id=id,
        source=shown.source,
        text=shown.text,
        changes=changes,
        then=then,
        now=hit,
        rank_now=hit.rank if hit else now.ranks.get(id),
        rank_before=before.ranks.get(id),
        score_now=hit.weighted_score if hit else now.scores.get(id),
    )


def _later(born: object, at: str) -> bool:
    """Whether a row is younger than the record; both are ISO text of the database, with zone."""
    return isinstance(born, str) and datetime.fromisoformat(born) > datetime.fromisoformat(at)
