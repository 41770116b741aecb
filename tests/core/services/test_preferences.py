"""The time zone of one person: chosen, kept, told; the installation's for everybody else and while nobody can say."""

from __future__ import annotations

import pytest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable, Forbidden, InputError
from core.events import run_as, user
from core.services.preferences import KEPT_S, REST_S, Preferences, zones

ANN = user("oidc:ann", "ann@x.org", ["viewer"])
BOB = user("oidc:bob", "bob@x.org", ["viewer"])


def test_of_one_person(core: Core) -> None:
    """It holds at once, for them alone, and can be taken back; told without the zone, as it says where they are."""
    with run_as(ANN):
        assert str(core.preferences.zone()) == "UTC"
        assert core.preferences.choose("Asia/Tokyo")
        assert not core.preferences.choose("Asia/Tokyo")
        assert str(core.preferences.zone()) == "Asia/Tokyo"
    with run_as(BOB):
        assert core.preferences.chosen() is None
    with run_as(ANN):
        assert core.preferences.choose(None)
        assert str(core.preferences.zone()) == "UTC"
    assert core.events.flush()
    rows = core.events.store.query(type="PreferenceChanged").rows
    assert [dict(row.payload) for row in rows] == [{"preference": "time_zone"}] * 2
    assert {row.event_class for row in rows} == {"observation"}


@pytest.mark.parametrize("zone", ["", "Mars/Base", "../etc/passwd", "Etc/GMT+3"])
def test_what_is_no_zone(core: Core, zone: str) -> None:
    """Refused before it is stored."""
    with pytest.raises(InputError):
        core.preferences.choose(zone)
    assert core.preferences.chosen() is None


def test_while_nobody_can_say(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was known last holds; for somebody unknown the installation's."""
    now = [0.0]
    mine = Preferences(core.db, core.events, core.clock, core.settings.zone, lambda: now[0])
    with run_as(ANN):
        mine.choose("Asia/Tokyo")

        def away(*_: object, **__: object) -> None:
            raise DatabaseUnavailable("away")

        monkeypatch.setattr(core.db, "rpc", away)
        now[0] = KEPT_S + 1
        assert str(mine.zone()) == "Asia/Tokyo"
    with run_as(BOB):
        assert str(mine.zone()) == "UTC"


def test_a_database_that_is_away_is_not_asked_for_every_date(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, and again after a while; then what was chosen holds."""
    now, asked = [0.0], list[float]()
    mine = Preferences(core.db, core.events, core.clock, core.settings.zone, lambda: now[0])
    mine.choose("Asia/Tokyo")
    now[0] = KEPT_S + 1

    def away(*_: object, **__: object) -> None:
        asked.append(now[0])
        raise DatabaseUnavailable("The database does not answer.")

    with monkeypatch.context() as broken:
        broken.setattr(core.db, "rpc", away)
        assert [mine.zone().key for _ in range(3)] == ["Asia/Tokyo"] * 3
        assert len(asked) == 1
        now[0] += REST_S + 1
        assert mine.zone().key == "Asia/Tokyo" and len(asked) == 2
    now[0] += REST_S + 1
    assert mine.zone().key == "Asia/Tokyo" and mine.chosen() == "Asia/Tokyo"


def test_a_change_elsewhere_is_seen(core: Core) -> None:
    """After half a minute, not before."""
    now = [0.0]
    here = Preferences(core.db, core.events, core.clock, core.settings.zone, lambda: now[0])
    assert here.chosen() is None
    core.preferences.choose("Asia/Tokyo")
    assert here.chosen() is None
    now[0] = KEPT_S + 1
    assert here.chosen() == "Asia/Tokyo"


def test_the_list() -> None:
    """Zones that people know, each once."""
    assert {"UTC", "Europe/Kyiv", "America/New_York", "Asia/Kolkata"} <= set(zones())
    assert len(set(zones())) == len(zones()) > 300


@pytest.mark.nobody
def test_nobody_prefers(core: Core) -> None:
    """Where nobody acts."""
    for ask in (core.preferences.chosen, core.preferences.zone, lambda: core.preferences.choose(None)):
        with pytest.raises(Forbidden):
            ask()
