"""Nudges on every page: a stack in the corner, their number in the sidebar, and a list for a module's own page.

Everywhere the same rows are read, so that an answer in one place is an answer in all.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.companion.reflect.pulse.store import ShownNudge
from core.errors import CoreError
from pages._shared import charts, formats, session
from pages._shared.companion import mind
from pages._shared.feedback import boundary
from pages._shared.fragments import fragment
from pages._shared.literal import literal
from pages._shared.parts import only
from pages._shared.resources import core
from pages._shared.sitemap import PLACES, place

EVERY_S = 10.0
STACKED = 2
HIDDEN = "nudges-hidden"
LISTED = "desk.nudges.listed"  # modules whose nudges this page lists itself
COLOURS = {"high": "red", "medium": "orange", "low": "gray"}
# The stack lies over the corner of the page and lets clicks beside its cards through; the page gets room at its end, so
# that whatever it covers can be scrolled out from under it. Titles are bold and still plain text.
LOOK = """<style>
.st-key-nudge-stack { position: fixed; right: 1.25rem; bottom: 1.25rem; width: min(23rem, calc(100vw - 2.5rem));
  z-index: 99; max-height: 50vh; overflow-y: auto; gap: .5rem; pointer-events: none; }
[data-testid="stMainBlockContainer"]:has(.st-key-nudge-stack) { padding-bottom: 18rem; }
.st-key-nudge-stack > * { pointer-events: auto; }
.st-key-nudge-pill { position: fixed; right: 1.25rem; bottom: 1.25rem; width: auto; z-index: 99; }
.st-key-nudge-stack div[class*="st-key-nudge-stack-"] { background: var(--nudge-ground, light-dark(#ffffff, #14171f));
  box-shadow: 0 2px 10px rgba(0, 0, 0, .18); }
.st-key-nudge-stack div[class*="st-key-nudge-stack-"] { padding: .6rem .75rem; }
.st-key-nudge-stack [data-testid="stText"] { font-size: .875rem; }
div[class*="st-key-nudge-title-"] [data-testid="stText"] { font-weight: 600; }
div[class*="st-key-nudge-"] [data-testid="stText"] { white-space: pre-wrap; overflow-wrap: anywhere; }
</style>"""


def begin() -> None:
    """Before a page draws what is its own."""
    st.session_state[LISTED] = ()


@only("companion")
def frame() -> None:
    """For the frame, after the page: draws nothing while there is nothing to say that the page does not say itself."""
    with boundary("The nudges"):
        stack()


@only("companion")
@fragment(run_every=EVERY_S)
def badge() -> None:
    """How many there are, in the sidebar; nothing for none."""
    found = _open()
    if found:
        urgent = sum(nudge.priority == "high" for nudge in found)
        words = formats.plural(len(found), "nudge")
        st.badge(f"{words}, {urgent} urgent" if urgent else words, color="red" if urgent else "orange")


@fragment(run_every=EVERY_S)
def stack() -> None:
    """The most important ones in the corner: open for what is urgent or came while somebody is here, else a button."""
    listed = st.session_state.get(LISTED, ())
    found = tuple(nudge for nudge in _open() if nudge.module not in listed)
    if not found:
        return
    hidden = session.remembered(HIDDEN, None)
    if hidden is None:  # what was there before is no news
        hidden = tuple(nudge.id for nudge in found if nudge.priority != "high")
        session.remember(HIDDEN, hidden)
    st.html(_look())
    if all(nudge.id in hidden for nudge in found):
        _pill(found)
        return
    news = [nudge for nudge in found if nudge.id not in hidden][:STACKED]
    with st.container(key="nudge-stack", gap="small"):
        for position, nudge in enumerate(news):
            with st.container(border=True, gap="xsmall", key=f"nudge-stack-{position}"):
                card(nudge, f"stack-{position}")
        with st.container(
            border=True, key="nudge-stack-foot", horizontal=True, vertical_alignment="center", gap="small"
        ):
            more = len(found) - len(news)
            st.caption(f"{more} more" if more > 0 else formats.plural(len(found), "nudge"))
            if len(news) < min(STACKED, len(found)):
                st.button("Show", key="nudge-more", type="tertiary", on_click=partial(session.remember, HIDDEN, ()))
            st.button(
                "Hide",
                key="nudge-hide",
                type="tertiary",
                help="Until a new one comes.",
                on_click=partial(session.remember, HIDDEN, tuple(nudge.id for nudge in found)),
            )


def _pill(found: tuple[ShownNudge, ...]) -> None:
    """A way to the stack that hides nothing of the page."""
    with st.container(key="nudge-pill"):
        st.button(
            formats.plural(len(found), "nudge"),
            key="nudge-open",
            icon=":material/notifications:",
            on_click=partial(session.remember, HIDDEN, ()),
        )


@only("companion")
def show(module: str) -> None:
    """The nudges of one module, for its own page; draws nothing where there is none."""
    st.session_state[LISTED] = (*st.session_state.get(LISTED, ()), module)
    found = [nudge for nudge in _open() if nudge.module == module]
    if not found:
        return
    st.html(LOOK)
    for position, nudge in enumerate(found):
        with st.container(border=True, gap="xsmall", key=f"nudge-list-{position}"):
            card(nudge, f"list-{position}")


def feed(most: int | None = None) -> int:
    """All of them, for a page of their own, or the most important; how many there are."""
    found = _open()
    if found:
        st.html(LOOK)
    for position, nudge in enumerate(found[:most]):
        with st.container(border=True, gap="xsmall", key=f"nudge-feed-{position}"):
            card(nudge, f"feed-{position}")
    return len(found)


def card(nudge: ShownNudge, at: str) -> None:
    """What it says, as plain text, and the three answers."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"nudge-title-{at}"):
        st.badge(nudge.priority, color=COLOURS[nudge.priority])  # type: ignore[arg-type]
        st.text(nudge.title)
    st.text(nudge.body)
    if not session.may("answer_nudges"):
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        label = nudge.action_label or ("Do it" if nudge.action_tool else "Open" if _route(nudge) else None)
        if label and st.button(label, key=f"nudge-act-{at}-{nudge.id}", type="primary"):
            _act(nudge)
        for words, how in (("In an hour", "snooze"), ("Dismiss", "dismiss")):
            st.button(
                words,
                key=f"nudge-{how}-{at}-{nudge.id}",
                type="tertiary",
                on_click=_answer,
                args=(nudge, how),
            )


def _act(nudge: ShownNudge) -> None:
    """The tool, by the executor and as the one who is here; or the page. The outcome only where that went well."""
    if nudge.action_tool:
        result = core().companion.act.executor.call(nudge.action_tool, dict(nudge.action_params), actor=session.actor())
        st.toast(literal(result.message))
        if not result.success:
            return
    _answer(nudge, "act")
    route = _route(nudge)
    if route:
        st.switch_page(place(route).path)
    st.rerun()


def _answer(nudge: ShownNudge, how: str) -> None:
    room = mind.mind().nudges
    answers = {"act": room.act, "dismiss": room.dismiss, "snooze": room.snooze}
    mind.attempt(nudge.title, lambda actor: answers[how](actor, nudge))


def _route(nudge: ShownNudge) -> str | None:
    return nudge.action_route if any(p.name == nudge.action_route for p in PLACES) else None


def _open() -> tuple[ShownNudge, ...]:
    """Nothing where the database is away: the page itself says so."""
    try:
        return mind.nudges().value
    except CoreError:
        return ()


def _look() -> str:
    return LOOK.replace("light-dark(#ffffff, #14171f)", charts.ground())
