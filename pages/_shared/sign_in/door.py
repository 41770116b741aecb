"""What stands before everything else where people sign in: the way in, and in the sidebar who is here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from core.access.sessions import NotSignedIn
from core.config import is_loopback
from core.errors import CoreError
from core.events import Actor
from pages._shared import session
from pages._shared.feedback import broken
from pages._shared.lifespan import bound_address
from pages._shared.resources import core
from pages._shared.sign_in.ways import ways
from pages._shared.sitemap import PLACES


def enter() -> Actor:
    """Whoever may come in; for anybody else the sign-in page at whatever address, without a navigation, and then the
    end of the run."""
    try:
        actor = session.actor()
    except NotSignedIn as nobody:
        _outside(partial(_ask, nobody))
    except CoreError as error:
        _outside(partial(broken, "Sign-in", error, holds="Nobody is let in meanwhile."))
    if session.sign_in_configured() and not actor.roles:
        _outside(partial(_no_role, actor))
    return actor


def _outside(ask: Callable[[], None]) -> NoReturn:
    # A run without a navigation would leave the one of before on the screen.
    doors = [_door(ask, place.name, default=place is PLACES[0]) for place in PLACES]
    st.navigation(doors, position="hidden").run()
    st.stop()


def _door(ask: Callable[[], None], path: str, *, default: bool) -> StreamlitPage:
    return st.Page(lambda: ask(), title="Memory Desk", url_path=path, default=default, visibility="hidden")


def who(actor: Actor) -> None:
    """In the sidebar: who is here, with which roles, and the way out."""
    roles = ", ".join(sorted(actor.roles)) or "no role"
    if session.sign_in_configured():
        with st.container(horizontal=True, vertical_alignment="center", key="who"):
            st.text(f"{actor.display_name}: {roles}", width="stretch")
            st.button("Sign out", key="sign-out", type="tertiary", on_click=_leave)
        return
    if is_loopback(bound_address()):
        st.caption(f"No sign-in: everybody at this machine is {roles}.")
    else:
        st.warning(f"No sign-in: whoever reaches this server is {roles}.")


def _ask(nobody: NotSignedIn) -> None:
    with _card("sign-in"):
        if nobody.why != "nobody":
            st.warning(f"{nobody.what} Sign in again to go on.")
        else:
            st.text("Sign in to look into the memory.")
            st.caption("Your role decides what you see. People stay masked; every reveal is recorded.")
        for way in ways():
            st.button(
                f"Sign in with {way.title}",
                key=f"sign-in-{way.name or 'default'}",
                type="primary",
                on_click=st.login,
                args=(way.name,) if way.name else (),
            )


@contextmanager
def _card(key: str) -> Iterator[None]:
    with st.container(horizontal_alignment="center"), st.container(width=440, border=True, key=key):
        st.header("Memory Desk", anchor=False)
        yield


def _no_role(actor: Actor) -> None:
    with _card("no-role"):
        st.text(f"You are signed in as {actor.display_name}, and have no role here.")
        st.text("Ask an administrator for one; it holds at your next click.")
        st.button("Sign out", key="sign-out", on_click=_leave)


def _leave() -> None:
    """Ended here first: should the database be away, the cookie goes all the same."""
    try:
        core().access_desk.sessions.end(session.claims())
    finally:
        for key in list(st.session_state):
            del st.session_state[key]
        st.logout()
