"""Reads and actions of the sections that correct the memory: merge, superseded, erase; and of a chunk's own page.

A preview is short-lived: what it shows is about to be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from core.bootstrap import Core
from core.events import run_as
from core.memory.corrections import CorrectionState, ExcludedPage, Kind, Restored, SupersededPage, TakenOut
from core.memory.erasures import ErasePreview, ErasurePage
from core.memory.merges import Merged, MergePage, MergePreview, Mode
from core.services.erase import Erased
from pages._shared import reads, session
from pages._shared.reads import PAGE, Read
from pages._shared.resources import core

T = TypeVar("T")
SHORT_S = 5


def merge_preview(kept: str, dropped: str) -> Read[MergePreview]:
    return _merge_preview(core(), kept, dropped)


@st.cache_data(ttl=SHORT_S, max_entries=8, show_spinner=False)
def _merge_preview(_core: Core, kept: str, dropped: str) -> Read[MergePreview]:
    return Read(_core.merges.preview(kept, dropped), _core.clock.now())


def merges() -> Read[MergePage]:
    """The latest merges."""
    return _merges(core())


@st.cache_data(ttl=SHORT_S, max_entries=1, show_spinner=False)
def _merges(_core: Core) -> Read[MergePage]:
    return Read(_core.merges.list(limit=PAGE), _core.clock.now())


def superseded(dialog_key: str | None, page: int) -> Read[SupersededPage]:
    return reads.shown(_superseded(core(), dialog_key, page), dialog_key)


@st.cache_data(ttl=30, max_entries=8, show_spinner=False)  # looks at every row; the action judges each again
def _superseded(_core: Core, dialog_key: str | None, page: int) -> Read[SupersededPage]:
    found = _core.corrections.superseded(dialog_key, limit=PAGE, offset=(page - 1) * PAGE)
    return Read(found, _core.clock.now())


def excluded(dialog_key: str | None) -> Read[ExcludedPage]:
    """What was taken out last, of a dialog or of all."""
    return reads.shown(_excluded(core(), dialog_key), dialog_key)


@st.cache_data(ttl=SHORT_S, max_entries=8, show_spinner=False)
def _excluded(_core: Core, dialog_key: str | None) -> Read[ExcludedPage]:
    return Read(_core.corrections.excluded(dialog_key, limit=PAGE), _core.clock.now())


def erase_preview(dialog_key: str, also: tuple[str, ...]) -> Read[ErasePreview]:
    return _erase_preview(core(), dialog_key, also)


@st.cache_data(ttl=SHORT_S, max_entries=4, show_spinner=False)
def _erase_preview(_core: Core, dialog_key: str, also: tuple[str, ...]) -> Read[ErasePreview]:
    return Read(_core.erasures.preview(dialog_key, also=also), _core.clock.now())


def erasures() -> Read[ErasurePage]:
    """The latest records of erasures."""
    return _erasures(core())


@st.cache_data(ttl=SHORT_S, max_entries=1, show_spinner=False)
def _erasures(_core: Core) -> Read[ErasurePage]:
    return Read(_core.erasures.list(limit=PAGE), _core.clock.now())


def state() -> Read[CorrectionState]:
    """What came back, and what is written again."""
    return _state(core())


@st.cache_data(ttl=30, max_entries=1, show_spinner=False)
def _state(_core: Core) -> Read[CorrectionState]:
    return Read(_core.corrections.state(), _core.clock.now())


def merge(kept: str, dropped: str, mode: Mode) -> Merged:
    """Errors: CoreError."""
    return _act(lambda: core().merges.merge(kept, dropped, mode=mode))


def undo_merge(merge_id: str) -> int:
    return _act(lambda: core().merges.undo(merge_id))


def exclude(ids: Sequence[str], reason: str, kind: Kind) -> TakenOut:
    return _act(lambda: core().corrections.exclude(ids, reason, kind=kind))


def restore(ids: Sequence[str], dialog_key: str | None = None, hashes: Sequence[str] = ()) -> Restored:
    return _act(lambda: core().corrections.restore(ids, dialog_key=dialog_key, hashes=hashes))


def delete_superseded(dialog_key: str | None, expected: int) -> TakenOut:
    return _act(lambda: core().corrections.delete_superseded(expected=expected, dialog_key=dialog_key))


def erase(dialog_key: str, reason: str, also: Sequence[str]) -> Erased:
    """Errors: CoreError. Afterwards this tab holds nothing of the dialog either."""
    done = _act(lambda: core().erasures.erase(dialog_key, reason, also=also))
    session.choose_dialog(None)
    return done


def _act(act: Callable[[], T]) -> T:
    try:
        with run_as(session.actor()):
            return act()
    finally:
        session.keep_exploration(None)
        reads.forget_dialogs()
        for read in (_merge_preview, _merges, _superseded, _excluded, _erase_preview, _erasures, _state):
            read.clear()
