"""Saved views: whose they are, what they hold, what is told of them, and what an erasure leaves."""

from __future__ import annotations

import json
import uuid
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.errors import ConflictError, Forbidden, InputError, NotFound, TooLarge
from core.events import Actor, run_as, user
from core.services.view_store import ViewState
from core.services.views import AT_ONCE, STATE_LIMIT
from tests.support.people import KEY, RU, dialog

ANN = user("oidc:ann", "ann@x.org", ["tuner"])
BOB = user("oidc:bob", "bob@x.org", ["viewer"])
ROOT = user("oidc:root", "root@x.org", ["admin"])
STATE = ViewState({"scope": "all", "by": ["model", "phase"]}, {"limit": 12, "on": True}, {"query": "walks"})


def kept(core: Core, who: Actor = ANN, name: str = "Monday", shared: bool = False, state: ViewState = STATE) -> str:
    with run_as(who):
        return core.views.save("search", name, state, shared=shared)[0].id


def told(core: Core, type: str) -> list[dict[str, Any]]:
    return [dict(row.payload) for row in core.events.store.query(type=type).rows]


def test_a_private_view(core: Core) -> None:
    """Its owner opens exactly what was kept; for anybody else, an administrator too, it is not there."""
    id = kept(core)
    with run_as(ANN):
        opened = core.views.open("search", id)
        assert (opened.state, opened.masked, opened.view.mine, opened.view.shared) == (STATE, False, True, False)
        assert [view.id for view in core.views.list("search")] == [id]
        assert core.views.list("dialogs") == ()
        with pytest.raises(NotFound):
            core.views.open("dialogs", id)
    for other in (BOB, ROOT):
        with run_as(other):
            assert core.views.list("search") == ()
            for ask in (
                lambda: core.views.open("search", id),
                lambda: core.views.rename(id, "mine"),
                lambda: core.views.drop(id),
            ):
                with pytest.raises(NotFound, match="no such view"):
                    ask()


def test_a_view_of_the_team(core: Core) -> None:
    """Everybody opens it; its owner or an administrator changes it; who may not share keeps their own."""
    with pytest.raises(Forbidden):
        kept(core, BOB, shared=True)
    id = kept(core, shared=True)
    with run_as(BOB):
        assert [(view.mine, view.by) for view in core.views.list("search")] == [(False, "ann@x.org")]
        assert core.views.open("search", id).state.address == STATE.address
        with pytest.raises(Forbidden, match="somebody else's"):
            core.views.drop(id)
        with pytest.raises(Forbidden, match="somebody else's"):
            core.views.rename(id, "mine")
    with run_as(ROOT):
        core.views.rename(id, "Tuesday")
        core.views.drop(id)
    for who in (ANN, BOB):
        with run_as(who), pytest.raises(NotFound, match="was deleted"):
            core.views.open("search", id)
    assert told(core, "ViewDropped") == [{"view_id": id, "page": "search"}]
    assert [event["name"] for event in told(core, "ViewSaved")] == ["Tuesday", "Monday"]


def test_the_same_name_replaces(core: Core) -> None:
    """The id stays, so a link stays; another owner's view of that name is another; a name is taken once."""
    id = kept(core)
    with run_as(ANN):
        view, replaced = core.views.save("search", " monday ", ViewState({"scope": "one"}))
        assert (view.id, replaced, core.views.open("search", id).state.address) == (id, True, {"scope": "one"})
        other, _ = core.views.save("search", "Friday", STATE)
        with pytest.raises(ConflictError, match="this name"):
            core.views.rename(other.id, "MONDAY")
    assert kept(core, BOB) != id


def test_nothing_of_people_is_told(core: Core) -> None:
    """Events hold the name, masked, and nothing of the state; the page reads the name masked as well."""
    core.ingest.ingest(dialog("Олена Ковальська", RU, "tu-640218"))
    state = ViewState({}, {}, {"query": "чи пише Олена"}, KEY)
    id = kept(core, ANN, "Олена, olena.k@example.org", True, state)
    events = json.dumps(told(core, "ViewSaved"), ensure_ascii=False)
    assert "[name]" in events and "[e-mail]" in events
    assert not [word for word in ("Олен", "example.org", KEY, "пише") if word in events]
    with run_as(ANN):
        assert core.views.open("search", id).state.texts == {"query": "чи пише Олена"}
    with run_as(BOB):
        opened = core.views.open("search", id)
    assert opened.masked and opened.state.texts == {"query": "чи пише [name]"}
    assert "Олен" not in opened.view.name


def test_an_erasure_takes_it(core: Core, dsn: str) -> None:
    """A view of the dialog goes whole; one that only names it in its state loses the name."""
    core.ingest.ingest(dialog("Олена", RU, "tu-640218"))
    of_dialog = kept(core, ANN, "one", state=ViewState({}, {}, {"query": "Олена"}, KEY))
    follows = kept(core, ANN, "two", state=ViewState({}, {"activity.about": KEY}))
    core.erasures.erase(KEY, "request")
    with psycopg.connect(dsn) as db:
        rows = db.execute("select v::text || s::text from desk_views v left join desk_view_states s on true").fetchall()
    assert rows and not [row for row in rows if KEY in row[0] or "Олена" in row[0]]
    with run_as(ANN):
        with pytest.raises(NotFound):
            core.views.open("search", of_dialog)
        assert core.views.open("search", follows).state.plain == {"activity.about": "erased"}
    assert not [event for event in told(core, "ViewSaved") if event.get("view_id") == of_dialog]


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (ViewState({"a b": "x"}), InputError),
        (ViewState({}, {"x": {"deep": 1}}), InputError),
        (ViewState({}, {"x": float("nan")}), InputError),
        (ViewState({}, {}, {"query": 7}), InputError),  # type: ignore[dict-item]
        (ViewState({}, {}, {"query": "ї" * (STATE_LIMIT // 2)}), TooLarge),
    ],
)
def test_what_is_no_state(core: Core, state: ViewState, error: type[Exception]) -> None:
    """Refused before anything is written; the largest that fits is kept."""
    with pytest.raises(error):
        kept(core, state=state)
    assert told(core, "ViewSaved") == []
    kept(core, state=ViewState({}, {}, {"query": "ї" * (STATE_LIMIT // 2 - 100)}))


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_what_is_no_name(core: Core, name: str) -> None:
    """Said by its field."""
    with pytest.raises(InputError) as refused:
        kept(core, name=name)
    assert refused.value.field == "name"


def test_what_is_no_id(core: Core) -> None:
    """An unknown id, and what cannot be one, are both simply not there."""
    for id in (str(uuid.uuid4()), "x", "' or 1=1 --", "../search"):
        for ask in (core.views.drop, lambda id: core.views.open("search", id)):
            with pytest.raises(NotFound):
                ask(id)


def test_so_many_and_no_more(core: Core, dsn: str) -> None:
    """Of one owner; replacing one is still possible."""
    kept(core)
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(
            "insert into desk_views"
            " select gen_random_uuid(), owner, owner_name, page, 'n' || n, false, null, now(), now()"
            " from desk_views, generate_series(2, %s) n",
            [AT_ONCE],
        )
    with pytest.raises(ConflictError, match="Delete one first"):
        kept(core, name="one more")
    kept(core)


@pytest.mark.nobody
def test_nobody_has_views(core: Core) -> None:
    """Where nobody acts nothing is listed, opened or kept."""
    for ask in (
        lambda: core.views.list("search"),
        lambda: core.views.open("search", str(uuid.uuid4())),
        lambda: core.views.save("search", "x", STATE),
        lambda: core.views.drop(str(uuid.uuid4())),
    ):
        with pytest.raises(Forbidden):
            ask()
