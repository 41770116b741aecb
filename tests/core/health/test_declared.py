"""The names that migrations make."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
import pytest

from core.bootstrap import MIGRATIONS, Core
from core.health.declared import declared
from core.local.migrate import read_migrations


@dataclass
class File:
    sql: str


def test_what_a_later_file_drops_is_not_wanted() -> None:
    """Statements at the beginning of a line count, those inside a function do not."""
    found = declared(
        [
            File(
                "create table if not exists public.desk_a (id int);\ncreate or replace function desk_f() returns json"
            ),
            File("drop function if exists desk_f();\ncreate table desk_b (id int);\n    create table desk_c (id int);"),
        ]
    )
    assert found.tables == {"desk_a", "desk_b"} and found.functions == frozenset()
    assert found.missing({"tables": ["desk_a"], "functions": []}) == ["desk_b"]
    assert found.missing({}) == []


def test_a_migrated_database_lacks_nothing(core: Core) -> None:
    """All tables and functions of all migrations, and none of them open to the public key."""
    state = core.db.rpc("desk_schema_state", {}, read=True, returns=dict)
    assert declared(read_migrations(MIGRATIONS)).missing(state) == []
    assert state["unprotected"] == []


@pytest.mark.parametrize(
    ("change", "component", "name"),
    [
        ("alter table desk_jobs rename to elsewhere", "schema", "desk_jobs"),
        ("alter function desk_start_job rename to elsewhere", "schema", "desk_start_job"),
        (
            "alter table desk_prices disable row level security; grant select on desk_prices to anon",
            "protection",
            "desk_prices",
        ),
    ],
)
def test_health_names_what_is_gone_or_open(core: Core, dsn: str, change: str, component: str, name: str) -> None:
    """Also tables and functions that came after the first migrations."""
    back = {
        "desk_jobs": "alter table elsewhere rename to desk_jobs",
        "desk_start_job": "alter function elsewhere rename to desk_start_job",
        "desk_prices": "alter table desk_prices enable row level security; revoke select on desk_prices from anon",
    }[name]
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(change)  # type: ignore[arg-type]
        try:
            found = core.health.report().component(component)
        finally:
            db.execute(back)  # type: ignore[arg-type]
    assert found.status == "down" and name in found.reason
