"""What pages read, each with a lifetime and a size. A failure is never kept; the last good answer may stand in for it.

Every read gives a Read: the value, when it was true, and the failure that keeps it from being newer. The leading
underscore keeps the core out of the key: there is one per process, and without roles one answer for everybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import streamlit as st

from core.bootstrap import Core
from core.errors import CoreError, NotFound
from core.events.owned import without_own_day
from core.events.store import EventPage
from core.health.report import HealthReport
from core.memory.dialogs import (
    ChunkPage,
    DialogPage,
    DialogRow,
    DialogStatus,
    MemoryOverview,
    PairPage,
    StoredChunk,
    TimelineDay,
)
from core.retrievals.record import Retrieval
from core.services.demo_history import DemoRows
from core.services.today import Today, today_and_yesterday
from pages._shared import session, veil
from pages._shared.resources import core, notebook
from pages._shared.zone import my_zone_name

T = TypeVar("T")
PAGE = 25
LATEST = 200
LOOKS = {
    *("SearchPerformed", "SearchFallbackUsed", "SearchEmpty", "SnapshotsCompared", "CleanupPreviewed"),
    *("ChainVerified", "HealthChecked", "TokensLogged"),
}


@dataclass(frozen=True)
class Read(Generic[T]):
    """A value, the instant it was read, and what failed since (None while it is fresh)."""

    value: T
    at: datetime
    failure: CoreError | None = None


def _standing(key: tuple[Any, ...], ask: Callable[[], Read[T]], dialog_key: str | None = None) -> Read[T]:
    """The answer, or the last good one when asking again might help. Errors: CoreError where there is neither.

    `dialog_key`: whose people an answer may name that does not say so itself.
    """
    book = notebook()
    try:
        found = ask()
    except CoreError as error:
        last = book.last(key) if error.retryable else None
        if last is None:
            raise
        return shown(Read(last.value, last.at, error), dialog_key)
    book.keep(key, found)
    return shown(found, dialog_key)


def shown(found: Read[T], dialog_key: str | None = None) -> Read[T]:
    """The answer as this view shows it: what is kept is what is stored, and the veil falls after that."""
    return replace(found, value=veil.cover(found.value, dialog_key))


def standing(key: tuple[Any, ...], ask: Callable[[], Read[T]], dialog_key: str | None = None) -> Read[T]:
    """The same for a page that keeps its reads in a room of its own."""
    return _standing(key, ask, dialog_key)


def _now(built: Core, value: T) -> Read[T]:
    return Read(value, built.clock.now())


def overview() -> Read[MemoryOverview]:
    return _standing(("overview",), lambda: _overview(core()))


@st.cache_data(ttl=10, max_entries=1, show_spinner=False)  # totals: a page more or less old does not matter
def _overview(_core: Core) -> Read[MemoryOverview]:
    return _now(_core, _core.dialogs.overview())


def dialogs(search: str, in_texts: bool, sort: str, descending: bool, page: int) -> Read[DialogPage]:
    """A page of the list; with `in_texts` the dialogs whose chunks hold the text."""
    key = (search, in_texts, sort, descending, page)
    return _standing(("dialogs", *key), lambda: _dialogs(core(), *key))


@st.cache_data(ttl=10, max_entries=64, show_spinner=False)  # 25 rows each; an operator walks pages back and forth
def _dialogs(_core: Core, search: str, in_texts: bool, sort: str, descending: bool, page: int) -> Read[DialogPage]:
    offset = (page - 1) * PAGE
    if in_texts and search.strip():
        return _now(_core, _core.dialogs.text_search(search, limit=PAGE, offset=offset))
    return _now(_core, _core.dialogs.list(search or None, sort=sort, descending=descending, limit=PAGE, offset=offset))


def dialog(dialog_key: str) -> Read[DialogRow | None]:
    return _standing(("dialog", dialog_key), lambda: _dialog(core(), dialog_key))


@st.cache_data(ttl=10, max_entries=32, show_spinner=False)
def _dialog(_core: Core, dialog_key: str) -> Read[DialogRow | None]:
    return _now(_core, _core.dialogs.get(dialog_key))


def status(dialog_keys: tuple[str, ...]) -> Read[dict[str, DialogStatus]]:
    return _standing(("status", dialog_keys), lambda: _status(core(), dialog_keys))


@st.cache_data(ttl=10, max_entries=32, show_spinner=False)
def _status(_core: Core, dialog_keys: tuple[str, ...]) -> Read[dict[str, DialogStatus]]:
    return _now(_core, _core.dialogs.status(dialog_keys))


def chunks(dialog_key: str, source: str | None, flag: str | None, text: str, page: int) -> Read[ChunkPage]:
    key = (dialog_key, source, flag, text, page)
    return _standing(("chunks", *key), lambda: _chunks(core(), *key))


@st.cache_data(ttl=10, max_entries=64, show_spinner=False)
def _chunks(
    _core: Core, dialog_key: str, source: str | None, flag: str | None, text: str, page: int
) -> Read[ChunkPage]:
    offset = (page - 1) * PAGE
    found = _core.dialogs.chunks(dialog_key, source=source, flag=flag, text=text or None, limit=PAGE, offset=offset)
    return _now(_core, found)


def timeline(dialog_key: str) -> Read[tuple[TimelineDay, ...]]:
    """Its days begin in the zone of whoever looks."""
    zone = my_zone_name()
    return _standing(("timeline", dialog_key, zone), lambda: _timeline(core(), dialog_key, zone))


@st.cache_data(ttl=60, max_entries=32, show_spinner=False)  # by day: a minute changes nothing
def _timeline(_core: Core, dialog_key: str, zone: str) -> Read[tuple[TimelineDay, ...]]:
    return _now(_core, _core.dialogs.timeline(dialog_key, zone))


@st.cache_data(ttl=60, max_entries=64, show_spinner=False)
def _chunks_by_id(_core: Core, ids: tuple[str, ...]) -> tuple[StoredChunk, ...]:
    return _core.dialogs.chunks_by_id(ids)


def chunks_by_id(ids: tuple[str, ...]) -> tuple[StoredChunk, ...]:
    """These chunks, those that exist."""
    return veil.cover(_chunks_by_id(core(), ids))


def chunk(chunk_id: str) -> StoredChunk | None:
    """One chunk by its id, None for an id that is none or that no row has."""
    try:
        UUID(chunk_id)
    except ValueError:
        return None
    found = chunks_by_id((chunk_id,))
    return found[0] if found else None


def ambiguous_pairs(page: int) -> Read[PairPage]:
    return _standing(("pairs", page), lambda: _pairs(core(), page))


@st.cache_data(ttl=30, max_entries=8, show_spinner=False)
def _pairs(_core: Core, page: int) -> Read[PairPage]:
    return _now(_core, _core.dialogs.ambiguous_pairs(limit=PAGE, offset=(page - 1) * PAGE))


def changes(limit: int) -> Read[EventPage]:
    """The latest events that changed something, newest first; looks alone would crowd them out."""
    found = _standing(("changes", limit), lambda: _changes(core(), limit))
    if session.may("own_day"):
        return found
    return replace(found, value=replace(found.value, rows=tuple(without_own_day(row) for row in found.value.rows)))


@st.cache_data(ttl=5, max_entries=2, show_spinner=False)  # an operator looks here right after doing something
def _changes(_core: Core, limit: int) -> Read[EventPage]:
    page = _core.events.store.query(limit=LATEST)
    return _now(_core, replace(page, rows=tuple(row for row in page.rows if row.type not in LOOKS)[:limit]))


@st.cache_data(ttl=10, max_entries=1, show_spinner=False)  # the frame asks on every run of every page
def _health(_core: Core) -> HealthReport:
    return _core.health.report(max_age_s=10)


def health() -> HealthReport:
    """The report on every component; a component that fails is part of it, not an error."""
    return _health(core())


def check_now(*, embedder: bool) -> HealthReport:
    """The report made anew, on demand; with `embedder` one small query goes to the model, which may cost money."""
    _health.clear()
    return core().health.report(probe_embedder=embedder)


def refresh() -> None:
    """Drop what Retry and Refresh are about: every read here, and no other session's choices."""
    for read in (
        _overview,
        _dialogs,
        _dialog,
        _status,
        _chunks,
        _chunks_by_id,
        _timeline,
        _pairs,
        _changes,
        _health,
        _snapshots,
        _usage,
        _today,
        _retrievals,
        _replays,
    ):
        read.clear()


def forget_dialogs() -> None:
    """After rows were deleted: nothing that was read from them may stand in for an answer any more."""
    refresh()
    notebook().forget()


def snapshots(what: str, *arguments: Any, **options: Any) -> Read[Any]:
    """An answer of core's snapshot reads by its name; pages/_shared/snapshots/reading.py has them typed."""
    key = ("snapshots", what, *arguments, *sorted(options.items()))
    whose = str(arguments[0]) if what == "history" else None
    return _standing(key, lambda: _snapshots(core(), what, arguments, options), whose)


@st.cache_data(ttl=20, max_entries=64, show_spinner=False)  # days change once a day; pins and clean-up clear this
def _snapshots(_core: Core, what: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Read[Any]:
    service = _core.snapshots
    where: Any = service if what in ("diff", "diff_days") else service.daily if what == "state" else service.reads
    return _now(_core, getattr(where, what)(*arguments, **options))


def usage(what: str, *arguments: Any) -> Read[Any]:
    """An answer of core's usage reads by its name; pages/_shared/usage/reading.py has them typed."""
    return _standing(("usage", what, *arguments), lambda: _usage(core(), what, arguments))


@st.cache_data(ttl=30, max_entries=48, show_spinner=False)  # hours of usage; prices and a rebuild clear this
def _usage(_core: Core, what: str, arguments: tuple[Any, ...]) -> Read[Any]:
    room = _core.usage
    where: Any = room.reports if hasattr(room.reports, what) else room.prices
    return _now(_core, getattr(where, what)(*arguments))


def forget_usage() -> None:
    """After a price, a budget or the rollup changed."""
    _usage.clear()


def retrievals(what: str, *arguments: Any, **options: Any) -> Read[Any]:
    """An answer of the retrieval record by its name; pages/_shared/prompts/reading.py has them typed."""
    key = ("retrievals", what, *arguments, *sorted(options.items()))
    whose = str(arguments[0]) if what == "never" else None
    return _standing(key, lambda: _retrievals(core(), what, arguments, options), whose)


@st.cache_data(ttl=10, max_entries=64, show_spinner=False)  # a search is looked up right after it was made
def _retrievals(_core: Core, what: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Read[Any]:
    return _now(_core, getattr(_core.retrievals.store, what)(*arguments, **options))


def replays(what: str, argument: str, dialog_key: str | None) -> Read[Any]:
    """A search of the past asked again: `replay` of a record's id, `reconstruct` of a request's. Not kept beyond its
    lifetime."""
    return shown(_replays(core(), what, argument), dialog_key)


@st.cache_data(ttl=30, max_entries=16, show_spinner=False)
def _replays(_core: Core, what: str, argument: str) -> Read[Any]:  # each asks the embedder, which may cost money
    if what == "reconstruct":
        return _now(_core, _core.replays.reconstruct(argument))
    record: Retrieval | None = _retrievals(_core, "get", (argument,), {}).value  # as it is stored: its query is asked
    if record is None:
        raise NotFound("This record is no longer kept.")
    return _now(_core, _core.replays.replay(record))


def forget_retrievals() -> None:
    """After a report, or after the retention was set."""
    _retrievals.clear()


def demo_rows() -> DemoRows:
    """What a removal would delete, asked each time: it is about to be."""
    return core().demo.rows()


def today() -> Read[Today]:
    """Today beside yesterday, for the Overview; both begin in the zone of whoever looks."""
    zone = my_zone_name()
    return _standing(("today", zone), lambda: _today(core(), zone))


@st.cache_data(ttl=20, max_entries=8, show_spinner=False)  # a few totals; six questions to the database
def _today(_core: Core, zone: str) -> Read[Today]:
    now = _core.clock.now()
    room = _core.usage.reports, _core.events.store, _core.snapshots.reads
    return Read(today_and_yesterday(*room, now, ZoneInfo(zone)), now)


def active_model() -> str | None:
    """The name of the embedding model that searches use; None while there is no embedder."""
    try:
        return core().model()
    except CoreError:
        return None
