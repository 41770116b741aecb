"""Which component says what of an answer, an error, or silence."""

from __future__ import annotations

import pytest

from core.errors import PermissionDenied, SchemaMismatch
from core.health.judging import COMPONENTS, OPTIONAL, Judge
from core.health.together import Outcome

DENIED = Outcome(True, error=PermissionDenied("refused"))
MISSING = Outcome(True, error=SchemaMismatch("missing"))


def _judge(role: str = "service_role") -> Judge:
    return Judge(role=role, embedded=True, migrations=(), deadline_s=4.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(OPTIONAL - {"webhook"}))
def test_what_an_older_database_lacks_is_no_component(name: str) -> None:
    """Absent, not unknown: a database that was never migrated so far is described by the migrations."""
    assert _judge().verdict(name, {COMPONENTS[name][1]: MISSING}, None) is None


def test_what_this_version_cannot_do_without_is_down() -> None:
    """The match function, for one."""
    verdict = _judge().verdict("search", {"match": MISSING}, None)
    assert verdict is not None and verdict.status == "down" and verdict.code == "needs_migration"


@pytest.mark.parametrize("name", ["database", "search", "schema", "models", "plan"])
def test_a_public_key_is_named_as_the_cause(name: str) -> None:
    """Whatever it is refused: not "0 chunks", not just "refused"."""
    verdict = _judge("anon").verdict(name, {COMPONENTS[name][1]: DENIED}, None)
    assert verdict is not None and verdict.status != "ok" and verdict.code == "public_key"
    assert "anon or publishable key" in verdict.reason and "SERVICE_ROLE" in verdict.hint


def test_silence_has_its_code() -> None:
    """Down where nothing works without it, else unknown, never ok."""
    judge = _judge()
    for name, status in (("database", "down"), ("models", "unknown")):
        verdict = judge.verdict(name, {COMPONENTS[name][1]: Outcome(False)}, None)
        assert verdict is not None and (verdict.status, verdict.code) == (status, "no_answer")


def test_a_silence_elsewhere_makes_no_fault_of_the_demo() -> None:
    """What the demo shows on purpose stays so while the totals give no answer."""
    judge = _judge()
    counts = Outcome(True, {"expired": {"rows": 60, "oldest": "2020-01-01T00:00:00+00:00"}})
    known = {"counts": counts, "memory": Outcome(True, {"chunks": 5, "demo": {"chunks": 5}})}
    for outcomes in (known, {"counts": counts, "memory": Outcome(False)}):
        verdict = judge.verdict("expired", outcomes, None)
        assert verdict is not None and verdict.status == "ok"
