"""What the rent view reads, each with a lifetime and a size; see pages/_shared/reads.py."""

from __future__ import annotations

import streamlit as st

from core.bootstrap import Core
from core.tuning.rent_report import DialogRent, RentReport
from pages._shared.reads import Read, standing
from pages._shared.resources import core


def report(dialog_key: str | None) -> Read[RentReport]:
    """What sources and chunks took of recorded prompts, of all dialogs or of one."""
    return standing(("rent", dialog_key), lambda: _report(core(), dialog_key), dialog_key)


@st.cache_data(ttl=30, max_entries=16, show_spinner=False)
def _report(_core: Core, dialog_key: str | None) -> Read[RentReport]:
    return Read(_core.rent.report(dialog_key), _core.clock.now())


def dialog(dialog_key: str, cosine: float, days: int) -> Read[DialogRent]:
    """What of a dialog says the same twice, is old, or may contradict."""
    key = ("rent dialog", dialog_key, cosine, days)
    return standing(key, lambda: _dialog(core(), dialog_key, cosine, days), dialog_key)


@st.cache_data(ttl=30, max_entries=32, show_spinner=False)
def _dialog(_core: Core, dialog_key: str, cosine: float, days: int) -> Read[DialogRent]:
    return Read(_core.rent.dialog(dialog_key, cosine=cosine, days=days), _core.clock.now())
