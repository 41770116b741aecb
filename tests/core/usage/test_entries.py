"""The body of POST /usage as rows: what counts as the same entry, what is tolerated, what is refused and how."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from core.errors import InputError
from core.usage.entries import parse_moment, parse_usage

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
REQUEST = "6f1c2a7e-0000-4000-8000-000000000001"
EMBED = {"provider": "gemini", "model": "m-a", "phase": "embed", "promptTokens": 10, "totalTokens": 10}
GENERATE = {"provider": "xai", "model": "m-b", "phase": "generate", "promptTokens": 5, "completionTokens": 5}


def ids(*entries: dict[str, Any], request: str = REQUEST) -> list[str]:
    return [row.id for row in parse_usage({"requestId": request, "entries": list(entries)}, NOW).rows]


def test_the_same_body_gives_the_same_ids() -> None:
    """A retry is known by its content; the moment of arrival takes no part (case 18)."""
    first = parse_usage({"requestId": REQUEST, "entries": [EMBED, GENERATE]}, NOW)
    again = parse_usage({"requestId": REQUEST.upper(), "entries": [EMBED, GENERATE]}, NOW.replace(day=29))
    assert [r.id for r in first.rows] == [r.id for r in again.rows]
    assert len({r.id for r in first.rows}) == 2


def test_equal_calls_of_one_body_count_twice() -> None:
    """Two equal calls are two rows, in any order of the others; a further body with one of them adds nothing."""
    both = ids(EMBED, GENERATE, EMBED)
    assert len(set(both)) == 3
    assert set(ids(EMBED, EMBED, GENERATE)) == set(both)
    assert ids(EMBED)[0] in both
    assert ids({**EMBED, "at": "2026-11-29T10:00:00Z"})[0] not in both


def test_anything_else_is_another_entry() -> None:
    """Another request, phase, count or moment makes another row."""
    known = ids(EMBED)[0]
    for other in ({"phase": "repair"}, {"promptTokens": 11}, {"cachedTokens": 0}, {"model": "m-c"}):
        assert ids({**EMBED, **other})[0] != known
    assert ids(EMBED, request=REQUEST.replace("1", "2"))[0] != known


def test_without_entries_one_estimated_row() -> None:
    """Phase generate, provider gemini, model unknown, characters / 4 rounded up: spec section 7."""
    bodies: list[dict[str, Any]] = [{}, {"entries": []}, {"entries": None}]
    for entries in bodies:
        parsed = parse_usage({"requestId": REQUEST, "promptText": "12345", "completionText": "x", **entries}, NOW)
        [row] = parsed.rows
        assert (row.provider, row.model, row.phase) == ("gemini", "unknown", "generate")
        assert (row.prompt_tokens, row.completion_tokens, row.total_tokens) == (2, 1, 3)
        assert parsed.estimated
    assert parse_usage({"requestId": REQUEST}, NOW).rows[0].total_tokens == 0


def test_tolerant_of_missing_fields() -> None:
    """Numbers as text, nulls, names left out, a total that is more than its parts (case 15), one `at` (case 8)."""
    rows = parse_usage(
        {
            "requestId": REQUEST,
            "ruId": 17,
            "entries": [
                {"promptTokens": "70", "completionTokens": None, "totalTokens": 70.0},
                {"provider": "xai", "model": "a$b$c", "phase": "think", "promptTokens": 20, "completionTokens": 198}
                | {"totalTokens": 623, "cachedTokens": 2, "at": "2026-11-29T10:00:00Z"},
                GENERATE,
            ],
        },
        NOW,
    ).rows
    assert [(r.provider, r.model, r.phase) for r in rows[:2]] == [("unknown",) * 3, ("xai", "a$b$c", "think")]
    assert [(r.prompt_tokens, r.completion_tokens, r.total_tokens) for r in rows] == [
        (70, None, 70),
        (20, 198, 623),
        (5, 5, 10),
    ]
    assert [r.at for r in rows] == [NOW, datetime(2026, 11, 29, 10, tzinfo=UTC), NOW]
    assert {r.ru_id for r in rows} == {"17"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "requestId"),
        ({"requestId": "r-1"}, "requestId"),
        ({"requestId": 7}, "requestId"),
        ({"requestId": REQUEST, "entries": {}}, "entries"),
        ({"requestId": REQUEST, "entries": [EMBED, None]}, "entries[1]"),
        ({"requestId": REQUEST, "entries": [{**EMBED, "promptTokens": -1}]}, "entries[0].promptTokens"),
        ({"requestId": REQUEST, "entries": [{**EMBED, "promptTokens": True}]}, "entries[0].promptTokens"),
        ({"requestId": REQUEST, "entries": [{**EMBED, "promptTokens": 2**31}]}, "entries[0].promptTokens"),
        ({"requestId": REQUEST, "entries": [{**EMBED, "promptTokens": "9" * 5000}]}, "entries[0].promptTokens"),
        ({"requestId": REQUEST, "entries": [{**EMBED, "at": "yesterday"}]}, "entries[0].at"),
        ({"requestId": REQUEST, "entries": [{**EMBED, "model": "\0"}]}, "entries[0].model"),
        ({"requestId": REQUEST, "entries": [{**EMBED, "model": []}]}, "entries[0].model"),
        ({"requestId": REQUEST, "promptText": 5}, "promptText"),
        ({"requestId": REQUEST, "entries": [EMBED] * 1001}, "entries"),
    ],
)
def test_what_cannot_be_used_is_named(body: dict[str, Any], field: str) -> None:
    """An error names the field, down to the entry, and no row is made."""
    with pytest.raises(InputError) as error:
        parse_usage(body, NOW)
    assert error.value.field == field


def test_moments() -> None:
    """With a zone, without (UTC), epoch seconds and milliseconds, a plus sign that a query turned into a space."""
    ten = datetime(2026, 11, 29, 10, tzinfo=UTC)
    for given in ("2026-11-29T10:00:00Z", "2026-11-29T12:00:00 02:00", "2026-11-29T10:00", ten.timestamp()):
        assert parse_moment(given, "at") == ten
    assert parse_moment(ten.timestamp() * 1000, "at") == ten
    assert parse_moment("", "since") is None
