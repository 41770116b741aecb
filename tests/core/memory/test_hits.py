"""The shapes that leave core: rows as the RPC has them, the envelope round them."""

from __future__ import annotations

from core.memory.hits import Hit, Latency, SearchResult
from core.memory.notices import Notice

HIT = Hit("id-1", "note", "n1", "likes trains", 0.91, 0.73, 0.18, 1, note_date="2026-05-20")


def result(**changes: object) -> SearchResult:
    given: dict = {"other_models": {}, "warnings": (), **changes}
    return SearchResult(
        favorite_id="f",
        dialog_key="k",
        query="q",
        hits=(HIT,),
        model="test:768",
        weights={"note": 0.18},
        weights_version=1,
        latency=Latency(1.234, 2.0, 0.5),
        total=3,
        searchable=2,
        **{"fallback": False, **given},
    )


def test_a_row_has_exactly_the_rpcs_columns() -> None:
    """snake_case, absent dates as null; the parts of the score only on demand; never an embedding."""
    assert HIT.as_row() == {
        "id": "id-1",
        "source": "note",
        "text": "likes trains",
        "weighted_score": 0.91,
        "note_date": "2026-05-20",
        "sent_at": None,
        "direction": None,
    }
    assert HIT.as_row(explain=True) == {**HIT.as_row(), "cosine": 0.73, "boost": 0.18, "rank": 1, "source_id": "n1"}


def test_the_envelope_grows_only_where_there_is_something_to_say() -> None:
    """Plain answers have four members; a fallback and warnings are never left out."""
    assert set(result().as_json()) == {"favoriteId", "dialogKey", "query", "results"}
    marked = result(fallback=True, warnings=(Notice("fallback", "Lexical."),)).as_json()
    assert (marked["fallback"], marked["warnings"]) == (True, [{"field": "fallback", "message": "Lexical."}])
    assert result(request_id="r").as_json()["requestId"] == "r"


def test_explained_answers_say_model_weights_and_latency() -> None:
    """What a person needs to judge the scores."""
    answer = result(other_models={"old:768": 1}).as_json(explain=True)
    assert (answer["model"], answer["weightsVersion"], answer["sourceWeights"]) == ("test:768", 1, {"note": 0.18})
    assert answer["latencyMs"] == {"embed": 1.23, "database": 2.0, "score": 0.5, "total": 3.73}
    assert (answer["total"], answer["searchable"], answer["otherModels"]) == (3, 2, {"old:768": 1})
