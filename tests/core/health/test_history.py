"""The history of migrations: pending, destructive, and the existing service's own."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from core.health.history import LEGACY_FILE, destructive_statement, judge_history


@dataclass(frozen=True)
class File:
    version: str
    name: str
    sql: str = "create table x ()"


FILES = [File("20261130100000", "a"), File("20261130100100", "b")]
DONE = [{"version": f.version, "name": f.name} for f in FILES]
LEGACY = {"version": "20260519", "name": "gemini_memory_embeddings"}


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("truncate client_memory_chunks;", "truncate"),
        ("TRUNCATE TABLE ONLY public.client_memory_chunks cascade", "truncate"),
        ("drop  table if exists public.token_usage_log", "drop table"),
        ('delete from "tips_daily_entity_snapshots"', "delete from"),
        ("-- truncate client_memory_chunks\nselect 1", None),
        ("/* drop table\nclient_memory_chunks */ select 1", None),
        ("truncate client_memory_chunks_old", None),
        ("create index on client_memory_chunks (id)", None),
        ("truncate desk_dialogs", None),
    ],
)
def test_destructive_statements(sql: str, kind: str | None) -> None:
    """Found in each spelling, not in comments, and only on the tables that hold what cannot be made again."""
    assert destructive_statement(sql) == kind


def test_all_applied() -> None:
    """Embedded: nothing else matters."""
    verdict = judge_history(FILES, DONE, embedded=True)
    assert (verdict.status, verdict.facts["pending"]) == ("ok", [])


def test_pending_files_are_named() -> None:
    """With what to run."""
    verdict = judge_history(FILES, DONE[:1], embedded=True)
    assert verdict.status == "degraded"
    assert verdict.facts["pending"] == ["20261130100100_b.sql"]
    assert "migrate" in verdict.hint


def test_a_pending_file_that_empties_a_table_is_flagged_before_it_runs() -> None:
    """The hint says to look first."""
    files = [*FILES, File("20261201000000", "wipe", "truncate client_memory_chunks")]
    verdict = judge_history(files, DONE, embedded=True)
    assert verdict.facts["destructive"] == {"20261201000000_wipe.sql": "truncate"}
    assert "20261201000000_wipe.sql" in verdict.hint


def test_the_legacy_truncation_is_flagged_where_it_may_still_run() -> None:
    """On a hosted project whose history does not hold it; never on the embedded one, nor once it is recorded."""
    verdict = judge_history(FILES, DONE, embedded=False)
    assert verdict.status == "degraded"
    assert verdict.facts["destructive"] == {LEGACY_FILE: "truncate"}
    assert "migration repair --status applied 20260519" in verdict.hint
    recorded = judge_history(FILES, [*DONE, LEGACY], embedded=False)
    assert (recorded.status, recorded.facts["foreign"], recorded.facts["destructive"]) == ("ok", ["20260519"], {})
