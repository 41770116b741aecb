"""Which events are looked at. Kinds and days stand in the address; a person, a key or an id never does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import streamlit as st

from core.events.acts import ACTS, BY, ActorCount
from core.events.catalogue import EVENTS
from pages._shared import address, formats, session

ABOUT = "activity.about"
FIELD = "activity-follow"
ACTOR = "activity.actor"
WHO = "activity-who"
ANYBODY = ""


@dataclass(frozen=True)
class Choice:
    """Hashable, as it is the key of a cached read; days are inclusive and local."""

    about: str | None = None
    what: str = "all"
    by: str = "anybody"
    app: str = "any"
    type: str = "any"
    first: date | None = None
    last: date | None = None
    principal: str | None = None

    def query(self, zone: ZoneInfo) -> dict[str, Any]:
        """As EventStore.find takes it."""
        return {
            **self.frame(zone),
            **ACTS[self.what].query(),
            "by": None if self.by == "anybody" else self.by,
            "app_id": None if self.app == "any" else self.app,
            "type": None if self.type == "any" else self.type,
        }

    def frame(self, zone: ZoneInfo) -> dict[str, Any]:
        """What holds for the counts of every kind too, as EventStore.counts takes it."""
        return {
            "about": self.about,
            "principal": self.principal,
            "since": datetime.combine(self.first, time.min, zone) if self.first else None,
            "until": datetime.combine(self.last + timedelta(days=1), time.min, zone) if self.last else None,
        }


def choose(actors: tuple[ActorCount, ...]) -> Choice:
    """The filters, drawn; `actors`: those who can be chosen."""
    words = {name: act.label for name, act in ACTS.items()}
    what = address.segments("What", words, "what", default="all")  # alone in its line: it wraps on a narrow screen
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = address.select("By", BY, "by", default="anybody", width=150)
        principal = _who([one for one in actors if by in ("anybody", one.by)])
        app = _one("Part", ["any", *sorted({event.app_id for event in EVENTS.values()})], "part")
        types = [name for name, event in EVENTS.items() if app in ("any", event.app_id)]
        kind = _one("Event", ["any", *sorted(types)], "event", {name: formats.event(name) for name in types})
        first = _day("From", "from")
        last = _day("To (included)", "to")
    return Choice(_about(), what, by, app, kind, first, last, principal)


def follow(about: str | None) -> None:
    """A callback: only what concerns this dialog, request, record or event; None for everything."""
    session.remember(ABOUT, about)
    st.session_state[FIELD] = about or ""


def _about() -> str | None:
    chosen = session.remembered(ABOUT, None)
    st.session_state.setdefault(FIELD, chosen or "")  # the field forgets when its page is left
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "Follow one dialog key, request or record",
            key=FIELD,
            placeholder="the whole id",
            width=420,
            help="Every event about it, whoever caused it.",
            on_change=_typed,
        )
        if chosen:
            st.button("Everything", key="follow-none", type="tertiary", on_click=follow, args=(None,))
            st.caption(f"Following {formats.key(chosen)}", width="content")
    return chosen


def _typed() -> None:
    session.remember(ABOUT, st.session_state[FIELD].strip() or None)


def _who(actors: list[ActorCount]) -> str | None:
    """One of those who acted, by name; the same name twice is told apart by what they are known as."""
    names = formats.apart({one.principal: one.name for one in actors})
    kept = session.remembered(ACTOR, ANYBODY)
    if st.session_state.get(WHO, kept) not in ("", *names):
        st.session_state[WHO] = ANYBODY
    st.session_state.setdefault(WHO, kept)
    chosen = st.selectbox(
        "Who",
        [ANYBODY, *names],
        key=WHO,
        width=220,
        format_func=lambda principal: names.get(principal, "anybody"),
        help="The 200 who did most. Names are as they were then.",
    )
    session.remember(ACTOR, chosen or ANYBODY)
    return chosen or None


def _one(label: str, options: list[str], key: str, words: dict[str, str] | None = None) -> str:
    if st.session_state.get(key, st.query_params.get(key)) not in (None, *options):
        st.session_state[key] = options[0]  # an address of another version
    shown = (words or {}).get
    chosen = st.selectbox(
        label, options, key=key, bind="query-params", width=200, format_func=lambda name: shown(name, name) or name
    )
    return str(chosen or options[0])


def _day(label: str, key: str) -> date | None:
    given = st.date_input(label, value=None, key=key, format="YYYY-MM-DD", width=150, bind="query-params")
    return given if isinstance(given, date) else None
