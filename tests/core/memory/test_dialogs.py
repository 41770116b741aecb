"""Reads over dialogs and chunks as typed rows; the SQL itself is tested beside the migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from core.memory.keys import both_keys
from tests.support.dialogs import ODD_KEY, SpyEmbedder, body, message

if TYPE_CHECKING:
    from core.bootstrap import Core


def test_the_list_sorts_pages_and_counts(core: Core) -> None:
    """Newest first, the undated last; the total is that of all pages."""
    for number in (1, 2, 3):
        core.ingest.ingest(body(f"k{number}", messages=number * 20, notes=()))
    undated = {"dialogKey": "undated", "conversationJson": {"messages": [{"id": 1, "body": "when?"}]}}
    core.ingest.ingest(undated)
    page = core.dialogs.list(limit=2)
    assert (page.total, [row.dialog_key for row in page.rows]) == (4, ["k3", "k2"])
    assert [row.dialog_key for row in core.dialogs.list(limit=2, offset=2).rows] == ["k1", "undated"]
    assert core.dialogs.list(offset=400).rows == ()
    assert core.dialogs.list(sort="last_at", descending=False).rows[-1].dialog_key == "undated"
    row = page.rows[0]
    assert (row.ru_id, row.tu_id, row.favorite_id, row.chunks) == ("ru-1", "tu-9", "fav-1", 66)
    assert row.sources == {"profile": 5, "photo": 1, "conversation": 60}


def test_a_dialog_by_its_exact_key(core: Core) -> None:
    """Characters with a meaning elsewhere are plain here; a prefix is not the key."""
    core.ingest.ingest(body(ODD_KEY))
    core.ingest.ingest(body("k100%"))
    core.ingest.ingest(body("k1000"))
    for key in (ODD_KEY, "k100%"):
        found = core.dialogs.get(key)
        assert found is not None and found.dialog_key == key
    assert core.dialogs.get("k10") is None


def test_a_dialog_by_key_is_the_lists_row(core: Core) -> None:
    """Also where the key is part of many other dialogs' ids: it is looked up, not searched for."""
    core.ingest.ingest(body(None))
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    core.ingest.ingest(body("ru-1"))
    for row in core.dialogs.list().rows:
        assert core.dialogs.get(row.dialog_key) == row


def test_both_keys_of_a_pair_point_at_each_other(core: Core) -> None:
    """Each row says which rule gave its key and where the other one is; the pair is listed as ambiguous."""
    tips, generic = both_keys("ru-1", "tu-9")
    core.ingest.ingest(body(None))
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    rows = {row.dialog_key: row for row in core.dialogs.list().rows}
    assert (rows[tips].order, rows[tips].also_under) == ("tips", generic)
    assert (rows[generic].order, rows[generic].also_under) == ("generic", tips)
    pairs = core.dialogs.ambiguous_pairs()
    assert (pairs.total, pairs.rows[0].ru_id, {key["dialog_key"] for key in pairs.rows[0].keys}) == (
        1,
        "ru-1",
        {tips, generic},
    )
    assert core.dialogs.overview().ambiguous_pairs == 1


def test_text_search_is_literal_and_treats_apostrophes_alike(core: Core) -> None:
    """A per cent sign is no wildcard; the three apostrophes are one."""
    core.ingest.ingest(
        {"dialogKey": "k1", "conversationJson": {"messages": [message(1, "моя сім\u2019я, 100% щастя")]}}
    )
    core.ingest.ingest({"dialogKey": "k2", "conversationJson": {"messages": [message(1, "100 разів")]}})
    for mark in "'\u2019\u02bc":
        assert [row.dialog_key for row in core.dialogs.text_search(f"СІМ{mark}Я").rows] == ["k1"]
    found = core.dialogs.text_search("100%")
    assert [(row.dialog_key, row.hits) for row in found.rows] == [("k1", 1)]


def test_a_walk_over_pages_of_chunks_meets_each_once(core: Core) -> None:
    """250 chunks of one transaction share a moment; the tie is broken, forwards and back."""
    notes = [{"id": f"n{n}", "text": f"Note number {n}."} for n in range(250)]
    core.ingest.ingest({"dialogKey": "k1", "conversationJson": {"notes": notes}})
    pages = [core.dialogs.chunks("k1", limit=25, offset=offset) for offset in range(0, 250, 25)]
    back = [core.dialogs.chunks("k1", limit=25, offset=offset) for offset in range(225, -1, -25)]
    ids = [row.id for page in pages for row in page.rows]
    assert len(set(ids)) == 250
    assert pages == back[::-1]
    beyond = core.dialogs.chunks("k1", offset=300)
    assert (beyond.rows, beyond.total) == ((), 250)


def test_chunks_can_be_filtered_and_are_flagged(core: Core) -> None:
    """By source, by flag, by text; rows of another model than the active one are flagged."""
    core.ingest.ingest(body("k1"))
    assert core.dialogs.chunks("k1", source="note").total == 2
    assert [row.source_id for row in core.dialogs.chunks("k1", text="TRUST").rows] == ["n1"]
    assert core.dialogs.chunks("k1", flag="other_model").total == 0
    row = core.dialogs.chunks("k1", source="note", text="trust").rows[0]
    assert (row.tags, row.embedding_model, row.metadata["originalChunkId"]) == (
        ("note", "trust"),
        "test:768",
        "note:n1:1",
    )


def test_chunks_by_id_keep_the_order_asked_for(core: Core) -> None:
    """Ids that are gone are left out, which is no error."""
    core.ingest.ingest(body("k1"))
    ids = [row.id for row in core.dialogs.chunks("k1", limit=3).rows][::-1]
    gone = "00000000-0000-4000-8000-000000000000"
    assert [row.id for row in core.dialogs.chunks_by_id([ids[0], gone, *ids[1:]])] == ids
    assert core.dialogs.chunks_by_id([]) == ()


def test_the_timeline_counts_by_local_day(core: Core) -> None:
    """A message of 22:30 UTC belongs to the next day in Kyiv."""
    late = {"id": 1, "body": "late", "sent_at": "2026-05-20T22:30:00Z"}
    core.ingest.ingest({"dialogKey": "k1", "conversationJson": {"messages": [late]}})
    assert [(day.day, day.chunks) for day in core.dialogs.timeline("k1", "UTC")] == [("2026-05-20", 1)]
    assert [(day.day, day.chunks) for day in core.dialogs.timeline("k1", "Europe/Kyiv")] == [("2026-05-21", 1)]


def test_totals_follow_ingests_and_the_rollup_equals_the_table(core: Core) -> None:
    """Every source is there, also with 0; models are told apart."""
    assert core.dialogs.overview().chunks == 0
    core.ingest.ingest(body("k1"))
    overview = core.dialogs.overview()
    assert (overview.chunks, overview.dialogs, dict(overview.by_model)) == (14, 1, {"test:768": 14})
    assert overview.by_source == {"note": 2, "profile": 5, "photo": 1, "summary": 0, "conversation": 6}
    assert core.dialogs.check_rollups()["equal"]
    assert core.dialogs.rebuild_rollups()["dialogs"] == 1


@pytest.mark.parametrize("model", ["other:768", None])
def test_flags_follow_the_active_model(core: Core, model: str | None) -> None:
    """What is searchable depends on the embedder in force; without one, nothing is called another's."""
    from core.memory.dialogs import DialogReads

    core.ingest.ingest(body("k1"))
    reads = DialogReads(core.db, lambda: SpyEmbedder(model).name if model else None)
    assert reads.chunks("k1", flag="other_model").total == (14 if model else 0)
