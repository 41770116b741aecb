"""Verdicts: pure, one per component."""

from __future__ import annotations

from typing import Any

import pytest

from core.health import checks

FACTS: dict[str, Any] = {
    "postgres": "18.4",
    "pgvector": "0.8.5",
    "tables": [{"name": "client_memory_chunks", "exists": True, "rls": True, "anon_can_read": False}],
    "functions": [{"name": "match_client_memory_chunks", "exists": True, "ours": True}],
    "indexes": [
        {"name": "i", "table": "client_memory_chunks", "def": "CREATE INDEX i USING hnsw (...)", "valid": True}
    ],
    "chunk_columns_missing": [],
    "unprotected": [],
}
MEMORY: dict[str, Any] = {
    "chunks": 100,
    "dialogs": 4,
    "by_model": {"m1": 100},
    "ambiguous_pairs": 0,
    "rollup_stale": False,
    "demo": {"state": "removed", "chunks": 0},
}


def test_all_is_well() -> None:
    """Every verdict on sound answers is ok, with a sentence."""
    verdicts = [
        checks.judge_chunks(5, "service_role"),
        checks.judge_chunks(0, "service_role"),
        checks.judge_schema(FACTS),
        checks.judge_protection(FACTS),
        checks.judge_index(FACTS),
        checks.judge_models(MEMORY, "m1"),
        checks.judge_keys(MEMORY),
        checks.judge_rollups(MEMORY, None),
        checks.judge_rollups(MEMORY, {"equal": True, "differing": []}),
        checks.judge_embedder("m1", False),
        checks.judge_spool(3, 0, 0, None),
    ]
    for verdict in verdicts:
        assert verdict.status == "ok" and verdict.reason.endswith(".")


@pytest.mark.parametrize(("count", "words"), [(0, "sees no row"), (7, "sees 7 rows")])
def test_a_public_key_is_no_green_light(count: int, words: str) -> None:
    """Zero rows through row-level security look like an empty table; the page must say which it is."""
    verdict = checks.judge_chunks(count, "anon")
    assert verdict.status == "degraded" and words in verdict.reason
    assert "SERVICE_ROLE_KEY" in verdict.hint


@pytest.mark.parametrize(
    "change",
    [
        {"tables": [{"name": "desk_meta", "exists": False}]},
        {"functions": [{"name": "desk_meta", "exists": False, "ours": False}]},
        {"chunk_columns_missing": ["desk_meta"]},
    ],
)
def test_what_is_missing_is_named_and_migrating_helps(change: dict[str, Any]) -> None:
    """A table, a function or a column."""
    verdict = checks.judge_schema({**FACTS, **change})
    assert verdict.status == "down" and "desk_meta" in verdict.reason and "migrate" in verdict.hint


def test_a_function_that_is_not_ours_is_degraded() -> None:
    """The existing service may have put its own form back."""
    verdict = checks.judge_schema({**FACTS, "functions": [{"name": "match", "exists": True, "ours": False}]})
    assert verdict.status == "degraded" and "match" in verdict.reason


def test_an_unprotected_table_is_red() -> None:
    """And named; a long list is cut with its number."""
    verdict = checks.judge_protection({**FACTS, "unprotected": list("abcdef")})
    assert verdict.status == "down" and "a, b, c, d and 2 more" in verdict.reason


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"pgvector": None}, "down"),
        ({"indexes": []}, "degraded"),
        ({"indexes": [{**FACTS["indexes"][0], "valid": False}]}, "degraded"),
        ({"indexes": [{**FACTS["indexes"][0], "table": "other"}]}, "degraded"),
        ({"indexes": [{**FACTS["indexes"][0], "def": "USING btree"}]}, "degraded"),
    ],
)
def test_the_vector_index(change: dict[str, Any], status: str) -> None:
    """Missing, invalid, on another table, of another kind."""
    assert checks.judge_index({**FACTS, **change}).status == status


@pytest.mark.parametrize(
    ("by_model", "model", "demo", "status", "stale"),
    [
        ({"m1": 95, "m2": 5}, "m1", 0, "ok", 5),
        ({"m1": 94, "m2": 6}, "m1", 0, "degraded", 6),
        ({"m1": 94, "m2": 6}, "m1", 100, "ok", 6),
        ({"m1": 94, "m2": 6}, "m1", 99, "degraded", 6),
        ({"m2": 100}, "m1", 0, "degraded", 100),
        ({"m2": 100}, "m1", 100, "degraded", 100),
        ({}, "m1", 0, "ok", 0),
        (None, "m1", 0, "ok", 0),
        ({"m1": 100}, None, 0, "unknown", None),
    ],
)
def test_rows_of_another_model(
    by_model: dict[str, int] | None, model: str | None, demo: int, status: str, stale: int | None
) -> None:
    """Counted always; degraded above 5 percent, unless there is only demo data, which means to show some."""
    verdict = checks.judge_models({**MEMORY, "by_model": by_model, "demo": {"chunks": demo}}, model)
    assert (verdict.status, verdict.facts.get("stale")) == (status, stale)


def test_pairs_under_both_keys() -> None:
    """Real ones are degraded, those of the demo alone are meant."""
    assert checks.judge_keys({**MEMORY, "ambiguous_pairs": 2}).status == "degraded"
    assert checks.judge_keys({**MEMORY, "ambiguous_pairs": 2, "demo": {"chunks": 100}}).status == "ok"
    assert checks.judge_keys({**MEMORY, "ambiguous_pairs": 1}).reason.startswith("1 pair has")
    assert checks.judge_keys({**MEMORY, "ambiguous_pairs": 2, "demo": None}).facts == {"ambiguous_pairs": 2}


def test_rollups_that_are_stale_or_differ() -> None:
    """By the mark of a trigger, or by counting."""
    assert checks.judge_rollups({**MEMORY, "rollup_stale": True}, None).status == "degraded"
    daily = {"at": "2026-11-30T14:02:00+00:00", "totals": {"equal": False, "differing": 2}}
    verdict = checks.judge_rollups(MEMORY, daily)
    assert (verdict.status, verdict.facts["differing"]) == ("degraded", 2)
    assert checks.judge_rollups(MEMORY, {**daily, "totals": {"equal": True, "differing": 0}}).status == "ok"


@pytest.mark.parametrize(
    ("figures", "word"),
    [((5, 1, 0, None), "memory only"), ((5, 0, 0, 12.0), "wait on disk"), ((0, 0, 2, None), "refused")],
)
def test_the_spool(figures: tuple[int, int, int, float | None], word: str) -> None:
    """A full disk, a database that takes nothing, and rows set aside."""
    verdict = checks.judge_spool(*figures)
    assert verdict.status == "degraded" and word in verdict.reason


def test_no_embedder() -> None:
    """It names the variable."""
    verdict = checks.judge_embedder(None, False)
    assert verdict.status == "degraded" and "BESCO_GEMINI_API_KEY" in verdict.hint
