"""Nonsense in a request: always an answer, never a crash, and the data stays as it was."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

VALUES = st.one_of(st.text(), st.text(alphabet="().,\"'\\{}[]*%:->$1 ainotrqe", min_size=1))
NAMES = st.one_of(
    st.text(min_size=1), st.sampled_from(["id", "name", "data->>city", "select", "order", "or", "and", "limit"])
)
OPERATORS = st.sampled_from(["", "eq.", "in.", "not.", "cs.", "fts.", "fts(english).", "is.", "like(any).", "match."])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda child: st.lists(child) | st.dictionaries(st.text(), child),
    max_leaves=10,
)

# the rows may be those of the example before: no example needs fresh ones
TRIES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def fine(reply: httpx.Response) -> None:
    """Below 500, or Postgres' own word that a value goes too far; JSON in either case."""
    assert reply.status_code < 500 or reply.json()["code"] in ("54001", "54000", "57014"), reply.text
    if reply.status_code != 204:
        reply.json()


@TRIES
@given(name=NAMES, operator=OPERATORS, value=VALUES)
def test_queries(http: httpx.Client, name: str, operator: str, value: str) -> None:
    """Any parameter on a table or a function gets rows or an error in the usual form."""
    query = f"{quote(name, safe='')}={quote(operator + value, safe='')}"
    fine(http.get(f"/people?{query}"))
    fine(http.get(f"/rpc/ages?{query}"))


@TRIES
@given(body=JSON)
def test_bodies(http: httpx.Client, body: Any) -> None:
    """Any JSON as a row or as arguments is stored, or refused in the usual form."""
    fine(http.post("/keyless", json=body, headers={"Prefer": "return=representation"}))
    fine(http.post("/rpc/echo", json=body))
    fine(http.post("/rpc/echo", json={"value": body}))
    fine(http.post("/rpc/echo_json", json={"value": body}))


@TRIES
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_text_goes_round(http: httpx.Client, text: str) -> None:
    """A text comes out of the database as it went in, and a filter finds it."""
    assert http.post("/rpc/echo", json={"value": text}).json() == text
    assert http.get("/rpc/echo_json", params={"value": '{"a": 1}'}).json() == {"a": 1}
    found = http.get("/people", params={"select": "id", "name": f"neq.{text}", "id": "eq.1"})
    assert found.json() == ([] if text == "Ada" else [{"id": 1}])
