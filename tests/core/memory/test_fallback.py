"""Search by words, and what may be said of it."""

from __future__ import annotations

from core.embedding.lexical import lexical_vector
from core.memory.fallback import Passage, lexical_candidates, lexical_cosines, lexical_hits, lexical_notice, passage_of
from core.memory.score import rank
from tests.support.dialogs import body

TEXTS = ["he worries about trust", "likes trains", "trust and trains", ""]
PASSAGES = [Passage(f"{n:08}-0000-4000-8000-000000000000", "note", f"n{n}", text) for n, text in enumerate(TEXTS)]


def test_cosines_are_those_of_the_existing_services_vectors() -> None:
    """128 hashed words, one cosine a text, 0 where there is no word."""
    cosines = lexical_cosines("trust", TEXTS)
    assert [round(float(c), 5) for c in cosines] == [
        round(float(lexical_vector("trust") @ lexical_vector(text)), 5) for text in TEXTS
    ]
    assert cosines[3] == 0
    assert lexical_cosines("trust", []).shape == (0,)
    assert not lexical_cosines("", TEXTS).any()


def test_hits_are_ordered_by_score_then_id_and_cut() -> None:
    """Equal scores keep the order of their ids; the boost is added and shown apart."""
    hits = lexical_hits("nothing shared", PASSAGES, {"note": 0.18}, 3)
    assert [hit.id for hit in hits] == [p.id for p in PASSAGES[:3]]
    assert {(hit.weighted_score, hit.cosine, hit.boost) for hit in hits} == {(0.18, 0.0, 0.18)}
    assert [hit.rank for hit in hits] == [1, 2, 3]


def test_candidates_rank_as_the_hits_do() -> None:
    """The what-if over a fallback says the same as the fallback."""
    candidates = lexical_candidates("trust trains", PASSAGES)
    hits = lexical_hits("trust trains", PASSAGES, {"note": 0.1}, 4)
    assert rank(candidates, {"note": 0.1}).top(4) == tuple(hit.id for hit in hits)


def test_a_payloads_chunk_has_a_steady_id() -> None:
    """There may be no row of it; the id is derived from the content hash and looks like any other."""
    from core.memory.chunks import build_chunks
    from core.memory.payload import normalise

    one, two = (build_chunks(normalise(body("k1")))[0][0] for _ in range(2))
    assert passage_of(one).id == passage_of(two).id
    assert len(passage_of(one).id) == 36


def test_the_notice_says_that_it_is_no_vector_search() -> None:
    """Whoever looks at it must be told so, and why it happened."""
    message = lexical_notice("The embedder crashed.").message
    assert "no vector search" in message
    assert message.endswith("The embedder crashed.")
