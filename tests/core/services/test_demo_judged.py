"""The demo's labelled queries: sixty, every place in the file is a chunk, and they go with the demo data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from core.bootstrap import Core, build_core
from core.clock import FixedClock
from core.config import read_settings
from core.embedding.test import TestEmbedder
from core.services.demo_content import demo_dialogs
from core.services.demo_judged import named, query_sets, write_judged
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.local.server import Endpoint

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
JUDGE = "demo judge"


@pytest.fixture
def desk(env: Mapping[str, str], endpoint: Endpoint) -> Iterator[Core]:
    settings = read_settings({**env, "MEMORY_DESK_DEMO": "on"})
    with build_core(
        settings, endpoint=endpoint, embedder=TestEmbedder(), clock=FixedClock(NOW), background=False
    ) as core:
        yield core


def test_sixty_queries_in_two_sets() -> None:
    """Over a dozen dialogs in three languages, of five categories or more, each with something relevant."""
    sets = query_sets(demo_dialogs(NOW))
    queries = [query for one in sets for query in one["queries"]]
    assert (len(sets), len(queries), len({query["id"] for query in queries})) == (2, 60, 60)
    assert len({query["dialog_key"] for query in queries}) >= 10
    assert len({query["category"] for query in queries}) >= 5
    assert all(query["grades"] and set(query["grades"].values()) <= {1, 2, 3} for query in queries)
    assert all("demo" in one["name"].lower() and one["judge"] == JUDGE for one in sets)


def test_the_same_on_any_day() -> None:
    """Ids and grades do not depend on the day of loading: content hashes hold no date."""
    assert query_sets(demo_dialogs(NOW)) == query_sets(demo_dialogs(datetime(2027, 3, 1, 5, tzinfo=UTC)))


def test_a_query_is_no_text_of_its_dialog() -> None:
    """A query that a chunk repeats word for word would be found by any profile."""
    dialogs = {d.ingests[0].owner.dialog_key: d for d in demo_dialogs(NOW)}
    for one in query_sets(list(dialogs.values())):
        for query in one["queries"]:
            chunks = [c.text for ingest in dialogs[query["dialog_key"]].ingests for c in ingest.chunks]
            assert query["query"] not in chunks


def test_a_place_that_is_none_is_a_mistake() -> None:
    """It is met while loading, and here first; a piece of a long note is named by its number."""
    chunks = [c for d in demo_dialogs(NOW) if d.name == "thomas-olena" for i in d.ingests for c in i.chunks]
    with pytest.raises(ValueError, match="no demo chunk"):
        named("m9999", chunks)
    assert (len(named("to4", chunks)), len(named("to4#2", chunks))) == (2, 1)


def test_loaded_once_and_removed_with_the_demo(desk: Core, dsn: str) -> None:
    """Every chunk of a judged dialog has a grade; a second load adds nothing; nobody else's set goes."""
    desk.demo.load()
    before = {s["name"]: s for s in sets_of(desk)}
    assert sum(s["queries"] for s in before.values()) == 60 and all(s["llm"] == 0 for s in before.values())
    whole = desk.db.rpc("desk_query_set", {"p_id": next(iter(before.values()))["id"]}, read=True, returns=dict)
    for query in whole["queries"]:
        assert len(query["judgements"]) == query["chunks"]
        assert {j["judge"] for j in query["judgements"]} == {JUDGE} and all(j["present"] for j in query["judgements"])
        assert {j["grade"] for j in query["judgements"]} >= {0}
    assert write_judged(desk.db, demo_dialogs(NOW)) == 0
    desk.ingest.ingest(body("k1"))
    mine = "11111111-2222-4333-8444-555555555555"
    params = {"p_id": mine, "p_name": "mine", "p_note": None, "p_event": None}
    desk.db.rpc("desk_create_query_set", params, read=False)
    desk.demo.remove()
    assert [s["id"] for s in sets_of(desk)] == [mine]
    assert desk.db.count("desk_queries") == desk.db.count("desk_judgements") == 0


def sets_of(core: Core) -> list[dict[str, Any]]:
    return core.db.rpc("desk_query_sets_list", {}, read=True, returns=list)
