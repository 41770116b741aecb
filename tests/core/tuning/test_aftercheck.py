"""What of the live figures asks for a look."""

from __future__ import annotations

from dataclasses import replace

import psycopg

from core.bootstrap import Core
from core.memory.requests import SearchRequest
from core.memory.retrieval import Profile
from core.tuning.aftercheck import SEARCHES_LEAST, AfterCheck, AfterChecks, Figures, figures, findings
from tests.core.tuning.test_loop import bring_into_force
from tests.support.dialogs import body

FINE = Figures(
    searches=100, fallback=0.01, empty=0.0, unjudged=0.5, top_mean=0.8, top_sd=0.05, slots={"note": 6, "summary": 6}
)


def test_nothing_to_say_of_equal_figures() -> None:
    """Equal is fine, and so is better."""
    assert findings(FINE, FINE) == ()
    assert findings(replace(FINE, fallback=0.0), FINE) == ()


def test_each_rule_has_its_word() -> None:
    """What is worse by more than its threshold is named, each by itself."""
    worse = {
        "fallback": replace(FINE, fallback=0.2),
        "empty": replace(FINE, empty=0.1),
        "unjudged": replace(FINE, unjudged=0.9),
        "one_source": replace(FINE, slots={"note": 12.0}),
        "top_score": replace(FINE, top_mean=0.6),
    }
    for word, now in worse.items():
        assert [f.word for f in findings(now, FINE)] == [word]


def test_few_searches_prove_nothing() -> None:
    """Below the least number on either side, and with nothing before, there are no findings."""
    few = replace(FINE, searches=SEARCHES_LEAST - 1)
    assert findings(replace(few, empty=1.0), FINE) == findings(replace(FINE, empty=1.0), few) == ()
    assert findings(FINE, None) == ()
    assert not AfterCheck(2, "", 1, few, FINE, ()).enough and AfterCheck(2, "", 1, FINE, FINE, ()).enough


def test_no_searches_have_no_shares() -> None:
    """Nothing is divided by zero, and what is unknown is None."""
    row = {
        "searches": 0, "fallback": 0, "empty": 0, "returned": 0, "judged": None, "top_mean": None, "top_sd": None,
        "tokens_mean": None, "slots": {}, "first_at": None, "last_at": None,
    }  # fmt: skip
    assert figures(row) == Figures(0)
    assert AfterCheck(2, "", 1, figures(row), FINE, ()).top_shift is None


def search_many(core: Core, version: int, *, empty: int) -> None:
    """Live searches of a profile as they are recorded, `empty` of them without a result."""
    for number in range(SEARCHES_LEAST):
        key = "nobody" if number < empty else "k1"
        assert core.search.search(SearchRequest(key, f"trust {number}")).weights_version == version
    assert core.retrievals.recorder.flush(10)


def test_live_searches_are_judged_and_told_once(core: Core, dsn: str) -> None:
    """Enough searches on both sides: what is worse stands in one event, however often and in whichever process it is
    looked at; another finding is another event. After the way back the profile taken out is what was before."""
    core.ingest.ingest(body("k1"))
    search_many(core, 1, empty=0)
    version = bring_into_force(core, dsn, Profile("words", weights={"note": 0.18}, fusion=0.35))
    assert not core.after_checks.look().enough
    search_many(core, version, empty=4)
    found = core.after_checks.look()
    assert found.enough and (found.version, found.before_version) == (version, 1)
    assert (found.now.searches, found.now.empty) == (SEARCHES_LEAST, 4 / SEARCHES_LEAST)
    assert "empty" in [f.word for f in found.findings]
    core.after_checks.look()
    AfterChecks(core.db, core.events).look()

    def told() -> list[str]:
        return [e.record_id or "" for e in core.events.store.query(type="ProfileAfterCheck", limit=20).rows]

    assert told() == [f"profile:{version}"]
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("update memory_retrievals set fallback = true where weights_version = %s", (version,))
    assert "fallback" in [f.word for f in core.after_checks.look().findings]
    assert told() == [f"profile:{version}"] * 2

    core.loop.revert(version)
    back = core.after_checks.look()
    assert (back.version, back.before_version) == (1, version) and not back.enough
    assert back.before is not None and back.before.searches == SEARCHES_LEAST
