"""What one operator has chosen in this browser tab: the shared keys of st.session_state, behind typed access.

Widgets that belong into the address are bound to it under their own short keys. Query text, ids and names are kept here
instead, and never in the address.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.access import allowed
from core.errors import CoreError
from core.events import LOCAL_OPERATOR, Actor
from core.events.actor import ask_host
from pages._shared.resources import core, settings
from pages._shared.sign_in.ways import ways

DIALOG = "desk.dialog"
EXPLORATION = "desk.exploration"
QUERY = "desk.query"


@dataclass(frozen=True)
class DialogChoice:
    """A dialog that somebody opened: its key and its pair."""

    dialog_key: str
    ru_id: str | None = None
    tu_id: str | None = None


def sign_in_configured() -> bool:
    """Whether people sign in here. Errors: ConfigError where it is set up wrongly."""
    return bool(ways())


def claims() -> dict[str, Any]:
    """What the provider says of whoever is signed in; {} for nobody."""
    return dict(st.user.to_dict())


def actor() -> Actor:
    """Who acts here, with the roles of now; without sign-in the one local operator, with those of the settings.

    Asked anew at each run, so that a lowered role, an ended session or an expired sign-in counts at the next click.
    Errors: NotSignedIn; DatabaseError where nobody can say.
    """
    if not sign_in_configured():
        return replace(LOCAL_OPERATOR, roles=settings().local_roles)
    return core().access_desk.sessions.actor_of(claims())


def later() -> Callable[[], Actor]:
    """Who acts here, to be asked outside of a page's run: for a file that is made at the click."""
    if not sign_in_configured():
        return actor
    said = claims()
    return lambda: core().access_desk.sessions.actor_of(said)


def visitor() -> Actor | None:
    """Whoever sits behind this thread: in a run, a fragment or a callback of a browser session; else None."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return None
    try:
        return actor()
    except CoreError:
        return None  # nobody, or nobody can say who


ask_host(visitor)


def may(action: str) -> bool:
    """Whether whoever acts here may do it."""
    return allowed(actor(), action)


def dialog() -> DialogChoice | None:
    """The dialog in hand; it survives a change of page."""
    kept = st.session_state.get(DIALOG)
    return DialogChoice(*kept) if kept else None


def choose_dialog(choice: DialogChoice | None) -> None:
    if choice is None:
        st.session_state.pop(DIALOG, None)
    else:
        st.session_state[DIALOG] = (choice.dialog_key, choice.ru_id, choice.tu_id)


def exploration() -> Any | None:
    """The latest search of this tab with all its cosines: what the sliders work on, so that they need no database.

    The one object kept here that is no choice: a cache with an expiry would ask the database again under a slider.
    """
    return st.session_state.get(EXPLORATION)


def keep_exploration(found: Any | None) -> None:
    st.session_state[EXPLORATION] = found


def remembered(key: str, default: Any) -> Any:
    """What `remember` kept under a key that no widget owns (a widget's value is gone when its page is left)."""
    return st.session_state.get(f"desk.kept.{key}", default)


def remember(key: str, value: Any) -> None:
    st.session_state[f"desk.kept.{key}"] = value


def page_number(key: str) -> int:
    """The page asked for, from the widget or, before it exists, from the address; 1 for anything else."""
    given = st.session_state.get(key, st.query_params.get(key, 1))
    try:
        return max(1, int(given))
    except (TypeError, ValueError):
        return 1
