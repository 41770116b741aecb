"""The real supabase-py against the gateway: every call the product could make, and what it gives back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from postgrest.exceptions import APIError
from supabase import Client


def ids(response: Any) -> list[int]:
    return [row["id"] for row in response.data]


def test_select(supabase: Client) -> None:
    """Rows as dicts; no count unless asked for."""
    response = supabase.table("people").select("id,name").eq("id", 1).execute()
    assert (response.data, response.count) == ([{"id": 1, "name": "Ada"}], None)


def test_count_and_head(supabase: Client) -> None:
    """count beside the rows, and without them."""
    response = supabase.table("people").select("id", count="exact").limit(2).order("id").execute()
    assert (ids(response), response.count) == ([1, 2], 5)
    head = supabase.table("people").select("*", count="exact", head=True).gt("age", 20).execute()
    assert (head.data, head.count) == ([], 3)


def test_range_and_order(supabase: Client) -> None:
    """range is inclusive at both ends; orders add up."""
    response = (
        supabase.table("people").select("id").order("active", desc=True, nullsfirst=False).order("id").range(1, 3)
    )
    assert ids(response.execute()) == [4, 2, 5]


FILTERS: list[tuple[str, Any, list[int]]] = [
    ("eq of a bool", lambda q: q.eq("active", True), [1, 4]),
    ("neq", lambda q: q.neq("id", 1), [2, 3, 4, 5]),
    ("a range of two", lambda q: q.gte("age", 17).lt("age", 50), [1, 2]),
    ("in of texts that need quotes", lambda q: q.in_("name", ['Eve, "the" spy', "Zoë (real)", "Bob"]), [2, 3, 4]),
    ("in of a backslash", lambda q: q.in_("name", ["back\\slash"]), [5]),
    ("in of nothing", lambda q: q.in_("id", []), []),
    ("is null", lambda q: q.is_("age", None), [3]),
    ("not is null", lambda q: q.not_.is_("age", "null"), [1, 2, 4, 5]),
    ("like", lambda q: q.like("name", "A%"), [1]),
    ("ilike", lambda q: q.ilike("name", "%B%"), [2, 5]),
    ("like any of", lambda q: q.like_any_of("name", "A%,B%"), [1, 2]),
    ("contains, a list", lambda q: q.contains("tags", ["a b"]), [4]),
    ("contains, a dict", lambda q: q.contains("data", {"city": "Kyiv"}), [2]),
    ("contained by", lambda q: q.contained_by("tags", ["math", "poetry"]), [1, 5]),
    ("overlaps", lambda q: q.overlaps("tags", ["chess", "poetry"]), [1, 2]),
    ("range greater", lambda q: q.range_gt("span", (10, 12)), [4]),
    ("text search", lambda q: q.text_search("words", "engine", options={"config": "english"}), [1, 4]),
    ("or", lambda q: q.or_("id.eq.1,and(age.gt.40,active.is.false)"), [1, 5]),
    ("match", lambda q: q.match({"active": "true", "id": "4"}), [4]),
    ("filter", lambda q: q.filter("data->>city", "eq", "Paris"), [4]),
    ("a time with a zone", lambda q: q.gte("seen", datetime(2026, 1, 3, tzinfo=UTC).isoformat()), [4, 5]),
    ("a text with every sign", lambda q: q.eq("name", 'Eve, "the" spy'), [3]),
]


@pytest.mark.parametrize(("why", "apply", "expected"), FILTERS, ids=[case[0] for case in FILTERS])
def test_filter(supabase: Client, why: str, apply: Any, expected: list[int]) -> None:
    """The client's method for it lets these rows through."""
    assert ids(apply(supabase.table("people").select("id")).order("id").execute()) == expected


def test_single_and_maybe_single(supabase: Client) -> None:
    """single raises without exactly one row; maybe_single gives None for none."""
    assert supabase.table("people").select("id").eq("id", 1).single().execute().data == {"id": 1}
    with pytest.raises(APIError) as caught:
        supabase.table("people").select("id").eq("id", 99).single().execute()
    assert caught.value.code == "PGRST116"
    assert supabase.table("people").select("id").eq("id", 99).maybe_single().execute() is None
    found = supabase.table("people").select("id").eq("id", 1).maybe_single().execute()
    assert found is not None and found.data == {"id": 1}


def test_insert(supabase: Client) -> None:
    """One row, and many with different keys: the missing ones become null, or the default on demand."""
    pets = supabase.table("pets")
    assert pets.insert({"name": "Ivy"}).execute().data[0]["kind"] == "cat"
    rows: list[Any] = [{"name": "Moe", "kind": "ant"}, {"name": "Lu"}]
    assert [row["kind"] for row in pets.insert(rows).execute().data] == ["ant", None]
    rows = [{"name": "Moe2", "kind": "ant"}, {"name": "Lu2"}]
    assert [row["kind"] for row in pets.insert(rows, default_to_null=False).execute().data] == ["ant", "cat"]


def test_insert_minimal_with_count(supabase: Client) -> None:
    """Nothing comes back but the number."""
    response = supabase.table("pairs").insert([{"a": 8, "b": 1}, {"a": 8, "b": 2}], returning="minimal", count="exact")
    answer = response.execute()
    assert (answer.data, answer.count) == ([], 2)


def test_upsert(supabase: Client) -> None:
    """By primary key, by another constraint, and leaving known rows alone."""
    pets = supabase.table("pets")
    assert supabase.table("pairs").upsert({"a": 1, "b": 1, "value": "uno"}).execute().data[0]["value"] == "uno"
    assert pets.upsert([{"name": "Rex", "kind": "fox"}], on_conflict="name").execute().data[0]["kind"] == "fox"
    ignored = pets.upsert({"name": "Rex", "kind": "cow"}, on_conflict="name", ignore_duplicates=True).execute()
    assert ignored.data == []
    assert pets.select("kind").eq("name", "Rex").single().execute().data == {"kind": "fox"}


def test_update_and_delete(supabase: Client) -> None:
    """Both give the rows; max_affected stops a change that would go too far."""
    pets = supabase.table("pets")
    assert len(pets.update({"status": "hit"}).eq("kind", "dog").execute().data) == 2
    with pytest.raises(APIError) as caught:
        pets.delete().eq("kind", "dog").max_affected(1).execute()
    assert caught.value.code == "PGRST124"
    assert pets.delete(returning="minimal", count="exact").in_("name", ["Rex", "Ola"]).execute().count == 2


def test_rpc(supabase: Client) -> None:
    """Scalars, rows, nothing at all, GET, a count, and filters on the result."""
    assert supabase.rpc("add_up", {"a": 1}).execute().data == 3
    assert supabase.rpc("no_value", {}).execute().data is None
    assert supabase.rpc("no_result", {"p_name": "Ivy"}).execute().data == []
    assert supabase.rpc("echo", {"value": "x y"}, get=True).execute().data == "x y"
    assert supabase.rpc("older_than", {"years": 1}, count="exact", head=True).execute().count == 4
    response = supabase.rpc("older_than", {"years": 1}).select("id").gt("id", 1).order("id", desc=True).limit(2)
    assert ids(response.execute()) == [5, 4]


def test_vector_argument(supabase: Client) -> None:
    """A query vector of 768 numbers as text, as the product sends it, finds its length refused in pgvector's words."""
    near = supabase.rpc("nearest", {"p_query": "[1,0,0]", "p_limit": 2}).execute().data
    assert [row["id"] for row in near] == [1, 3]
    with pytest.raises(APIError) as caught:
        supabase.rpc("nearest", {"p_query": "[" + ",".join(["0.123456"] * 768) + "]"}).execute()
    assert caught.value.code == "22000"


def test_error_fields(supabase: Client) -> None:
    """code, message, details and hint arrive in the exception."""
    with pytest.raises(APIError) as caught:
        supabase.table("pets").insert({"name": "Tom"}).execute()
    assert caught.value.code == "23505"
    assert (
        "pets_name_key" in (caught.value.message or "") and caught.value.details == "Key (name)=(Tom) already exists."
    )


def test_head_error(supabase: Client) -> None:
    """The answer to a failed HEAD has no body: the code comes from Proxy-Status."""
    with pytest.raises(APIError) as caught:
        supabase.table("nope").select("*", count="exact", head=True).execute()
    assert caught.value.code == "PGRST205"


def test_strip_nulls(supabase: Client) -> None:
    """strip_nulls leaves them out."""
    assert supabase.table("people").select("id,age").eq("id", 3).strip_nulls().execute().data == [{"id": 3}]


def test_other_schema_and_csv(supabase: Client) -> None:
    """What is out of the slice fails with a code instead of giving something else."""
    for query, code in (
        (supabase.schema("auth").table("users").select("*"), "PGRST106"),
        (supabase.table("people").select("*").csv(), "PGRST107"),
        (supabase.table("people").select("*, pets(*)"), "PGRST200"),
    ):
        with pytest.raises(APIError) as caught:
            query.execute()
        assert caught.value.code == code


def test_one_client_in_many_threads(supabase: Client) -> None:
    """Sixteen threads over one client: each gets its own answer."""
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda n: supabase.rpc("add_up", {"a": n}).execute().data, range(200)))
    assert answers == [n + 2 for n in range(200)]
