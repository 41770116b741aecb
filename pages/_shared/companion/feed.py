"""The parts of Feed: what kinds, of which part, and the items by day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import streamlit as st

from core.bootstrap import Core
from core.companion.converse.feed import KINDS, Cursor, FeedPage, Item, Kind
from core.events.owned import WITHHELD
from pages._shared import address, formats, literal, reads, session, tables
from pages._shared.companion import seen
from pages._shared.feedback import empty
from pages._shared.layout import panel
from pages._shared.reads import Read
from pages._shared.resources import core
from pages._shared.sitemap import PLACES, place
from pages._shared.zone import my_zone

WORDS = {
    "any": "Everything",
    "nudge": "Nudges",
    "insight": "Insights",
    "proposal": "Proposals",
    "iteration": "AI runs",
    "goal": "Goals",
    "chat": "Chats",
}
ONE = {
    "nudge": "nudge",
    "insight": "insight",
    "proposal": "proposal",
    "iteration": "AI run",
    "goal": "goal",
    "chat": "chat",
}
COLOURS = {
    "nudge": "orange",
    "insight": "green",
    "proposal": "blue",
    "iteration": "violet",
    "goal": "green",
    "chat": "gray",
}
PAGES = {
    "insight": "insights",
    "proposal": "workbench",
    "iteration": "workbench",
    "goal": "goals",
    "chat": "chat",
}
PATH = "feed-path"  # the cursors that led here: the last one is that of the page shown
FIELDS = ("at", "kind", "module", "title", "state", "id")


@dataclass(frozen=True)
class Choice:
    kind: Kind | None
    module: str | None
    path: tuple[Cursor, ...]


def choose() -> Choice:
    """The filters, drawn; another filter begins at the newest again."""
    first = partial(session.remember, PATH, ())
    kind = address.segments("Kind", WORDS, "kind", default="any", on_change=first, labelled=False)
    modules = {module.name: module.label for module in core().companion.modules}
    words = {"any": "any part", "companion": "Companion", **modules}
    module = address.select("Part of the product", words, "part", default="any", width=220, on_change=first)
    chosen: Any = None if kind == "any" else kind
    return Choice(chosen, None if module == "any" else module, tuple(session.remembered(PATH, ())))


def read(choice: Choice) -> Read[FeedPage]:
    """Errors: CoreError."""
    key = (choice.kind, choice.module, choice.path[-1] if choice.path else None)
    return reads.standing(("feed", *key), lambda: _read(core(), *key))


@st.cache_data(ttl=5, max_entries=32, show_spinner=False)  # it grows all the time
def _read(_core: Core, kind: Kind | None, module: str | None, before: Cursor | None) -> Read[FeedPage]:
    kinds = (kind,) if kind in KINDS else ()
    return Read(_core.companion.feed.read(kinds, module=module, before=before), _core.clock.now())


def show(choice: Choice, found: Read[FeedPage]) -> None:
    items = found.value.items
    if not items:
        if choice.kind or choice.module or choice.path:
            st.text("Nothing of this kind.")
        else:
            empty("Nothing has happened yet", "What the companion notices, proposes and does will stand here.")
    zone = my_zone()
    for day, of_day in groupby(items, key=lambda item: item.at.astimezone(zone).date()):
        days = (found.at.astimezone(zone).date() - day).days
        with panel({0: "Today", 1: "Yesterday"}.get(days, f"{day:%A}, {day.isoformat()}"), key=f"feed-{day}"):
            for item in of_day:
                _line(item)
    with st.container(horizontal=True, vertical_alignment="center"):
        if choice.path:
            newer = partial(session.remember, PATH, choice.path[:-1])
            st.button("Newer", icon=":material/arrow_upward:", key="feed-newer", on_click=newer)
        if found.value.older:
            older = partial(session.remember, PATH, (*choice.path, found.value.older))
            st.button("Older", icon=":material/arrow_downward:", key="feed-older", on_click=older)
        if items:
            tables.downloads([_row(item) for item in items], FIELDS, name="feed", key="feed-file")


def _line(item: Item) -> None:
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key=f"item-{item.id}"):
        st.caption(f"{item.at.astimezone(my_zone()):%H:%M}", width=42)
        with st.container(gap=None, width="stretch"):
            st.text(_title(item))
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.badge(ONE[item.kind], color=COLOURS[item.kind])  # type: ignore[arg-type]
                said = (_label(item.module), _state(item, literal.words))
                st.caption(" · ".join(part for part in said if part))
        to = PAGES.get(item.kind, item.module)
        if any(p.name == to for p in PLACES):
            st.page_link(place(to).path, label="Open", width=64, help=f"On {place(to).title}.")


def _title(item: Item) -> str:
    """Chats and what was learned are the owner's, whatever they are about; a tool and a mission are nobody's day."""
    if item.kind in ("chat", "insight") and not session.may("own_day"):
        return WITHHELD
    plain = str if item.kind in ("proposal", "iteration") else seen.shower(item.module)
    return plain(_said(item))


def _said(item: Item) -> str:
    if item.kind == "proposal":
        tool = core().companion.act.toolbox.find(item.title or "")
        return tool.label if tool else item.title or "A tool that is gone"
    if item.kind == "chat":
        return item.title or "A conversation"
    if item.kind == "iteration" and item.title == "extraction":
        return "The weekly look at counts"
    return item.title or "Without a title"


def _label(module: str) -> str:
    return next((m.label for m in core().companion.modules if m.name == module), module.capitalize())


def _state(item: Item, name: Callable[[str], str] = str) -> str:
    """In words; the name of an agent is somebody's text, and is made fit for where it stands."""
    said, words = item.detail, str(item.detail.get("status") or "")
    if item.kind == "nudge":
        return f"{words.replace('_', ' ')}, {said.get('priority')} priority"
    if item.kind == "goal" and said.get("value") is not None:
        return f"{words}: {said['value']:g} of {said['target']:g}"
    if item.kind == "insight" and "r" in said:
        return f"r {said['r']:+.2f} over {said['days']} days"
    if item.kind == "proposal":
        done = words
        if said.get("succeeded") is not None:
            done = "approved and done" if said["succeeded"] else "approved, and its run failed"
        return f"{done}, by {name(str(said.get('agent')))}"
    if item.kind == "iteration":
        back = f", {said['taken_back']} taken back" if said.get("taken_back") else ""
        return f"{words}, {formats.plural(int(said.get('events', 0)), 'event')} of {name(str(said.get('agent')))}{back}"
    return {"llm": "seen by a model"}.get(str(said.get("origin")), words)


def _row(item: Item) -> dict[str, Any]:
    return {"at": item.at, "kind": item.kind, "module": item.module, "title": _title(item), "state": _state(item),
            "id": item.id}  # fmt: skip
