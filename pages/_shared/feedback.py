"""Empty, stale and broken, each with its own face; and the one place where a page's errors are caught."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import streamlit as st

from core.errors import CoreError, DatabaseError
from pages._shared import reads
from pages._shared.formats import ago, clock, moment
from pages._shared.fragments import fragment
from pages._shared.resources import core, notebook
from pages._shared.zone import my_zone

log = logging.getLogger(__name__)
RETRY_EVERY_S = 5.0
DRAWN = "desk.watch.drawn"
HOLDS = (
    "What is stored stays stored: writes are transactions. The page comes back by itself as soon as the cause is gone."
)


@contextmanager
def boundary(what: str, *, holds: str = HOLDS) -> Iterator[None]:
    """Shows a CoreError as the broken state of `what`; anything else is a bug: incident id, place in the log."""
    try:
        yield
    except CoreError as error:
        broken(what, error, holds=holds)
    except Exception as bug:
        incident = uuid.uuid4().hex[:12]
        step, places = bug.__traceback__, []
        while step is not None:
            places.append(f"{step.tb_frame.f_globals.get('__name__', '?')}:{step.tb_lineno}")
            step = step.tb_next
        # Not the message: it may hold dialog text.
        log.error("incident %s: %s at %s", incident, type(bug).__name__, " > ".join(places[-6:]))
        st.error(f"{what} met an error of its own (incident {incident}). Nothing was changed; the log says where.")
    else:
        notebook().works(what)


def broken(what: str, error: CoreError, *, holds: str = HOLDS) -> None:
    """What failed, since when, what still holds, and a retry; tries again by itself where the database is the cause."""
    now = datetime.now(UTC)
    since = notebook().failing_since(what, now)
    with st.container(border=True, key=f"broken-{what.lower().replace(' ', '-')}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge("down", color="red")
            st.markdown(f"**{what} cannot be shown**")
        st.text(error.what)
        if error.hint:
            st.text(error.hint)
        st.caption(f"Failing since {moment(since, my_zone())} ({ago(since, now)}). {holds}")
        if st.button("Retry now", key=f"retry-{what}", icon=":material/refresh:"):
            reads.refresh()
            st.rerun()
        if isinstance(error, DatabaseError):
            _watch_from_now()


def _watch_from_now() -> None:
    st.session_state[DRAWN] = time.monotonic()
    _watch()


@fragment(run_every=RETRY_EVERY_S)
def _watch() -> None:
    """Asks for the health while a page is broken or stale, and runs the page again once the database answers.

    Not in the run that drew it: what failed may fail again at once, and the page would run without end.
    """
    if time.monotonic() - st.session_state.get(DRAWN, 0.0) < RETRY_EVERY_S * 0.8:
        return
    try:
        report = core().health.report(max_age_s=RETRY_EVERY_S / 2)
    except CoreError:
        return
    if report.status != "down":
        reads.refresh()
        st.rerun()


def stale(read: reads.Read) -> None:
    """Says that figures are old, and why; draws nothing while they are fresh."""
    if read.failure is None:
        return
    zone = my_zone()
    now = datetime.now(UTC)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"stale-{read.at.timestamp()}"):
        st.badge("stale", color="orange")
        st.text(f"Data from {clock(read.at, zone)} ({ago(read.at, now)}). {read.failure.what}")
        if st.button("Retry", key=f"retry-stale-{read.at.timestamp()}", type="tertiary"):
            reads.refresh()
            st.rerun()
    _watch_from_now()


def empty(title: str, why: str, *, code: str | None = None) -> None:
    """Why there is nothing, and the next step as a command that can be copied."""
    with st.container(border=True):
        st.markdown(f"**{title}**")
        st.text(why)
        if code:
            st.code(code, language=None, wrap_lines=True)
