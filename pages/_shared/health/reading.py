"""What the Health page reads of the past; see pages/_shared/reads.py."""

from __future__ import annotations

import streamlit as st

from core.bootstrap import Core
from core.health.timeline import History, Uptime
from pages._shared.reads import Read, standing
from pages._shared.resources import core

Uptimes = dict[str, tuple[Uptime, ...]]


def history(hours: int) -> Read[History]:
    return standing(("health-history", hours), lambda: _history(core(), hours))


@st.cache_data(ttl=30, max_entries=4, show_spinner=False)  # a look a minute
def _history(_core: Core, hours: int) -> Read[History]:
    return Read(_core.monitor.timeline.history(hours), _core.clock.now())


def uptime() -> Read[Uptimes]:
    return standing(("health-uptime",), lambda: _uptime(core()))


@st.cache_data(ttl=60, max_entries=1, show_spinner=False)  # 30 days of samples
def _uptime(_core: Core) -> Read[Uptimes]:
    return Read(_core.monitor.timeline.uptime(), _core.clock.now())


def forget() -> None:
    _history.clear()
    _uptime.clear()
