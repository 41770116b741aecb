"""Labels as files, through the database: out and in again; refused whole where one line does not fit."""

from __future__ import annotations

import json
import uuid

import pytest

from core.bootstrap import Core
from core.errors import InputError
from core.memory.retrieval import SEED
from tests.core.tuning.test_labelling import TIPS, first, labelled  # noqa: F401


def judged(core: Core, id: str) -> list[str]:
    """Three chunks of the first query graded 3, 2 and 0, one of them by a model too."""
    query = first(core, id)
    ids = [c.row.id for c in core.tuning.labels.sheet(query, [SEED]).chunks[:3]]
    for grade, chunk in zip((3, 2, 0), ids, strict=True):
        core.tuning.labels.judge(query.id, [chunk], grade, why=f"why {grade}")
    core.tuning.labels.judge(query.id, ids[:1], 1, label_source="llm", judge="model-x")
    return ids


def state(core: Core, id: str) -> list[tuple[object, ...]]:
    return [
        (
            q.dialog_key,
            q.query,
            q.category,
            q.note,
            sorted((j.chunk_id, j.grade, j.why, j.judge, j.label_source) for j in q.judgements),
        )
        for q in core.tuning.labels.query_set(id).queries
    ]


def test_jsonl_into_a_new_set_and_into_its_own(labelled: tuple[Core, str]) -> None:  # noqa: F811
    """Everything comes back; into the set it came from nothing changes, not even its version."""
    core, id = labelled
    judged(core, id)
    text = core.tuning.files.export(id, "jsonl")
    done = core.tuning.files.import_text(text, name="copy")
    assert (done.queries, done.judgements, done.unchanged, done.gone) == (2, 4, 0, 0)
    assert state(core, done.query_set) == state(core, id)
    before = core.tuning.labels.query_set(id).version
    again = core.tuning.files.import_text(text, query_set=id)
    assert (again.queries, again.judgements, again.unchanged) == (0, 0, 4)
    assert core.tuning.labels.query_set(id).version == before


def test_qrels_and_back(labelled: tuple[Core, str]) -> None:  # noqa: F811
    """People's grades by id; imported with other grades they are new rows of whoever imports, or a model's."""
    core, id = labelled
    ids = judged(core, id)
    query = first(core, id)
    text = core.tuning.files.export(id, "qrels")
    assert {tuple(line.split()) for line in text.splitlines()} == {
        (query.id, "0", chunk, grade) for chunk, grade in zip(ids, "320", strict=True)
    }
    core.tuning.files.import_text(f"{query.id} 0 {ids[2]} 3\n", query_set=id)
    assert first(core, id).grades()[ids[2]] == 3
    core.tuning.files.import_text(f"{query.id} 0 {ids[1]} 0\n", query_set=id, llm=True)
    assert first(core, id).grades()[ids[1]] == 2 and first(core, id).grades(llm=True)[ids[1]] == 2


def test_one_bad_line_and_nothing_is_imported(labelled: tuple[Core, str]) -> None:  # noqa: F811
    """A line that fits no row is named with its field; what stood before it in the file is not there either."""
    core, id = labelled
    before = state(core, id)
    query = {"type": "query", "id": "x", "dialogKey": TIPS, "query": "something new"}
    for row, field in (
        ({"type": "judgement", "queryId": "x", "chunkId": str(uuid.uuid4()), "grade": 1}, "chunkId"),
        ({"type": "judgement", "queryId": "y", "chunkId": str(uuid.uuid4()), "grade": 1}, "queryId"),
        ({"type": "query", "id": "z", "dialogKey": "nobody", "query": "words"}, "dialogKey"),
        ({"type": "judgement", "queryId": "x", "chunkId": str(uuid.uuid4()), "grade": 9}, "grade"),
    ):
        with pytest.raises(InputError) as refused:
            core.tuning.files.import_text(json.dumps(query) + "\n" + json.dumps(row), query_set=id)
        assert "ine 2" in str(refused.value) and refused.value.field == field
        assert state(core, id) == before and len(core.tuning.labels.sets()) == 1


def test_a_grade_of_a_chunk_that_is_gone_keeps_waiting(labelled: tuple[Core, str]) -> None:  # noqa: F811
    """A file names its chunk by hash too: the grade is kept, counts for nothing, and counts once the chunk is back."""
    core, id = labelled
    ids = judged(core, id)
    text = core.tuning.files.export(id, "jsonl")
    core.corrections.exclude(ids[:1], "other", kind="deleted")
    done = core.tuning.files.import_text(text, name="copy")
    assert done.gone == 2 and ids[0] not in first(core, done.query_set).grades()
    core.corrections.restore(ids[:1])
    assert first(core, done.query_set).grades()[ids[0]] == 3
