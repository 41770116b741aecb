"""Nothing of what an exception says leaves this process: its message may hold dialog text, a query, or a key."""

from __future__ import annotations

import logging
import uuid
from types import TracebackType
from typing import Any

import streamlit as st

from core.access.sessions import NotSignedIn
from core.errors import CoreError

log = logging.getLogger(__name__)
PLACES = 8


def places(step: TracebackType | None) -> str:
    """Module and line of the last steps; neither source text nor values."""
    found = []
    while step is not None:
        found.append(f"{step.tb_frame.f_globals.get('__name__', '?')}:{step.tb_lineno}")
        step = step.tb_next
    return " > ".join(found[-PLACES:])


def quiet_tracebacks() -> None:
    """From now on every log record of this process names kind and place of an exception, whoever writes it."""
    make = logging.getLogRecordFactory()
    if getattr(make, "quiet", False):
        return

    def quiet(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = f"{record.exc_info[0].__name__} at {places(record.exc_info[2])}"
            record.exc_info = None
        return record

    quiet.quiet = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(quiet)


def script_error(error: Exception) -> bool:
    """What somebody sees where a page failed outside its own care: why, where it was refused, else an incident to
    quote. True: it has been shown."""
    if isinstance(error, CoreError):
        log.warning("refused: %s at %s", type(error).__name__, places(error.__traceback__))
        (st.warning if isinstance(error, NotSignedIn) else st.error)(f"{error.what} {error.hint}".strip())
        st.button("Go on", key="go-on")  # a run of the whole page, which asks who is there
        return True
    incident = uuid.uuid4().hex[:12]
    log.error("incident %s: %s at %s", incident, type(error).__name__, places(error.__traceback__))
    st.error(f"Something unforeseen went wrong (incident {incident}). Nothing was changed; the log says where.")
    return True
