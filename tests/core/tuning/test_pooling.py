"""The pool before a grader: complete, each text once, in an order that tells nothing."""

from __future__ import annotations

from dataclasses import replace

from core.memory.retrieval import SEED, Profile
from core.memory.score import ChunkRow
from core.tuning.judged import Found
from core.tuning.pooling import pool
from tests.support.labelled import judged


def found(texts: list[str], sources: list[str] | None = None, query: str = "q1") -> Found:
    one = judged([-1] * len(texts), sources=sources, query=query)
    rows = {
        id: ChunkRow(id, one.candidates.source(n), None, text)
        for n, (id, text) in enumerate(zip(one.candidates.ids, texts, strict=True))
    }
    return Found(one.query, replace(one.candidates, rows=rows), one.lexical, rows, one.lengths)


def test_every_profile_is_in_the_pool_and_each_chunk_once() -> None:
    """The union of the top k of each profile; more profiles never take anything out."""
    given = found([f"t{n}" for n in range(30)], ["note", "conversation"] * 15)
    alone = {id for one in pool(given, [SEED], 5) for id in one.ids}
    other = Profile(weights={"conversation": 1.0})
    both = [id for one in pool(given, [SEED, other], 5) for id in one.ids]
    assert len(both) == len(set(both)) and alone < set(both)


def test_the_order_does_not_follow_the_rank_and_stays() -> None:
    """By a hash of query and chunk: the same at every look and for any order of profiles; another for each query."""
    texts = [f"t{n}" for n in range(24)]
    other = Profile(weights={"note": 0.0})
    ids = [one.row.id for one in pool(found(texts), [SEED, other], 24)]
    assert ids == [one.row.id for one in pool(found(texts), [other, SEED], 24)]
    assert ids != sorted(ids)
    assert ids != [one.row.id for one in pool(found(texts, query="q2"), [SEED], 24)]


def test_the_same_words_are_shown_once() -> None:
    """Equal to the eye, white space and code points aside: one row for the grader, the grade for all of them."""
    given = found(["caf\u00e9  one", "cafe\u0301 one", "two"])
    rows = pool(given, [SEED], 3)
    assert sorted(len(one.ids) for one in rows) == [1, 2]
