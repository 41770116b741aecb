"""Memory rent: tokens and cost of recorded prompts, what was judged of them, findings in a dialog."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from decimal import Decimal

import psycopg
import pytest

from core.bootstrap import Core
from core.errors import Forbidden
from core.events.actor import LOCAL_OPERATOR, ai, run_as
from core.memory.requests import SearchRequest
from core.usage.pricing import Price
from tests.support.dialogs import body

QUERY = "does he worry about trust"
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def asked(core: Core) -> Core:
    """One dialog, asked three times: twice the same words, once of a request whose calls are on record."""
    core.ingest.ingest(body("k1"))
    request = str(uuid.uuid4())
    core.search.search(SearchRequest("k1", QUERY, request_id=request))
    core.search.search(SearchRequest("k1", QUERY))
    core.search.search(SearchRequest("k1", "long walks"))
    calls = [
        {"provider": "gemini", "model": "g-1", "phase": "context", "promptTokens": 500, "completionTokens": 20},
        {"provider": "gemini", "model": "g-small", "phase": "embed", "promptTokens": 9000, "completionTokens": 0},
    ]
    core.usage.record({"requestId": request, "dialogKey": "k1", "entries": calls})
    core.usage.recorder.flush()
    return core


def judge(core: Core, dsn: str, grades: dict[str, int], *, label: str = "person", judge: str = "ann") -> None:
    """Grade chunks by source id for QUERY, in a set of that name."""
    with psycopg.connect(dsn, autocommit=True) as direct:
        direct.execute(
            "insert into desk_query_sets (id, name) values ('00000000-0000-4000-8000-000000000001', 's')"
            " on conflict do nothing"
        )
        direct.execute(
            "insert into desk_queries (id, query_set, dialog_key, query) values"
            " ('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001', 'k1', %s)"
            " on conflict do nothing",
            (QUERY,),
        )
        for source_id, grade in grades.items():
            direct.execute(
                "insert into desk_judgements"
                " (query_id, dialog_key, chunk_id, content_hash, parts_hash, source, grade, label_source, judge)"
                " select '00000000-0000-4000-8000-000000000002', dialog_key, id, content_hash, 'p', source, %s, %s, %s"
                " from client_memory_chunks where dialog_key = 'k1' and source_id = %s",
                (grade, label, judge, source_id),
            )


def test_tokens_and_places_by_source(asked: Core) -> None:
    """What the records say, added up; every place is unjudged before anybody judged."""
    report = asked.rent.report()
    pages = asked.retrievals.store.list(dialog_key="k1").rows
    records = [asked.retrievals.store.get(row.id) for row in pages]
    chunks = [chunk for record in records if record for chunk in record.chunks]
    assert (report.records, report.capped) == (3, False)
    assert report.total.places == len(chunks) == 36 and report.total.tokens == sum(c.tokens for c in chunks)
    assert {s.source: s.rent.places for s in report.sources} == {
        source: sum(c.source == source for c in chunks) for source in {c.source for c in chunks}
    }
    assert report.total.unjudged == 36 and report.total.coverage == 0 and report.total.relevance is None
    assert sum(c.rent.tokens for c in report.chunks) == report.total.tokens
    assert report.chunks_in_prompts == len({c.id for c in chunks}) == len(report.chunks)


def test_the_price_of_the_requests_longest_call(asked: Core) -> None:
    """Input price of the model that had the memory; the rest is said to have no price, and is not free."""
    before = asked.rent.report().total
    assert not before.cost.priced and before.cost.unpriced == before.tokens
    price = Price("gemini", "g-1", START, Decimal(2), Decimal(8), source="list", source_date=START.date())
    asked.usage.set_price(LOCAL_OPERATOR, price)
    total = asked.rent.report().total
    one = asked.retrievals.store.list(dialog_key="k1").rows[-1].tokens
    assert 0 < total.cost.priced <= one and total.cost.unpriced == total.tokens - total.cost.priced
    assert total.cost.usd == Decimal(2) * total.cost.priced / 1_000_000 and total.cost.lower_bound
    assert sum((c.rent.cost.usd for c in asked.rent.report().chunks), Decimal(0)) == total.cost.usd


def test_relevance_counts_the_same_words_alone(asked: Core, dsn: str) -> None:
    """Twice asked: two places a chunk. Other words stay unjudged, and a model's label is not counted."""
    judge(asked, dsn, {"n1": 3, "n2": 0})
    judge(asked, dsn, {"m1": 3}, label="llm")
    report = asked.rent.report()
    notes = next(s for s in report.sources if s.source == "note")
    texts = [c for c in report.chunks if c.source == "note"]
    assert notes.rent.relevant == 2 * sum(c.text.startswith("He") for c in texts)
    assert notes.rent.irrelevant == 2 and notes.rent.unjudged == notes.rent.places - notes.rent.relevant - 2
    assert report.total.relevant + report.total.irrelevant == notes.rent.relevant + 2
    assert {(c.relevant_queries, c.judged_queries) for c in texts} == {(1, 1), (0, 1)}
    assert notes.irrelevant_tokens > 0 and 0 < report.total.coverage < 1


def test_where_judges_differ_the_lowest_counts(asked: Core, dsn: str) -> None:
    """And of one judge the latest."""
    judge(asked, dsn, {"n2": 0})
    judge(asked, dsn, {"n2": 2})
    assert asked.rent.report().total.relevant == 2
    judge(asked, dsn, {"n2": 0}, judge="bob")
    assert (asked.rent.report().total.relevant, asked.rent.report().total.irrelevant) == (0, 2)


def test_of_one_dialog_and_of_none(asked: Core) -> None:
    """Scope; a chunk that is gone is still what it cost; nothing recorded is nothing."""
    assert asked.rent.report("elsewhere").sources == () and asked.rent.report("elsewhere").total.places == 0
    asked.erasures.erase("k1", "request")
    assert asked.rent.report().records == 0


def test_findings_in_a_dialog(core: Core, dsn: str) -> None:
    """Equal words whatever case and apostrophe, near vectors, notes by age, a candidate for a contradiction."""
    notes = (
        "His daughter Emma is 16 years old.",
        "Emma, his daughter, is 17 years old.",
        "She won't come on Friday",
        "she won’t  come on friday",
    )
    core.ingest.ingest(body("k1", notes=notes))
    found = core.rent.dialog("k1", cosine=0.7, days=30)
    assert found.chunks == found.comparable == found.compared
    assert [sorted(c.source_id or "" for c in group) for group in found.equal] == [["n3", "n4"]]
    assert any({a.source_id, b.source_id} == {"n1", "n2"} for a, b, _ in found.near)
    assert all(cosine >= 0.7 and a.text != b.text for a, b, cosine in found.near)
    assert [(c.first.text, c.second.text, c.rule) for c in found.contradictions] == [(notes[0], notes[1], "number")]
    with psycopg.connect(dsn, autocommit=True) as direct:
        direct.execute("update client_memory_chunks set note_date = current_date - 31 where source_id = 'n1'")
        direct.execute("update client_memory_chunks set note_date = current_date - 29 where source_id <> 'n1'")
    assert [(c.source_id, aged, replaced) for c, aged, replaced in core.rent.dialog("k1", days=30).old] == [
        ("n1", True, False)
    ]
    assert core.rent.dialog("nobody").chunks == 0


def test_a_superseded_note_is_old_and_no_longer_read(core: Core) -> None:
    """It is listed with its reason, and contradicts nobody."""
    core.ingest.ingest(body("k1", notes=("His daughter Emma is 16 years old.",)))
    core.ingest.ingest(body("k1", notes=("His daughter Emma is 17 years old.",)))
    found = core.rent.dialog("k1", days=3650)
    assert [(c.text, replaced) for c, _, replaced in found.old] == [("His daughter Emma is 16 years old.", True)]
    assert found.contradictions == ()


def test_an_ai_may_not(core: Core) -> None:
    """Until a policy says so: it shows texts of people."""
    with run_as(ai("m", "M", mission_id="1", iteration_id="1", rationale="r")), pytest.raises(Forbidden):
        core.rent.report()
