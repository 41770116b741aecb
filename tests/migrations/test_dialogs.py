"""Lists and totals: page walks with ties, nulls last, literal search, keys of a pair, quality flags, local days."""

from __future__ import annotations

import hashlib
from typing import Any

import psycopg
import pytest

from tests.migrations.conftest import MODEL, call, chunk, insert, value


def key(kind: str, ru: str, tu: str) -> str:
    pair = f"{ru}:{tu}" if kind == "tips" else f"{tu}:{ru}"
    return hashlib.sha256(f"dialog:{pair}".encode()).hexdigest()


def keys(answer: dict[str, Any]) -> list[str]:
    return [row["dialog_key"] for row in answer["rows"]]


def test_page_walk_with_ties(db: psycopg.Connection[Any]) -> None:
    """60 dialogs of one moment, forwards and backwards: each exactly once, the total on every page."""
    insert(db, [chunk(f"d{n:02}", sent_at="2026-11-01T00:00:00Z") for n in range(60)])
    for sort in ("last_at", "chunks", "updated_at", "ru_id", "tu_id"):
        for down in (True, False):
            offsets = range(0, 75, 7)
            pages = [call(db, "desk_dialog_list", p_sort=sort, p_desc=down, p_limit=7, p_offset=n) for n in offsets]
            assert [k for page in pages for k in keys(page)] == [f"d{n:02}" for n in range(60)]
            assert {page["total"] for page in pages} == {60}


def test_undated_dialogs_are_last(db: psycopg.Connection[Any]) -> None:
    """Whichever way the list is sorted."""
    insert(db, [chunk("old", sent_at="2026-01-01T00:00:00Z"), chunk("new", sent_at="2026-11-01T00:00:00Z")])
    insert(db, [chunk("undated")])
    assert keys(call(db, "desk_dialog_list")) == ["new", "old", "undated"]
    assert keys(call(db, "desk_dialog_list", p_desc=False)) == ["old", "new", "undated"]


def test_page_beyond_the_end(db: psycopg.Connection[Any]) -> None:
    """Nothing, and still the total."""
    insert(db, [chunk()])
    assert call(db, "desk_dialog_list", p_offset=500) == {"rows": [], "total": 1}
    assert call(db, "desk_dialog_chunks", p_dialog_key="d1", p_offset=500)["total"] == 1


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("abc", ["abc_1", "abcd"]),
        ("ABC_", ["abc_1"]),
        ("bc", []),  # a key by its beginning only
        ("ru-1", ["abc_1", "x"]),
        ("U-12", ["x"]),
        ("tu%", ["abcd"]),
        ("вподо", ["x"]),
        ("  ", ["abc_1", "abcd", "x"]),
        ("'; drop table desk_dialogs; --", []),
    ],
)
def test_list_search(db: psycopg.Connection[Any], search: str, found: list[str]) -> None:
    """Beginning of the key, any part of the ids, any case; % and _ are letters."""
    insert(
        db,
        [
            chunk("abc_1", client_id="ru-1", woman_id="tu-1", favorite_id=""),
            chunk("abcd", client_id="7", woman_id="tu%1", favorite_id=""),
            chunk("x", client_id="ru-12", woman_id="9", favorite_id="Уподобання ВПОДОБАЙКА"),
        ],
    )
    answer = call(db, "desk_dialog_list", p_search=search)
    assert sorted(keys(answer)) == found
    assert answer["total"] == len(found)


def test_unknown_sort(db: psycopg.Connection[Any]) -> None:
    """Not a column of the list: an error, never part of a statement."""
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call(db, "desk_dialog_list", p_sort="chunks; drop table desk_meta")


def test_both_keys_of_a_pair(db: psycopg.Connection[Any]) -> None:
    """A list names the other key of the same pair and which order each was made from; the pair is listed once."""
    tips, generic = key("tips", "5", "9"), key("generic", "5", "9")
    for k in (tips, generic, "own"):
        ids = {"client_id": "5", "woman_id": "9"} if k != "own" else {"client_id": "6", "woman_id": "9"}
        insert(db, [chunk(k, **ids, favorite_id="")])
    listed = {r["dialog_key"]: (r["order"], r["also_under"]) for r in call(db, "desk_dialog_list")["rows"]}
    assert listed == {tips: ("tips", generic), generic: ("generic", tips), "own": ("custom", None)}
    pairs = call(db, "desk_ambiguous_pairs")
    assert pairs["total"] == call(db, "desk_overview")["ambiguous_pairs"] == 1
    assert [(k["order"], k["dialog_key"], k["chunks"]) for k in pairs["rows"][0]["keys"]] == [
        ("tips", tips, 1),
        ("generic", generic, 1),
    ]


def test_text_search(db: psycopg.Connection[Any]) -> None:
    """Literal, any case, the three apostrophes as one; hits per dialog, most first."""
    insert(
        db,
        [chunk("a", text="Моя сім'я: п'ять"), chunk("a", text="СІМ’Я", source_id="2"), chunk("b", text="сімʼя 100%_")],
    )
    for spelling in ("сім'я", "сім’я", "сімʼя"):
        answer = call(db, "desk_text_search", p_text=spelling)
        assert [(r["dialog_key"], r["hits"]) for r in answer["rows"]] == [("a", 2), ("b", 1)]
    assert keys(call(db, "desk_text_search", p_text="100%_")) == ["b"]
    assert call(db, "desk_text_search", p_text="1%0") == {"rows": [], "total": 0}
    assert call(db, "desk_text_search", p_text="") == {"rows": [], "total": 0}
    assert call(db, "desk_text_search", p_text="сім", p_limit=1, p_offset=1)["total"] == 2


def test_status(db: psycopg.Connection[Any]) -> None:
    """Last dates by source and counts; a key without rows has zeros; the rows decide while the rollup is stale."""
    insert(
        db,
        [
            chunk(source="note", text="1", note_date="2026-05-01", sent_at=None),
            chunk(source="note", text="2", note_date="2026-05-03", sent_at=None),
            chunk(source="conversation", text="3", note_date=None, sent_at="2026-05-04T10:00:00Z"),
        ],
    )
    insert(db, [chunk(source="profile", text="4", updated_at="2026-05-05T00:00:00Z")])
    expected = {
        "lastNoteAt": "2026-05-03",
        "lastMessageAt": "2026-05-04T10:00:00+00:00",
        "profileUpdatedAt": "2026-05-05T00:00:00+00:00",
        "photoUpdatedAt": None,
        "counts": {"note": 2, "profile": 1, "photo": 0, "conversation": 1, "summary": 0},
        "lastIngestAt": None,
    }
    answer = call(db, "desk_dialog_status", p_dialog_keys=["d1", "nobody"])
    assert answer["d1"] == expected
    assert set(answer["nobody"]["counts"].values()) == {0}
    db.execute("update desk_dialog_sources set chunks = 77")
    db.execute("insert into desk_meta (key) values ('rollup_fault:x')")
    assert call(db, "desk_dialog_status", p_dialog_keys=["d1"])["d1"] == expected


def flags(db: psycopg.Connection[Any], **arguments: Any) -> dict[str, list[str]]:
    rows = call(db, "desk_dialog_chunks", p_dialog_key="d1", **arguments)["rows"]
    return {row["text"]: row["flags"] for row in rows if row["flags"]}


def test_duplicate_sees_through_forms(db: psycopg.Connection[Any]) -> None:
    """Composed and decomposed letters and any white space are the same text; another letter or case is not."""
    composed, decomposed = "Zo\u00eb та ї\u0439", "Zoe\u0308 та ї\u0438\u0306"
    twins = {composed, decomposed, f"{composed.replace(' ', chr(0xA0))}\n"}
    others = {"zoe та їй", "Zoeтаїй"}
    insert(db, [chunk(text=text, source_id=str(n)) for n, text in enumerate([*twins, *others])])
    assert set(flags(db)) == twins
    assert call(db, "desk_dialog_chunks", p_dialog_key="d1")["flag_counts"] == {"duplicate": 3}


def test_other_flags(db: psycopg.Connection[Any]) -> None:
    """Another model, a photo without a description, a message as long as the limit; each where it belongs."""
    bare, seen = "Main profile photo is available: u1", "Main profile photo is available: u2"
    for n, row in enumerate(
        (
            {"text": "old", "embedding_model": "m2"},
            {"text": bare, "source": "photo", "source_id": "u1"},
            {"text": seen, "source": "photo", "source_id": "u2"},
            {"text": "A lake", "source": "photo", "source_id": "u2"},
            {"text": "я" * 420},
            {"text": "я" * 419},
            {"text": "n" * 420, "source": "note"},
        )
    ):
        insert(db, [chunk(**{"source_id": f"s{n}", **row})])
    assert flags(db, p_model=MODEL) == {"old": ["other_model"], bare: ["photo_without_text"], "я" * 420: ["cut"]}
    assert "old" not in flags(db)


def test_chunk_filters_and_counts(db: psycopg.Connection[Any]) -> None:
    """Source and text narrow rows, total and counts; a flag leaves the counts, so that another can be chosen."""
    insert(
        db, [chunk(text="a b", source_id="1"), chunk(text="a  b", source_id="2"), chunk(text="c" * 420, source_id="3")]
    )
    insert(db, [chunk(text="сімʼя", source="note", source_id="4")])

    def ask(**arguments: Any) -> tuple[int, dict[str, int]]:
        answer = call(db, "desk_dialog_chunks", p_dialog_key="d1", **arguments)
        assert len(answer["rows"]) == answer["total"]
        return answer["total"], answer["flag_counts"]

    assert ask() == (4, {"cut": 1, "duplicate": 2})
    assert ask(p_flag="cut") == (1, {"cut": 1, "duplicate": 2})
    assert ask(p_source="note") == (1, {})
    assert ask(p_text="СІМ'Я") == (1, {})
    assert ask(p_text="a ") == (2, {"duplicate": 2})


def test_chunk_page_walk(db: psycopg.Connection[Any]) -> None:
    """250 chunks of one ingest, one moment, 25 a page, forwards and back: 250 distinct ids, the same both ways."""
    insert(db, [chunk(text=f"t{n}", sent_at="2026-11-01T00:00:00Z") for n in range(250)])
    offsets = range(0, 250, 25)

    def walk(order: Any) -> list[list[str]]:
        return [[r["id"] for r in call(db, "desk_dialog_chunks", p_dialog_key="d1", p_offset=n)["rows"]] for n in order]

    forwards = walk(offsets)
    assert len({i for page in forwards for i in page}) == 250
    assert walk(reversed(offsets)) == forwards[::-1]


def test_newest_chunk_first(db: psycopg.Connection[Any]) -> None:
    """By moment sent, else the note's day, else the last update."""
    insert(db, [chunk(text="sent", sent_at="2026-03-02T00:00:01Z", note_date=None, updated_at="2020-01-01T00:00:00Z")])
    insert(db, [chunk(text="note", sent_at=None, note_date="2026-03-02", updated_at="2020-01-01T00:00:00Z")])
    insert(db, [chunk(text="undated", sent_at=None, note_date=None, updated_at="2026-03-01T00:00:00Z")])
    rows = call(db, "desk_dialog_chunks", p_dialog_key="d1")["rows"]
    assert [r["text"] for r in rows] == ["sent", "note", "undated"]


def test_timeline_by_local_day(db: psycopg.Connection[Any]) -> None:
    """A moment falls on the day of the zone asked for; a note's date stays that date; undated rows are on none."""
    insert(db, [chunk(text="m", sent_at="2026-11-29T22:30:00Z"), chunk(text="m2", sent_at="2026-11-29T12:00:00Z")])
    insert(
        db, [chunk(text="n", source="note", note_date="2026-11-29"), chunk(text="p", source="profile", note_date=None)]
    )
    day = {"source": "conversation", "chunks": 1}
    note = {"day": "2026-11-29", "source": "note", "chunks": 1}
    assert call(db, "desk_dialog_timeline", p_dialog_key="d1", p_tz="Europe/Kyiv") == [
        {"day": "2026-11-29", **day},
        note,
        {"day": "2026-11-30", **day},
    ]
    assert call(db, "desk_dialog_timeline", p_dialog_key="d1", p_tz="America/Los_Angeles") == [
        {"day": "2026-11-29", **day, "chunks": 2},
        note,
    ]
    with pytest.raises(psycopg.DataError):
        call(db, "desk_dialog_timeline", p_dialog_key="d1", p_tz="Mars/Olympus")


def test_overview(db: psycopg.Connection[Any]) -> None:
    """Totals by source and model; demo rows are counted only where there is demo data."""
    for n, model in enumerate((MODEL, MODEL, "m2")):
        insert(
            db, [chunk(f"d{n}", embedding_model=model, source="note", metadata={"demo": True}, note_date="2026-05-01")]
        )
    overview = call(db, "desk_overview")
    assert overview["by_model"] == {MODEL: 2, "m2": 1}
    assert overview["by_source"] == {"note": 3}
    assert overview["first_at"] == overview["last_at"] == "2026-05-01T00:00:00+00:00"
    assert overview["demo"] == {"state": None, "chunks": 0}
    db.execute("insert into desk_meta (key, value) values ('demo', '{\"state\": \"loaded\"}')")
    assert call(db, "desk_overview")["demo"] == {"state": "loaded", "chunks": 3}


def test_hostile_dialog_key(db: psycopg.Connection[Any]) -> None:
    """Quotes, commas, slashes, plus signs and percent signs in a key are letters everywhere."""
    hostile = 'k"1,2\\3(x)/y+z %2F ü'
    insert(db, [chunk(hostile), chunk("k")])
    assert keys(call(db, "desk_dialog_list", p_search=hostile)) == [hostile]
    assert call(db, "desk_dialog_chunks", p_dialog_key=hostile)["total"] == 1
    assert list(call(db, "desk_dialog_status", p_dialog_keys=[hostile])) == [hostile]
    assert value(db, "select count(*) from desk_dialogs") == 2
