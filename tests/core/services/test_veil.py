"""Who may lift the veil, from what, for how long; and that the record of it comes first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable, Forbidden, InputError
from core.events.actor import run_as, user
from core.events.store import EventStore
from core.services.veil import LASTS, Reveal, Veil, View
from tests.support.people import KEY, RU, remember

SEEN = View("dialogs", KEY)
AUDITOR = user("ann", "Ann", ("auditor",))


class Later:
    """A clock of its own, some time after the one of the core."""

    def __init__(self, core: Core, by: timedelta) -> None:
        self._core, self._by = core, by

    def now(self) -> Any:
        return self._core.clock.now() + self._by


def test_recorded_before_it_is_given(core: Core, dsn: str) -> None:
    """Who, which view, and why, masked; in the database at once, not in a queue."""
    remember(core, dsn)
    with run_as(AUDITOR):
        core.veil.open(SEEN, f"  Олена \n asked,\tsee {RU} ")
    (row,) = [r for r in core.events.store.query(limit=100).rows if r.type == "PersonalDataRevealed"]
    assert dict(row.payload) == {"page": "dialogs", "dialog_key": KEY, "reason": "[name] asked, see [id]"}
    assert (row.actor.principal_id, row.event_class) == ("ann", "audit")


@pytest.mark.parametrize("roles", [("viewer",), ("tuner",), ("operator",), ("owner",), ("viewer", "tuner"), ()])
def test_only_who_may(core: Core, roles: tuple[str, ...]) -> None:
    """Auditors and admins alone; nothing is recorded of a try that was refused."""
    with run_as(user("bob", "Bob", roles)), pytest.raises(Forbidden):
        core.veil.open(SEEN, "because")
    assert [r for r in core.events.store.query(limit=100).rows if r.type == "PersonalDataRevealed"] == []


@pytest.mark.parametrize("reason", ["", "ab", "\x00\x01\x02\x03", "x" * 201])
def test_a_reason_has_a_length(core: Core, reason: str) -> None:
    """Of what can be read."""
    with run_as(AUDITOR), pytest.raises(InputError) as caught:
        core.veil.open(SEEN, reason)
    assert caught.value.field == "reason"


def test_nothing_is_given_without_its_record(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is away: the error goes up, no reveal comes back."""

    def away(self: EventStore, rows: Any) -> Any:
        raise DatabaseUnavailable("The database does not answer.")

    monkeypatch.setattr(EventStore, "append", away)
    with run_as(AUDITOR), pytest.raises(DatabaseUnavailable):
        core.veil.open(SEEN, "because")


@pytest.mark.parametrize(
    "other", [View("snapshots", KEY), View("dialogs", "other"), View("dialogs"), View("dialogs", KEY, "record")]
)
def test_it_holds_for_its_view_alone(core: Core, other: View) -> None:
    """Another page, another dialog, none, one record: another view."""
    with run_as(AUDITOR):
        found = core.veil.open(SEEN, "because")
        assert core.veil.holds(found, SEEN)
        assert not core.veil.holds(found, other)
        assert not core.veil.holds(None, SEEN)


def test_it_ends(core: Core) -> None:
    """After its time, and not before; with the role; for anybody else."""
    with run_as(AUDITOR):
        found: Reveal = core.veil.open(SEEN, "because")
        for by, held in ((LASTS - timedelta(seconds=30), True), (LASTS, False)):
            veil = Veil(core.veil.people, core.events, Later(core, by))
            assert veil.holds(found, SEEN) is held
    for other in (user("ann", "Ann", ("viewer",)), user("eve", "Eve", ("admin",))):
        with run_as(other):
            assert not core.veil.holds(found, SEEN)
