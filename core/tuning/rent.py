"""Memory rent: what sources and chunks take of the recorded prompts in tokens and USD, against how often a person
judged them relevant there; and what of one dialog says the same twice, is old, or may contradict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from core.access.roles import permit
from core.clock import Clock
from core.db.client import Database
from core.tuning.contradictions import NoteText, contradictions
from core.tuning.rent_report import Chunk, ChunkRent, DialogRent, Rent, RentReport, SourceRent
from core.usage.pricing import Cost, PriceBook, Tokens, cost

NEAR_COSINE = 0.96  # on the demo and the local model: above it pairs that say the same, below 0.95 merely short ones
STALE_DAYS = 180


class RentReads:
    """Thread-safe; `prices` gives the price book, `model` the active embedding model's name."""

    def __init__(
        self, db: Database, clock: Clock, prices: Callable[[], PriceBook], model: Callable[[], str | None]
    ) -> None:
        self._db = db
        self._clock = clock
        self._prices = prices
        self._model = model

    def report(self, dialog_key: str | None = None, since: datetime | None = None) -> RentReport:
        """Of all dialogs or one. SQL: desk_rent. Errors: Forbidden, DatabaseError."""
        permit("judgements")
        params = {"p_dialog_key": dialog_key, "p_since": since.isoformat() if since else None}
        answer = self._db.rpc("desk_rent", params, read=True, returns=dict)
        book = self._prices()
        return RentReport(
            records=int(answer["records"]),
            first_at=answer["first_at"],
            last_at=answer["last_at"],
            capped=bool(answer["capped"]),
            sources=tuple(
                SourceRent(
                    row["source"],
                    _rent(row, book),
                    int(row["records"]),
                    int(row["chunks"]),
                    int(row["relevant_tokens"]),
                    int(row["irrelevant_tokens"]),
                )
                for row in answer["sources"]
            ),
            chunks=tuple(
                ChunkRent(
                    row["chunk_id"],
                    row["dialog_key"],
                    row["source"],
                    row["text"],
                    _rent(row, book),
                    row["last_at"],
                    int(row["judged_queries"]),
                    int(row["relevant_queries"]),
                    bool(row["stored"]),
                )
                for row in answer["chunks"]
            ),
            chunks_in_prompts=int(answer["chunks_in_prompts"]),
        )

    def dialog(self, dialog_key: str, *, cosine: float = NEAR_COSINE, days: int = STALE_DAYS) -> DialogRent:
        """Findings in one dialog. SQL: desk_rent_dialog. Errors: Forbidden, DatabaseError."""
        permit("judgements")
        params = {"p_dialog_key": dialog_key, "p_model": self._model() or "", "p_cosine": cosine, "p_days": days}
        answer = self._db.rpc("desk_rent_dialog", params, read=True, returns=dict)
        rows = {id: Chunk(id, **row) for id, row in answer["rows"].items()}
        notes = [NoteText(id, rows[id].text, rows[id].note_date) for id in answer["notes"]]
        return DialogRent(
            chunks=int(answer["chunks"]),
            comparable=int(answer["comparable"]),
            compared=int(answer["compared"]),
            equal=tuple(tuple(rows[id] for id in ids) for ids in answer["equal"]),
            equal_total=int(answer["equal_total"]),
            near=tuple((rows[pair["a"]], rows[pair["b"]], float(pair["cosine"])) for pair in answer["near"]),
            near_total=int(answer["near_total"]),
            old=tuple((rows[o["id"]], bool(o["aged"]), bool(o["superseded"])) for o in answer["old"]),
            old_total=int(answer["old_total"]),
            contradictions=tuple(contradictions(notes)),
            notes=len(notes),
            notes_total=int(answer["notes_total"]),
        )


def _rent(row: Mapping[str, Any], book: PriceBook) -> Rent:
    return Rent(
        int(row["places"]),
        int(row["tokens"]),
        int(row["relevant"]),
        int(row["irrelevant"]),
        _cost(row["calls"], book),
    )


def _cost(calls: Sequence[Mapping[str, Any]], book: PriceBook) -> Cost:
    """At the input price of each day's model; a day takes the price that stands at its noon."""
    total = Cost()
    for call in calls:
        tokens = Tokens.of_call(int(call["tokens"]), 0, None, None)
        if call["model"] is None:
            total += Cost(unpriced=tokens.prompt)
            continue
        noon = datetime.fromisoformat(f"{call['day']}T12:00:00").replace(tzinfo=UTC)
        total += cost(tokens, call["provider"] or "", call["model"], 0, noon, book)
    return total
