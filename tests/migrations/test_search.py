"""Search as the product does it: one model, the parts of each score, all that a what-if needs, all dialogs at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import psycopg
import pytest

from tests.migrations.conftest import MODEL, call, chunk, insert, value, vector

WEIGHTS = {"note": 0.18, "profile": 0.08, "photo": 0.05}
OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def search(db: psycopg.Connection[Any], **arguments: Any) -> dict[str, Any]:
    given = {"p_dialog_key": "d1", "p_query": vector(1), "p_model": MODEL, "p_weights": WEIGHTS, **arguments}
    answer: dict[str, Any] = call(db, "desk_search", **given)
    return answer


def candidates(db: psycopg.Connection[Any], **arguments: Any) -> dict[str, Any]:
    given = {"p_dialog_key": "d1", "p_query": vector(1), "p_model": MODEL, **arguments}
    answer: dict[str, Any] = call(db, "desk_candidates", **given)
    return answer


def test_parts_sum_to_the_score(db: psycopg.Connection[Any]) -> None:
    """weighted_score = cosine + boost, and a source without a weight has boost 0."""
    insert(db, [chunk(source=s, text=s, embedding=vector(1, n)) for n, s in enumerate(("note", "photo", "summary"))])
    rows = search(db)["rows"]
    assert {r["source"]: r["boost"] for r in rows} == {"note": 0.18, "photo": 0.05, "summary": 0}
    assert all(r["weighted_score"] == r["cosine"] + r["boost"] for r in rows)
    assert set(rows[0]) == {
        "id", "source", "source_id", "text", "weighted_score", "cosine", "boost", "note_date", "sent_at", "direction",
    }  # fmt: skip


def test_other_models_are_counted_not_compared(db: psycopg.Connection[Any]) -> None:
    """Only rows of the model asked for; the rest by model, rows without one as none."""
    for model, n in ((MODEL, 2), ("m2", 3), (None, 1)):
        insert(db, [chunk(text=f"{model} {i}", embedding_model=model, updated_at=OLD) for i in range(n)])
    for answer in (search(db), candidates(db)):
        assert {r["text"] for r in answer["rows"]} == {f"{MODEL} 0", f"{MODEL} 1"}
        assert (answer["total"], answer["searchable"], answer["other_models"]) == (6, 2, {"m2": 3, "none": 1})


def test_empty_dialog(db: psycopg.Connection[Any]) -> None:
    """Zeros and empty lists, no nulls."""
    assert search(db) == {"rows": [], "total": 0, "searchable": 0, "other_models": {}}
    assert candidates(db) == {
        "ids": [], "sources": [], "cosines": [], "rows": [], "total": 0, "searchable": 0, "other_models": {},
        "excluded": {"client_id": 0, "compose_mode": 0},
    }  # fmt: skip


def test_excluded_by_a_filter(db: psycopg.Connection[Any]) -> None:
    """A row left out by both filters counts for the first."""
    for client, mode in (("7", "both"), ("8", "both"), ("8", "reply"), (None, "reply")):
        insert(db, [chunk(text=f"{client} {mode}", client_id=client, compose_mode=mode)])
    answer = candidates(db, p_client_id="7", p_compose_mode="both")
    assert [r["text"] for r in answer["rows"]] == ["7 both"]
    assert (answer["total"], answer["excluded"]) == (1, {"client_id": 2, "compose_mode": 1})


def test_candidates_hold_every_chunk(db: psycopg.Connection[Any]) -> None:
    """All ids by cosine, ties by id; texts for the best of each source; ranking them gives what desk_search gives."""
    random = np.random.default_rng(5)
    sources = ("note", "profile", "photo", "conversation")
    insert(
        db,
        [
            chunk(
                source=sources[n % 4],
                source_id=str(n),
                text=f"t{n}",
                embedding=vector(*np.round(random.normal(size=4), 1)),
            )
            for n in range(200)
        ],
    )
    answer = candidates(db, p_texts=3)
    order = list(zip(answer["cosines"], answer["ids"], strict=True))
    assert len(order) == len(set(answer["ids"])) == 200
    assert order == sorted(order, key=lambda pair: (-pair[0], pair[1]))
    assert len(answer["rows"]) == 12
    first = {
        s: [i for i, source in zip(answer["ids"], answer["sources"], strict=True) if source == s][:3] for s in sources
    }
    assert {s: [r["id"] for r in answer["rows"] if r["source"] == s] for s in sources} == first
    scores = [
        (-(c + WEIGHTS.get(s, 0)), i)
        for c, s, i in zip(answer["cosines"], answer["sources"], answer["ids"], strict=True)
    ]
    assert [i for _, i in sorted(scores)[:24]] == [r["id"] for r in search(db, p_limit=24)["rows"]]


@pytest.mark.parametrize("query", ["[1,2]", "nonsense", None])
def test_unusable_query(db: psycopg.Connection[Any], query: str | None) -> None:
    """A vector of another size or no vector at all is an error, none at all finds nothing."""
    insert(db, [chunk()])
    if query is None:
        assert search(db, p_query=None)["searchable"] == 1
        return
    with pytest.raises(psycopg.DataError):
        search(db, p_query=query)


def flagged(db: psycopg.Connection[Any]) -> set[str]:
    """Texts that are superseded, the same in all three places that say so."""
    rows = candidates(db)["rows"]
    by_id = call(db, "desk_chunks_by_id", p_ids=[r["id"] for r in rows])
    found = {r["text"] for r in rows if r["superseded"]}
    assert {r["text"] for r in by_id if r["superseded"]} == found
    listed = call(db, "desk_dialog_chunks", p_dialog_key="d1", p_flag="superseded", p_limit=100)["rows"]
    assert {r["text"] for r in listed} == found
    return found


def at(moment: str, text: str, **columns: Any) -> dict[str, Any]:
    return chunk(text=text, created_at=moment, updated_at=moment, **columns)


def test_superseded(db: psycopg.Connection[Any]) -> None:
    """An edited message: the older text of the same message is marked, others are not."""
    insert(db, [at(OLD, "see you at five", source_id="m7"), at(NEW, "see you at six", source_id="m7")])
    insert(db, [at(OLD, "five", source_id="m8"), at(NEW, "five", source_id="m8", content_hash="x")])
    insert(
        db,
        [
            at(OLD, "a", source_id=None),
            at(NEW, "b", source_id=None),
            at(OLD, "c", source_id=""),
            at(NEW, "d", source_id=""),
        ],
    )
    insert(db, [at(OLD, "note", source_id="m9", source="note"), at(NEW, "message", source_id="m9")])
    insert(db, [{**at(NEW, "elsewhere", source_id="m7"), "dialog_key": "d2"}])
    assert flagged(db) == {"see you at five"}


def test_pieces_of_one_note(db: psycopg.Connection[Any]) -> None:
    """Pieces written in one ingest share the source_id and stand beside each other, also when one was touched later."""
    insert(db, [at(OLD, f"piece {n}", source="note", source_id="n1") for n in range(3)])
    assert flagged(db) == set()
    db.execute("update client_memory_chunks set language = 'en' where text = 'piece 1'")
    assert flagged(db) == set()
    insert(db, [at(NEW.replace("02", "12"), f"new piece {n}", source="note", source_id="n1") for n in range(2)])
    assert flagged(db) == {"piece 0", "piece 1", "piece 2"}


def test_written_again_by_the_service(db: psycopg.Connection[Any]) -> None:
    """The service writes what is still current again: 34, 35, 34 leaves 35 superseded."""
    insert(db, [at(OLD, "Age: 34", source="profile"), at(NEW, "Age: 35", source="profile")])
    db.execute("update client_memory_chunks set updated_at = now() where text = 'Age: 34'")
    assert flagged(db) == {"Age: 35"}


def test_photo_and_what_is_seen_on_it(db: psycopg.Connection[Any]) -> None:
    """The line that names the photo and its description share the URL: two facts; an older description is replaced."""
    url = "https://example.org/p.jpg"
    photo = {"source": "photo", "source_id": url}
    insert(db, [at(OLD, f"Main profile photo is available: {url}", **photo), at(NEW, "A man by a lake", **photo)])
    assert flagged(db) == set()
    insert(db, [at(NEW.replace("02", "03"), "A man by the sea", **photo)])
    assert flagged(db) == {"A man by a lake"}


def test_chunks_by_id(db: psycopg.Connection[Any]) -> None:
    """In the order asked for, what does not exist left out, every column but the embedding."""
    ids = insert(db, [chunk(text=f"t{n}") for n in range(3)])
    missing = "00000000-0000-4000-8000-000000000000"
    rows = call(db, "desk_chunks_by_id", p_ids=[ids[2], missing, ids[0]])
    assert [r["text"] for r in rows] == ["t2", "t0"]
    assert {"dialog_key", "content_hash", "metadata", "tags", "superseded"} <= set(rows[0])
    assert "embedding" not in rows[0]


def across(db: psycopg.Connection[Any], **arguments: Any) -> dict[str, Any]:
    given = {"p_query": vector(1), "p_model": MODEL, "p_weights": WEIGHTS, **arguments}
    answer: dict[str, Any] = call(db, "desk_match_across", **given)
    return answer


def test_all_dialogs(db: psycopg.Connection[Any]) -> None:
    """Rows of every dialog but the one left out, of one model, with the dialog they are from."""
    for key, model in (("a", MODEL), ("b", MODEL), ("c", "m2")):
        insert(db, [chunk(key, source="note", text=key, embedding_model=model)])
    answer = across(db)
    assert {r["dialog_key"] for r in answer["rows"]} == {"a", "b"}
    assert (answer["method"], answer["scanned"]) == ("exact", 2)
    assert answer["rows"][0]["weighted_score"] == pytest.approx(1.18)
    assert [r["dialog_key"] for r in across(db, p_exclude_dialog="a")["rows"]] == ["b"]
    assert across(db, p_model="m9")["rows"] == []


def test_by_the_vector_index(dsn: str) -> None:
    """Above the threshold one scan of the index per source, on a fresh connection as service_role: nearly the same."""
    random = np.random.default_rng(9)
    rows = [
        chunk(f"d{n % 40}", source="note" if n % 9 == 0 else "conversation", text=f"t{n}",
              embedding=vector(*np.round(random.normal(size=24), 3)))
        for n in range(500)
    ]  # fmt: skip
    with psycopg.connect(dsn, autocommit=True) as connection:
        insert(connection, rows)
        connection.execute("vacuum analyze client_memory_chunks")
    recalls = []
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("set role service_role")
        for _ in range(5):
            query = vector(*random.normal(size=24))
            near = across(connection, p_query=query, p_exact_below=100)
            exact = across(connection, p_query=query)
            assert (near["method"], exact["method"], exact["scanned"]) == ("hnsw", "exact", 500)
            scores = [r["weighted_score"] for r in near["rows"]]
            assert len(scores) == 24
            assert scores == sorted(scores, reverse=True)
            recalls.append(len({r["id"] for r in near["rows"]} & {r["id"] for r in exact["rows"]}) / 24)
        assert value(connection, "show hnsw.ef_search") == "40"  # the function's own settings end with it
    assert np.mean(recalls) > 0.9
