"""What of the live figures asks for a look."""

from __future__ import annotations

from dataclasses import replace

from core.tuning.aftercheck import SEARCHES_LEAST, AfterCheck, Figures, figures, findings

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
