"""The Tuning page: query sets, judging, evaluating. Full, empty, broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable
from core.memory.keys import both_keys
from core.tuning.labelling import Labelling
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]
TIPS, _ = both_keys("ru-1", "tu-9")
QUERIES = ["what does he worry about?", f"odd {ODD}"]


@pytest.fixture
def labelled(stored: Core) -> Core:
    """A set with two queries about one dialog."""
    made = stored.tuning.labels.create("first set")
    stored.tuning.labels.add(made, TIPS, QUERIES, category="facts")
    return stored


def view(open_page: Open, name: str) -> AppTest:
    at = open_page("tuning")
    return calm(at.segmented_control(key="view").set_value(name).run())


def press(at: AppTest, key: str) -> AppTest:
    return calm(at.button(key=key).click().run())


@pytest.mark.parametrize("name", ["sets", "judge", "evaluate"])
def test_empty_says_what_to_do(core: Core, open_page: Open, name: str) -> None:
    """A fresh database: each view stands and names the next step."""
    assert "There is no query set yet" in texts(view(open_page, name))


@pytest.mark.parametrize("name", ["sets", "judge", "evaluate"])
def test_broken_is_not_empty(labelled: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A database that is away is said, with a retry."""

    def away(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    monkeypatch.setattr(Labelling, "sets", away)
    assert "cannot be shown" in texts(view(open_page, name))


def test_sets_and_their_queries(labelled: Core, open_page: Open) -> None:
    """Counts by set; the queries of the one in hand, text as it is."""
    [row] = labelled.tuning.labels.sets()
    at = open_page("tuning", session={"desk.kept.tuning.set": row.id})
    calm(at)
    frames = [d.value for d in at.dataframe]
    assert any(list(f.get("name", [])) == ["first set"] for f in frames)
    assert any(list(f.get("query", [])) == QUERIES for f in frames)


def test_a_set_and_queries_are_made_on_the_page(stored: Core, open_page: Open) -> None:
    """Named, filled with one query a line, counted."""
    at = open_page("tuning")
    at.text_input(key="new-set-name").set_value("mine")
    next(b for b in at.button if b.label == "Create").click().run()
    calm(at)
    at.text_area(key="label-text-0").set_value("one thing\n\n  another  \n")
    next(b for b in at.button if b.label == "Add").click().run()
    assert "2 queries added" in texts(calm(at))
    [row] = stored.tuning.labels.sets()
    given = stored.tuning.labels.query_set(row.id)
    assert [q.query for q in given.queries] == ["one thing", "another"]


def test_grading_goes_from_chunk_to_chunk(labelled: Core, open_page: Open) -> None:
    """A grade is stored with its reason and the next ungraded chunk comes up; back, and graded again."""
    at = view(open_page, "judge")
    at.text_input(key="why-0").set_value("says so")
    press(at, "grade-3")
    press(at, "grade-0")
    [row] = labelled.tuning.labels.sets()
    query = labelled.tuning.labels.query_set(row.id).queries[0]
    assert [(j.grade, j.why) for j in query.judgements] == [(3, "says so"), (0, None)]
    assert "2 of " in str(at.get("progress")[0].proto.text) or "2 of" in texts(at)
    press(press(at, "chunk-back"), "grade-1")
    again = labelled.tuning.labels.query_set(row.id).queries[0]
    assert sorted((j.grade, j.times) for j in again.judgements) == [(1, 2), (3, 1)]


def test_the_order_on_the_sheet_hides_who_ranked_what(labelled: Core, open_page: Open) -> None:
    """No score, no rank, no profile stands beside a chunk."""
    at = view(open_page, "judge")
    sheet = next(d.value for d in at.dataframe if "mine" in d.value)
    assert set(sheet.columns) == {"place", "mine", "others", "source", "text", "why"}


def test_an_evaluation_is_read_on_the_page(labelled: Core, open_page: Open) -> None:
    """Two profiles, the verdict with its rule, every figure with its coverage, and it stands in the list."""
    [row] = labelled.tuning.labels.sets()
    for query in labelled.tuning.labels.query_set(row.id).queries:
        sheet = labelled.tuning.labels.sheet(query, [labelled.profiles.active()])
        labelled.tuning.labels.judge(query.id, [i for c in sheet.chunks for i in c.ids], 1)
    at = view(open_page, "evaluate")
    press(at, "evaluate-do")
    [made] = labelled.tuning.evaluations.page(query_set=row.id).rows
    assert made.rule in texts(at) and made.verdict in texts(at) + str([b.proto for b in at.get("badge")])
    figures = next(d.value for d in at.dataframe if "baseline_coverage" in d.value)
    assert list(figures["metric"]) == ["recall@12", "nDCG@12", "MRR@12", "precision@12"]
    assert (figures["baseline_coverage"] == 1.0).all()
    assert any("rule" in d.value for d in at.dataframe)


def test_nothing_to_compare_is_said(labelled: Core, open_page: Open) -> None:
    """Without a chosen profile nothing is evaluated."""
    at = view(open_page, "evaluate")
    compared = next(m for m in at.multiselect if m.label == "Compared with it")
    compared.set_value([]).run()
    press(at, "evaluate-do")
    assert "Choose a profile" in texts(at)
    [row] = labelled.tuning.labels.sets()
    assert labelled.tuning.evaluations.page(query_set=row.id).total == 0


def test_the_first_pick_of_a_set_counts(labelled: Core, open_page: Open) -> None:
    """A tab that has not chosen yet shows the first set; another one picked there is the one in hand from then on."""
    other = labelled.tuning.labels.create("another set")
    at = view(open_page, "judge")
    box = next(s for s in at.selectbox if s.label == "Query set")
    wanted = next(row.id for row in labelled.tuning.labels.sets() if row.id != box.value)
    calm(box.set_value(wanted).run())
    assert next(s for s in at.selectbox if s.label == "Query set").value == wanted
    assert ("The set has no query" in texts(at)) == (wanted == other)
