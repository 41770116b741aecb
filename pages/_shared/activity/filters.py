"""Which events are looked at. Kinds and days stand in the address; what is followed (a key, an id) never does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import streamlit as st

from core.events.catalogue import EVENTS
from pages._shared import address, formats, session

ABOUT = "activity.about"
FIELD = "activity-follow"
CLASSES = {"all": "everything", "changes": "changes", "reads": "reads of personal text", "looks": "observations"}
ACTORS = {"anybody": "anybody", "user": "a person", "system": "the product", "ai": "an AI"}
# What shows texts of a dialog to whoever asked.
READS = ("SearchPerformed", "SearchFallbackUsed", "SearchEmpty", "SnapshotsCompared")


@dataclass(frozen=True)
class Choice:
    """Hashable, as it is the key of a cached read; days are inclusive and local."""

    about: str | None = None
    what: str = "all"
    actor: str = "anybody"
    app: str = "any"
    type: str = "any"
    first: date | None = None
    last: date | None = None

    def query(self, zone: ZoneInfo) -> dict[str, Any]:
        """As EventStore.find takes it."""
        return {
            "about": self.about,
            "actor_kind": None if self.actor == "anybody" else self.actor,
            "app_id": None if self.app == "any" else self.app,
            "type": None if self.type == "any" else self.type,
            "types": READS if self.what == "reads" else None,
            "event_class": {"changes": "audit", "looks": "observation"}.get(self.what),
            "since": datetime.combine(self.first, time.min, zone) if self.first else None,
            "until": datetime.combine(self.last + timedelta(days=1), time.min, zone) if self.last else None,
        }


def choose() -> Choice:
    """The filters, drawn."""
    what = address.segments("What", CLASSES, "what", default="all")  # alone in its line: it wraps on a narrow screen
    with st.container(horizontal=True, vertical_alignment="bottom"):
        actor = _one("By", list(ACTORS), "by", ACTORS)
        app = _one("Part", ["any", *sorted({event.app_id for event in EVENTS.values()})], "part")
        types = [name for name, event in EVENTS.items() if app in ("any", event.app_id)]
        kind = _one("Event", ["any", *sorted(types)], "event", {name: formats.event(name) for name in types})
        first = _day("From", "from")
        last = _day("To (included)", "to")
    return Choice(_about(), what, actor, app, kind, first, last)


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
