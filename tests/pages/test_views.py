"""Saved views and the time zone of one person, on the pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable
from core.events import LOCAL_OPERATOR, run_as, user
from core.services.view_store import ViewState
from pages._shared import resources, sitemap
from pages._shared.activity import filters
from pages._shared.companion import workbench
from pages._shared.missions import reading as missions
from pages._shared.prompts import reading as prompts
from pages._shared.routines import reading as routines
from pages._shared.search import ask
from pages._shared.session import DIALOG
from pages._shared.snapshots import choices as snapshots
from pages._shared.tuning import choices as tuning
from pages._shared.usage import choices as usage
from pages._shared.views import control
from pages._shared.views.state import PAGES
from pages._shared.zone import OWN_DAY
from tests.pages.conftest import ROOT, calm, texts
from tests.support.people import KEY, QUERY, RU, TU, remember

Open = Callable[..., AppTest]
ANN = user("oidc:ann", "ann@x.org", ["tuner"])


def by_ann(core: Core, page: str, state: ViewState, *, shared: bool = True, name: str = "Of Monday") -> str:
    with run_as(ANN):
        return core.views.save(page, name, state, shared=shared)[0].id


def linked(open_page: Open, page: str, id: str) -> AppTest:
    """A browser that comes with nothing but the link."""
    at = open_page("overview")
    at.query_params["view"] = id
    return at.switch_page(str(ROOT / "pages" / f"{page}.py")).run()


def views_open(at: AppTest) -> AppTest:
    at.session_state[control.OPEN] = True
    return calm(at.run())


def pressed(at: AppTest, label: str) -> AppTest:
    return calm(next(b for b in at.button if b.label == label).click().run())


def test_kept_and_opened_again(stored: Core, open_page: Open) -> None:
    """What was typed, sorted and chosen comes back in a tab that knows nothing; the address holds no word of it."""
    at = open_page("dialogs")
    at.text_input(key="find").input("ru-1").run()
    at.selectbox(key="sort").select("chunks").run()
    views_open(at)
    at.text_input(key=control.NAME).input("Big ones")
    pressed(at, "Keep")
    assert "Kept." in texts(at)
    (view,) = stored.views.list("dialogs")
    assert (view.name, view.shared) == ("Big ones", False)
    fresh = calm(linked(open_page, "dialogs", view.id))
    assert fresh.text_input(key="find").value == "ru-1"
    assert fresh.selectbox(key="sort").value == "chunks"
    assert "View: Big ones." in texts(fresh)
    assert "ru-1" not in str(dict(fresh.query_params)) and "view" not in fresh.query_params


def test_shared_renamed_deleted(stored: Core, open_page: Open) -> None:
    """As the popover says; the link of a deleted one says that it was deleted, and the page stands."""
    at = views_open(open_page("dialogs"))
    at.text_input(key=control.NAME).input("Mine")
    at.checkbox(key=control.SHARE).check()
    pressed(at, "Keep")
    (view,) = stored.views.list("dialogs")
    assert view.shared
    at.text_input(key=control.RENAMED).input("Ours")
    pressed(at, "Rename")
    assert stored.views.list("dialogs")[0].name == "Ours"
    pressed(at, "Delete")
    assert stored.views.list("dialogs") == ()
    gone = calm(linked(open_page, "dialogs", view.id))
    assert "This view was deleted." in texts(gone)
    assert gone.dataframe and "view" not in gone.query_params


def test_what_is_refused_is_said(stored: Core, open_page: Open) -> None:
    """A view without a name is not kept, and the reason stands there."""
    at = views_open(open_page("dialogs"))
    pressed(at, "Keep")
    assert "A view has a name" in texts(at) and stored.views.list("dialogs") == ()


@pytest.mark.parametrize("role", ["viewer", "admin"])
def test_a_private_view_of_another(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    """Is not there, for an administrator either; the page opens without it."""
    monkeypatch.setenv("MEMORY_DESK_LOCAL_ROLE", role)
    id = by_ann(stored, "dialogs", ViewState(texts={"desk.kept.find": "tu-9"}), shared=False)
    at = calm(linked(open_page, "dialogs", id))
    assert "There is no such view of this page." in texts(at)
    assert at.text_input(key="find").value == "" and "Of Monday" not in texts(at)


def test_the_page_still_asks_for_the_role(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link to a page that is not for them opens neither page nor view."""
    monkeypatch.setenv("MEMORY_DESK_LOCAL_ROLE", "viewer")
    id = by_ann(stored, "activity", ViewState({"what": "access"}))
    at = calm(linked(open_page, "activity", id))
    assert "This page is for those who may see who did what" in texts(at)
    assert "Of Monday" not in texts(at) and not at.selectbox


def test_a_viewer_may_not_share(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """They keep views of their own, and change none of the team."""
    monkeypatch.setenv("MEMORY_DESK_LOCAL_ROLE", "viewer")
    by_ann(stored, "dialogs", ViewState({"sort": "chunks"}))
    at = views_open(open_page("dialogs"))
    assert at.selectbox(key=control.CHOSEN).options == ["Of Monday · of ann@x.org"]
    assert not {b.label for b in at.button} & {"Delete", "Rename"}
    assert not [box for box in at.checkbox if box.key == control.SHARE]


@pytest.mark.masked
def test_masked_stays_masked(core: Core, dsn: str, open_page: Open) -> None:
    """A search that somebody else kept: its dialog is in hand, no name is shown, masked words are not searched."""
    remember(core, dsn)
    state = ViewState({}, {"desk.kept.search-now": True}, {"desk.kept.query": QUERY}, KEY)
    at = calm(linked(open_page, "search", by_ann(core, "search", state)))
    assert at.session_state[DIALOG] == (KEY, RU, TU)
    assert at.text_input(key="query").value == "чи пише [name] про чай"
    assert "are masked" in texts(at) and "Nothing has been searched yet" in texts(at)
    assert not [word for word in ("Олен", RU, TU) if word in texts(at)]


@pytest.mark.masked
def test_a_search_of_ones_own_is_made_again(core: Core, dsn: str, open_page: Open) -> None:
    """Query, limit and dialog as they were, and the result at once; its texts are masked."""
    remember(core, dsn)
    state = ViewState({"limit": "3"}, {"desk.kept.search-now": True}, {"desk.kept.query": QUERY}, KEY)
    view, _ = core.views.save("search", "Tea", state)
    at = calm(linked(open_page, "search", view.id))
    assert (at.text_input(key="query").value, at.number_input(key="limit").value) == (QUERY, 3)
    assert "Nothing has been searched yet" not in texts(at)
    assert any("[name]" in code.value for code in at.code)


def test_a_page_with_views_of_its_own_word(stored: Core, open_page: Open) -> None:
    """Some pages have a code `view` in their address: an id opens a view, a code opens that part."""
    id = by_ann(stored, "snapshots", ViewState({"view": "expiry", "state": "expired"}))
    at = calm(linked(open_page, "snapshots", id))
    assert at.query_params["view"] in ("expiry", ["expiry"])
    assert "Of Monday" in texts(at)
    assert "no such view" not in texts(linked(open_page, "snapshots", "history"))


def test_the_table_names_what_the_pages_keep() -> None:
    """Every page of it exists, and the names are those under which the pages keep their state."""
    assert set(PAGES) <= {place.name for place in sitemap.PLACES}
    kept: dict[str, tuple[str, ...]] = {
        "search": (ask.NOW, "query"),
        "dialogs": ("find",),
        "prompts": (prompts.REQUEST, prompts.CHUNK, prompts.ONLY),
        "tuning": (tuning.CHOSEN,),
        "snapshots": (snapshots.ENTITY,),
        "usage": (usage.REQUEST,),
        "missions": (missions.CHOSEN,),
        "workbench": (workbench.MISSION,),
        "activity": (filters.ABOUT, filters.ACTOR),
    }
    for page, names in kept.items():
        remembered = {n for n in (*PAGES[page].plain, *PAGES[page].texts) if n.startswith("desk.kept.")}
        assert remembered == {f"desk.kept.{name}" for name in names}, page
    assert PAGES["prompts"].is_address(prompts.RECORD) and PAGES["routines"].is_address(routines.ROUTINE)
    assert not PAGES["dialogs"].is_address("find")


def shown_zone(at: AppTest) -> str:
    return next(m.value for m in at.markdown if "gray-badge[" in m.value and "Masked" not in m.value)


def test_a_zone_of_ones_own(stored: Core, open_page: Open) -> None:
    """Chosen on Settings: the head says it, times are shown in it, and nothing stored is changed."""
    before: Any = stored.dialogs.overview()
    at = open_page("settings")
    assert "UTC" in shown_zone(at)
    calm(at.selectbox(key="my-zone").select("Asia/Tokyo").run())
    assert "Asia/Tokyo" in shown_zone(at)
    with run_as(LOCAL_OPERATOR):
        assert stored.preferences.chosen() == "Asia/Tokyo"
    days = calm(open_page("dialogs", session={DIALOG: (stored.dialogs.list().rows[0].dialog_key, "ru-1", "tu-9")}))
    assert "Asia/Tokyo" in shown_zone(days) and "own day in Asia/Tokyo" in texts(days)
    assert stored.dialogs.overview() == before
    calm(at.selectbox(key="my-zone").select("").run())
    assert "UTC" in shown_zone(at)


def test_the_same_moment_an_hour_of_another_place(stored: Core, open_page: Open) -> None:
    """What a person of Tokyo reads of a moment is nine hours on; the chunk's day in a chart follows."""
    key = next(row.dialog_key for row in stored.dialogs.list().rows if row.chunks > 5)
    at = open_page("dialogs", session={DIALOG: (key, "ru-1", "tu-9")})
    stamps = [row for frame in at.dataframe if "date" in frame.value for row in frame.value["date"]]
    resources.core().preferences.choose("Asia/Tokyo")  # in the process of the pages
    later = open_page("dialogs", session={DIALOG: (key, "ru-1", "tu-9")})
    moved = [row for frame in later.dataframe if "date" in frame.value for row in frame.value["date"]]
    assert stamps and len(stamps) == len(moved)
    both = [(a, b) for a, b in zip(stamps, moved, strict=True) if isinstance(a, str) and len(a) == 16]

    assert both
    assert {datetime.fromisoformat(b) - datetime.fromisoformat(a) for a, b in both} == {timedelta(hours=9)}


def test_every_page_stands_in_another_zone(stored: Core, open_page: Open) -> None:
    """Half an hour off, a day ahead for a part of the day: no page minds."""
    stored.preferences.choose("Asia/Kolkata")
    at = open_page("overview")
    for place in sitemap.PLACES:
        calm(at.switch_page(str(ROOT / "pages" / f"{place.name}.py")).run())
        assert ("Asia/Kolkata" if place.name not in OWN_DAY else "UTC") in shown_zone(at), place.name


def test_while_the_database_is_away(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says so and keeps the id; the view opens once the database answers."""
    id = by_ann(stored, "dialogs", ViewState({"sort": "chunks"}))

    def away(*_: object) -> None:
        raise DatabaseUnavailable("The database does not answer.")

    with monkeypatch.context() as broken:
        broken.setattr("core.services.view_store.ViewStore.get", away)
        at = calm(linked(open_page, "dialogs", id))
        assert "The database does not answer." in texts(at) and "View:" not in texts(at)
    calm(at.run())
    assert "View: Of Monday" in texts(at) and at.selectbox(key="sort").value == "chunks"


def test_days_of_the_companion_stay(core: Core, open_page: Open) -> None:
    """Its pages keep to the zone of the installation, and say so."""
    core.preferences.choose("Asia/Tokyo")
    at = calm(open_page("todo"))
    assert "UTC" in shown_zone(at)
    assert "keep to UTC for everybody" in texts(open_page("settings"))
