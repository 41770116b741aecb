"""In the head of a page: the views that are kept of it, and the way to keep what is shown now."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.errors import CoreError
from core.services.view_store import Opened, SavedView
from core.services.views import NAME_LIMIT
from pages._shared import session
from pages._shared.fragments import fragment
from pages._shared.literal import words
from pages._shared.resources import core
from pages._shared.sitemap import Place
from pages._shared.views import state
from pages._shared.views.opening import REFUSED, SHOWN, VIEW

OPEN = "views-open"
CHOSEN = "views-chosen"
NAME = "views-name"
SHARE = "views-share"
RENAMED = "views-renamed"
SAID = "desk.views.said"


def control(here: Place) -> None:
    """Draws nothing on a page without a state of its own."""
    if here.name in state.PAGES and session.may("save_view"):
        _popover(here.name)


def told() -> None:
    """Under the head: which view was opened here, or why none was."""
    if refused := st.session_state.pop(REFUSED, None):
        st.info(refused)
    if SHOWN in st.session_state:
        opened: Opened = st.session_state[SHOWN][1]
        by = "" if opened.view.mine else f", kept by {words(opened.view.by)}"
        masked = " Names and addresses in what they typed are masked." if opened.masked else ""
        st.caption(f"View: {words(opened.view.name)}{by}.{masked}")


@fragment
def _popover(page: str) -> None:
    with st.popover("Views", icon=":material/bookmark:", type="tertiary", key=OPEN, on_change="rerun") as popover:
        if not popover.open:  # a head never waits
            return
        try:
            found = core().views.list(page)
        except CoreError as error:
            st.text(str(error))
            return
        with st.container(width=380):
            _list(found)
            _save(page)
            if said := st.session_state.pop(SAID, None):
                st.text(said)


def _list(found: tuple[SavedView, ...]) -> None:
    if not found:
        st.text("No view of this page is kept yet.")
        return
    by_id = {view.id: view for view in found}
    if st.session_state.get(CHOSEN) not in by_id:
        st.session_state[CHOSEN] = found[0].id
    id = st.selectbox("View", list(by_id), key=CHOSEN, format_func=lambda id: _option(by_id[id]))
    view = by_id[id]
    with st.container(horizontal=True, vertical_alignment="center"):
        # A plain link: the browser comes anew, as it does for whoever gets the link.
        st.html(f'<a href="?{VIEW}={view.id}" style="color: inherit">Open this view</a>', width="content")
        if view.mine or "admin" in session.actor().roles:
            st.button("Delete", key="views-delete", type="tertiary", on_click=_drop, args=(view.id,))
    if view.mine or "admin" in session.actor().roles:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input("Another name", key=RENAMED, max_chars=NAME_LIMIT)
            st.button("Rename", key="views-rename", on_click=_rename, args=(view.id,))
    if address := (st.context.url or "").partition("?")[0]:
        st.caption("Its link, for whoever may see this page:" if view.shared else "Its link, for you alone:")
        st.code(f"{address}?{VIEW}={view.id}", language=None, wrap_lines=True)


def _option(view: SavedView) -> str:
    whose = "shared by you" if view.mine and view.shared else "yours" if view.mine else f"of {view.by}"
    return f"{view.name} · {whose}"


def _save(page: str) -> None:
    with st.form("views-save", border=False):
        st.text_input("Keep what is shown now as", key=NAME, max_chars=NAME_LIMIT, placeholder="a name")
        if session.may("share_view"):
            st.checkbox("Share it with the team", key=SHARE, help="Without this it is yours alone.")
        st.form_submit_button("Keep", on_click=_keep, args=(page,))
    st.caption("Filters, days, the dialog in hand and what was typed. One of the same name is replaced.")


def _keep(page: str) -> None:
    def do() -> str:
        name, shared = st.session_state.get(NAME) or "", bool(st.session_state.get(SHARE))
        view, replaced = core().views.save(page, name, state.now(page), shared=shared)
        st.session_state[CHOSEN], st.session_state[NAME] = view.id, ""
        return "Replaced: its link shows this now." if replaced else "Kept."

    _tell(do)


def _rename(id: str) -> None:
    def do() -> str:
        core().views.rename(id, st.session_state.get(RENAMED) or "")
        st.session_state[RENAMED] = ""
        return "Renamed."

    _tell(do)


def _drop(id: str) -> None:
    def do() -> str:
        core().views.drop(id)
        st.session_state.pop(CHOSEN, None)
        return "Deleted. Whoever has the link is told so."

    _tell(do)


def _tell(do: Callable[[], str]) -> None:
    try:
        st.session_state[SAID] = do()
    except CoreError as error:
        st.session_state[SAID] = str(error)
