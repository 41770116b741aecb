"""What is written of a search; and that a search never fails, nor waits, for its record."""

from __future__ import annotations

from typing import Any, cast

import pytest

from core.bootstrap import Core
from core.db.client import Database
from core.embedding.test import TestEmbedder
from core.errors import DatabaseUnavailable, ProviderUnavailable
from core.events.actor import run_as, system
from core.memory.prompt import prompt_block
from core.memory.requests import AcrossRequest, SearchRequest
from core.memory.retrieval import Profile
from core.retrievals import recorder as module
from core.retrievals.record import Retrieval
from core.retrievals.recorder import WAITS, Recorder
from core.tokens import estimate_tokens
from tests.support.dialogs import ODD_KEY, body

REQUEST = SearchRequest(ODD_KEY, "trust")


def latest(core: Core) -> Retrieval:
    found = core.retrievals.store.get(core.retrievals.store.list().rows[0].id)
    assert found is not None
    return found


class Guarded:
    """A database whose writes of records fail while `error` is set; it remembers how many each call brought."""

    def __init__(self, db: Database, error: Exception | None) -> None:
        self.calls: list[int] = []
        self.error = error
        self._db = db

    def rpc(self, name: str, params: Any, **options: Any) -> Any:
        self.calls.append(len(params["p_records"]))
        if self.error is not None:
            raise self.error
        return self._db.rpc(name, params, **options)


def guarded(core: Core, monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> Guarded:
    made = Guarded(core.db, error)
    monkeypatch.setattr(core.retrievals.recorder, "_db", made)
    monkeypatch.setattr(module, "RETRY_S", 0.05)
    return made


def test_every_way_is_recorded(core: Core) -> None:
    """Search, exploration and a search over all dialogs, each with its actor, tokens and the hash of its block."""
    core.ingest.ingest(body(ODD_KEY))
    with run_as(system("rule")):
        result = core.search.search(REQUEST)
    record = latest(core)
    block = prompt_block(result.hits)
    assert (record.actor["kind"], record.actor["source"]) == ("system", "rule")
    assert (record.prompt_block, record.tokens, record.block_is_whole) == (block, estimate_tokens(block), True)
    assert [(c.id, c.score, c.cosine, c.boost, c.lexical) for c in record.chunks] == [
        (hit.id, hit.weighted_score, hit.cosine, hit.boost, None) for hit in result.hits
    ]
    core.search.explore(REQUEST)
    assert [c.id for c in latest(core).chunks] == [hit.id for hit in result.hits]
    core.search.across(AcrossRequest("trust", limit=3))
    over_all = latest(core)
    assert (over_all.scope, over_all.dialog_key, over_all.prompt_block, len(over_all.chunks)) == ("all", None, "", 3)
    assert {chunk.dialog_key for chunk in over_all.chunks} == {ODD_KEY}
    assert core.retrievals.store.totals().records == 3


def test_own_weights_and_fallback(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boosts of the request have no version; an answer by words is marked, with rows of the payload too."""
    core.ingest.ingest(body(ODD_KEY))
    core.search.search(SearchRequest(ODD_KEY, "tea", weights={"note": 0.5}))
    assert (latest(core).weights, latest(core).weights_version) == ({"note": 0.5}, None)

    def away(*_: object) -> None:
        raise ProviderUnavailable("no embedder")

    monkeypatch.setattr(TestEmbedder, "embed_query", away)
    result = core.search.search(SearchRequest(ODD_KEY, "tea", allow_fallback=True, payload=body(ODD_KEY)))
    record = latest(core)
    assert (record.fallback, record.model) == (True, "lexical:128")
    assert [chunk.text for chunk in record.chunks] == [hit.text for hit in result.hits]


def test_a_profile_that_weighs_words(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the profile and the part that words gave are recorded: the parts still sum to the score."""
    core.ingest.ingest(body(ODD_KEY))
    profile = Profile("words", 7, {"note": 0.1}, fusion=0.35, limit=5)
    monkeypatch.setattr(core.search, "active_profile", lambda: profile)
    core.search.search(SearchRequest(ODD_KEY, "topic 3", limit_given=False))
    record = latest(core)
    assert (record.weights_version, record.asked_limit) == (7, 5)
    assert record.profile is not None and record.profile["fusion"] == 0.35
    for chunk in record.chunks:
        assert chunk.lexical is not None
        assert chunk.cosine + chunk.lexical + chunk.boost == pytest.approx(chunk.score, abs=1e-12)


def test_a_failed_write_is_a_warning(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """While writes fail each answer is whole and says so, the API's body too; afterwards all of them are recorded."""
    core.ingest.ingest(body(ODD_KEY))
    good = core.search.search(REQUEST)
    assert core.retrievals.recorder.flush()
    database = guarded(core, monkeypatch, DatabaseUnavailable("away"))
    core.search.search(REQUEST)
    assert not core.retrievals.recorder.flush()
    result = core.search.search(REQUEST)
    assert [hit.id for hit in result.hits] == [hit.id for hit in good.hits]
    assert WAITS in result.warnings
    assert any(w["field"] == "record" for w in result.as_json()["warnings"])
    assert WAITS in core.search.explore(REQUEST).warnings
    database.error = None
    recorder = core.retrievals.recorder
    with recorder._state:
        assert recorder._state.wait_for(recorder._idle, 5)
    assert core.retrievals.store.totals().records == 4
    assert core.search.search(REQUEST).warnings == ()


def test_one_that_is_refused_takes_no_other_along(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that the database will never take is given up alone."""
    core.ingest.ingest(body(ODD_KEY))
    result = core.search.search(REQUEST)
    assert core.retrievals.recorder.flush()
    recorder = core.retrievals.recorder
    rows = [recorder.row(REQUEST, result, result.hits) for _ in range(3)]
    rows[1]["scope"] = "neither"
    assert recorder._write(rows)
    assert core.retrievals.store.totals().records == 3


def test_what_waits_is_bounded_and_written_at_the_end(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest gives way; closing writes the rest, and nothing is taken after it."""
    core.ingest.ingest(body(ODD_KEY))
    monkeypatch.setattr(module, "WAITING_MOST", 3)
    monkeypatch.setattr(module, "RETRY_S", 0.05)
    result = core.search.search(REQUEST)
    assert core.retrievals.recorder.flush()
    database = Guarded(core.db, DatabaseUnavailable("away"))
    recorder = Recorder(cast(Database, database), core.clock)
    recorder.record(REQUEST, result, result.hits)
    assert not recorder.flush()
    for _ in range(5):
        assert recorder.record(REQUEST, result, result.hits) == WAITS
    database.error = None
    recorder.close()
    recorder.close()
    assert recorder.record(REQUEST, result, result.hits) == WAITS
    assert 3 <= core.retrievals.store.totals().records - 1 <= 4


def test_a_bug_of_ours_fails_no_search(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong while a record is made is a warning."""
    core.ingest.ingest(body(ODD_KEY))

    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(core.retrievals.recorder, "row", broken)
    result = core.search.search(REQUEST)
    assert result.hits and WAITS in result.warnings
