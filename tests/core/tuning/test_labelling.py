"""Query sets and grades through the service, on a database: what survives deletion, a merge, and an erasure."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.errors import Forbidden, InputError, NotFound
from core.events.actor import ai, run_as, user
from core.memory.keys import both_keys
from core.memory.retrieval import SEED, Profile
from core.tuning.labels import LabelledQuery, QuerySet
from core.tuning.plan import Plan
from tests.support.dialogs import body

TIPS, GENERIC = both_keys("ru-1", "tu-9")
QUERY = "does he worry about trust?"
SECRET = "because Taras told her on the phone"


@pytest.fixture
def labelled(core: Core) -> tuple[Core, str]:
    """One dialog of a pair, a set with two queries about it."""
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9", messages=20))
    made = core.tuning.labels.create("first set", "what people ask")
    core.tuning.labels.add(made, TIPS, [QUERY, "what does he like?"], category="facts", note=SECRET)
    return core, made


def first(core: Core, id: str) -> LabelledQuery:
    return core.tuning.labels.query_set(id).queries[0]


def read(core: Core, id: str) -> QuerySet:
    return core.tuning.labels.query_set(id)


def types(core: Core) -> list[str]:
    core.events.flush()
    return [event.type for event in core.events.store.query(app_id="tuning", limit=100).rows]


def test_a_set_and_its_queries(labelled: tuple[Core, str]) -> None:
    """Listed with counts; the same query is added once; a dialog without chunks adds none; each change is a version."""
    core, id = labelled
    again = core.tuning.labels.add(id, TIPS, [QUERY, "new one"])
    assert (again.added, again.present) == (1, 1)
    assert core.tuning.labels.add(id, "nobody", ["x"]).added == 0
    [row] = core.tuning.labels.sets()
    assert (row.name, row.queries, row.dialogs, row.judgements, row.version) == ("first set", 3, 1, 0, 3)
    assert core.tuning.labels.create("again", id=id) == id and len(core.tuning.labels.sets()) == 1
    gone = first(core, id).id
    assert core.tuning.labels.remove(gone) and not core.tuning.labels.remove(gone)


def test_the_sheet_holds_what_every_profile_would_show(labelled: tuple[Core, str]) -> None:
    """The pool of two profiles, without ranks or scores in its order, and chunks judged before stay on it."""
    core, id = labelled
    query = first(core, id)
    narrow = core.tuning.labels.sheet(query, [Profile(weights={"profile": 5.0}, limit=3)], depth=3)
    wide = core.tuning.labels.sheet(query, [SEED, Profile()], depth=12)
    assert len(narrow.chunks) == 3 and {c.row.source for c in narrow.chunks} == {"profile"}
    assert {i for c in wide.chunks for i in c.ids} > set()
    judged = next(c for c in wide.chunks if c.row.id not in {i for n in narrow.chunks for i in n.ids})
    core.tuning.labels.judge(query.id, judged.ids, 2)
    later = core.tuning.labels.sheet(first(core, id), [Profile(weights={"profile": 5.0}, limit=3)], depth=3)
    assert judged.row.id in {c.row.id for c in later.chunks}


def test_a_second_grade_is_another_row_and_the_latest_counts(labelled: tuple[Core, str]) -> None:
    """History is kept with who, why and when; another judge's grade stands beside, and the difference shows."""
    core, id = labelled
    query = first(core, id)
    chunk = core.tuning.labels.sheet(query, [SEED]).chunks[0].row.id
    core.tuning.labels.judge(query.id, [chunk], 1, why="vague")
    core.tuning.labels.judge(query.id, [chunk], 3, why=SECRET)
    with run_as(user("olena", "Olena", ("tuner",))):
        core.tuning.labels.judge(query.id, [chunk], 0)
    now = first(core, id)
    assert {(j.judge, j.grade, j.times) for j in now.judgements} == {("local", 3, 2), ("olena", 0, 1)}
    assert now.grades() == {chunk: 0} and [j.judge for j in now.disputed()[chunk]] == ["local", "olena"]
    told = core.tuning.labels.history(query.id, now.judgements[0].parts_hash)
    assert [(g.judge, g.grade, g.why) for g in told] == [
        ("olena", 0, None),
        ("local", 3, SECRET),
        ("local", 1, "vague"),
    ]
    assert types(core).count("JudgementsGiven") == 3


def test_events_hold_counts_and_no_words(labelled: tuple[Core, str]) -> None:
    """Who graded how many of which dialog; not why, nor the query."""
    core, id = labelled
    query = first(core, id)
    ids = [c.row.id for c in core.tuning.labels.sheet(query, [SEED]).chunks[:2]]
    core.tuning.labels.judge(query.id, ids, 2, why=SECRET)
    core.events.flush()
    rows = core.events.store.query(app_id="tuning", limit=10).rows
    given = rows[0]
    assert given.type == "JudgementsGiven" and given.payload["by_grade"] == {"2": 2}
    assert given.payload["dialog_key"] == TIPS and given.payload["count"] == 2
    assert SECRET not in str([row.payload for row in rows]) and QUERY not in str([row.payload for row in rows])


@pytest.mark.parametrize(("grade", "why", "field"), [(4, "", "grade"), (True, "", "grade"), (1, "w" * 1001, "why")])
def test_an_unusable_grade_is_refused(labelled: tuple[Core, str], grade: Any, why: str, field: str) -> None:
    """Naming the field, before anything is written."""
    core, id = labelled
    with pytest.raises(InputError) as refused:
        core.tuning.labels.judge(first(core, id).id, [str(uuid.uuid4())], grade, why=why)
    assert refused.value.field == field


def test_a_chunk_of_elsewhere_is_refused_whole(labelled: tuple[Core, str]) -> None:
    """One id that the dialog lacks, and none of the grades is written."""
    core, id = labelled
    query = first(core, id)
    chunk = core.tuning.labels.sheet(query, [SEED]).chunks[0].row.id
    with pytest.raises(NotFound):
        core.tuning.labels.judge(query.id, [chunk, str(uuid.uuid4())], 2)
    assert first(core, id).judgements == ()


def test_an_ai_without_leave_may_not_judge(labelled: tuple[Core, str]) -> None:
    """Nor may it see what was judged."""
    core, _ = labelled
    with run_as(ai("m", "M", mission_id="1", iteration_id="1", rationale="x")):
        for act in (lambda: core.tuning.labels.sets(), lambda: core.tuning.labels.create("x")):
            with pytest.raises(Forbidden):
                act()


def _exclude_and_ingest_again(core: Core, chunk: str, dsn: str) -> None:
    core.corrections.exclude([chunk], "other", kind="deleted")
    core.corrections.restore([chunk])


def _reembed(core: Core, chunk: str, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("update client_memory_chunks set embedding_model = 'other:768', updated_at = now()")


def _other_row_of_the_same_content(core: Core, chunk: str, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("update client_memory_chunks set id = gen_random_uuid()")


def _merge(core: Core, chunk: str, dsn: str) -> None:
    core.merges.merge(GENERIC, TIPS)


@pytest.mark.parametrize(
    "change", [_exclude_and_ingest_again, _reembed, _other_row_of_the_same_content, _merge], ids=lambda f: f.__name__
)
def test_grades_survive(labelled: tuple[Core, str], dsn: str, change: Callable[..., None]) -> None:
    """A chunk that was deleted and written again, embedded anew, or moved to the pair's other key keeps its grade."""
    core, id = labelled
    core.ingest.ingest(body(None, clientId="ru-1", womanId="tu-9", messages=2))
    query = first(core, id)
    chunk = core.tuning.labels.sheet(query, [SEED]).chunks[0]
    core.tuning.labels.judge(query.id, [chunk.row.id], 3)
    change(core, chunk.row.id, dsn)
    now = first(core, id)
    [kept] = now.judgements
    assert kept.present and kept.grade == 3
    [stored] = core.dialogs.chunks_by_id([kept.chunk_id])
    assert stored.text == chunk.row.text and stored.dialog_key == now.dialog_key


def test_a_deleted_chunk_is_named_and_counts_for_nothing(labelled: tuple[Core, str]) -> None:
    """Its grade stays, for when it comes back."""
    core, id = labelled
    query = first(core, id)
    chunk = core.tuning.labels.sheet(query, [SEED]).chunks[0].row
    core.tuning.labels.judge(query.id, [chunk.id], 3)
    core.corrections.exclude([chunk.id], "other", kind="deleted")
    now = read(core, id)
    [gone] = now.queries[0].gone()
    assert (gone.source, gone.source_id, gone.chunk_id) == (chunk.source, chunk.source_id, chunk.id)
    assert now.gone == 1 and now.queries[0].grades() == {}


def test_erasing_the_person_erases_queries_grades_and_reasons(labelled: tuple[Core, str], dsn: str) -> None:
    """No word of them is left in any table of ours; the set stands, empty, and evaluations lose the names."""
    core, id = labelled
    query = first(core, id)
    core.tuning.labels.judge(
        query.id, [c.row.id for c in core.tuning.labels.sheet(query, [SEED]).chunks], 2, why=SECRET
    )
    core.tuning.evaluations.run(_plan(id))
    core.erasures.erase(TIPS, "request")
    assert read(core, id).queries == ()
    with psycopg.connect(dsn, autocommit=True) as db:
        tables = [r[0] for r in db.execute("select tablename from pg_tables where schemaname = 'public'")]
        for table in tables:
            rows = str(db.execute(f'select t::text from "{table}" t').fetchall())  # type: ignore[arg-type]
            for word in (SECRET, QUERY, TIPS, query.id):
                assert word not in rows, f"{table} still holds {word}"
    [evaluation] = core.tuning.evaluations.page(query_set=id).rows
    assert evaluation.verdict


def _plan(id: str) -> Plan:
    return Plan(id, SEED, (Profile("other", 2),))


def test_what_waits_for_a_grade(labelled: tuple[Core, str]) -> None:
    """Queries with unjudged chunks in the top of the profile, the most first; a model's label is no grade of people."""
    core, id = labelled
    given = read(core, id)
    sheet = core.tuning.labels.sheet(given.queries[0], [SEED])
    core.tuning.labels.judge(given.queries[0].id, [i for c in sheet.chunks for i in c.ids], 1)
    core.tuning.labels.judge(
        given.queries[1].id,
        [i for c in core.tuning.labels.sheet(given.queries[1], [SEED]).chunks for i in c.ids],
        1,
        label_source="llm",
    )
    given = read(core, id)
    rows = core.tuning.labels.waiting(given, SEED)
    assert [(r.query.id, r.unjudged) for r in rows] == [(given.queries[1].id, 12), (given.queries[0].id, 0)]
    assert {r.unjudged for r in core.tuning.labels.waiting(given, SEED, llm=True)} == {0}


def test_archived_and_back(labelled: tuple[Core, str]) -> None:
    """Nothing is deleted; the second press changes nothing."""
    core, id = labelled
    assert core.tuning.labels.archive(id) and not core.tuning.labels.archive(id)
    assert core.tuning.labels.sets() == () and len(core.tuning.labels.sets(archived=True)) == 1
    assert core.tuning.labels.archive(id, archived=False)
    with pytest.raises(NotFound):
        core.tuning.labels.query_set(str(uuid.uuid4()))
