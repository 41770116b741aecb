"""What Prompt audit reads, by name and type, and what it has in hand."""

from __future__ import annotations

import streamlit as st

from core.retrievals.record import Retrieval
from core.retrievals.store import NeverRetrieved, RetrievalPage, Totals, WrongPage
from core.services.replay import Reconstructed, Replayed
from pages._shared import formats, reads, session
from pages._shared.reads import PAGE, Read
from pages._shared.zone import my_zone

RECORD = "record"  # in the address: the id of a record says nothing about anybody
REQUEST = "prompts-request"
CHUNK = "prompts-chunk"
ONLY = "prompts-only"


def listed(
    dialog_key: str | None, request_id: str | None, chunk_id: str | None, outcome: str | None, page: int
) -> Read[RetrievalPage]:
    return reads.retrievals(
        "list",
        dialog_key=dialog_key,
        request_id=request_id,
        chunk_id=chunk_id,
        outcome=outcome,
        limit=PAGE,
        offset=(page - 1) * PAGE,
    )


def record(id: str) -> Read[Retrieval | None]:
    return reads.retrievals("get", id)


def totals(dialog_key: str | None) -> Read[Totals]:
    return reads.retrievals("totals", dialog_key)


def never(dialog_key: str, page: int) -> Read[NeverRetrieved]:
    return reads.retrievals("never", dialog_key, limit=PAGE, offset=(page - 1) * PAGE)


def wrong(dialog_key: str | None, page: int) -> Read[WrongPage]:
    return reads.retrievals("wrong", dialog_key=dialog_key, limit=PAGE, offset=(page - 1) * PAGE)


def replayed(found: Retrieval) -> Read[Replayed]:
    return reads.replays("replay", found.id, found.dialog_key)


def reconstructed(request_id: str) -> Read[Reconstructed | None]:
    return reads.replays("reconstruct", request_id, None)


def date_of(note_date: str | None, sent_at: str | None) -> str | None:
    """The day of a note as it is, the moment of a message in the zone of the settings."""
    sent = formats.parse(sent_at)
    return f"{sent.astimezone(my_zone()):%Y-%m-%d %H:%M}" if sent else note_date


def chosen() -> str | None:
    """The record in hand, out of the address."""
    return st.query_params.get(RECORD)


def choose(id: str | None) -> None:
    """Take a record in hand, or put it down."""
    if id is None:
        st.query_params.pop(RECORD, None)
    else:
        st.query_params[RECORD] = id


def only_dialog() -> session.DialogChoice | None:
    """The dialog in hand where somebody wants to see no other."""
    return session.dialog() if session.remembered(ONLY, False) else None


def request() -> str:
    """The request id that somebody typed or brought along from another page; never in the address."""
    return str(session.remembered(REQUEST, ""))


def ask_for_request(request_id: str) -> None:
    """What Prompt audit shows when it is opened next."""
    session.remember(REQUEST, request_id)
    session.remember(CHUNK, None)


def ask_for_dialog() -> None:
    """The same for all searches of the dialog in hand."""
    session.remember(CHUNK, None)
    session.remember(REQUEST, "")
    session.remember(ONLY, True)


def ask_for_chunk(chunk_id: str) -> None:
    """The same for the searches that returned a chunk."""
    session.remember(CHUNK, chunk_id)
    session.remember(REQUEST, "")
