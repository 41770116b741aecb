"""The one grade that counts: latest of each judge, people before models, the lower of two that differ."""

from __future__ import annotations

from dataclasses import replace

from core.tuning.labels import LabelledQuery, QuerySet
from tests.support.labelled import judgement

QUERY = LabelledQuery("q1", "d1", "words")


def asked(*judgements):  # type: ignore[no-untyped-def]
    return replace(QUERY, judgements=judgements)


def test_models_count_only_when_asked_for() -> None:
    """Labels of a model are left out, and with the switch count where no person judged."""
    query = asked(
        judgement("a", 3, label_source="llm", judge="m"), judgement("b", 1), judgement("b", 3, label_source="llm")
    )
    assert query.grades() == {"b": 1}
    assert query.grades(llm=True) == {"a": 3, "b": 1}


def test_of_two_judges_the_lower_grade_counts_and_the_dispute_shows() -> None:
    """A model that differs from a person is no dispute between people."""
    query = asked(
        judgement("a", 3, judge="x"),
        judgement("a", 1, judge="y"),
        judgement("b", 2),
        judgement("b", 0, label_source="llm"),
    )
    assert query.grades() == {"a": 1, "b": 2}
    assert [j.grade for j in query.disputed()["a"]] == [3, 1] and set(query.disputed()) == {"a"}


def test_a_chunk_that_is_gone_counts_for_nothing_and_is_named() -> None:
    """It can be found by no profile."""
    query = asked(judgement("a", 3, present=False, source_id="n7"), judgement("b", 0))
    assert query.grades() == {"b": 0}
    assert [j.source_id for j in query.gone()] == ["n7"]
    assert QuerySet("s", "n", None, 1, (query,)).gone == 1
