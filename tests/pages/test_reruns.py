"""A page run again and again, in many tabs, is one core with one set of ears."""

from __future__ import annotations

import threading
from collections.abc import Callable

from streamlit.testing.v1 import AppTest


def test_two_hundred_reruns_subscribe_nothing_twice(open_page: Callable[..., AppTest]) -> None:
    """Ten tabs with twenty reruns each: the same handlers, and one tick."""
    from pages._shared.resources import core

    tabs = [open_page("settings") for _ in range(10)]
    heard = core().events.handlers
    for _ in range(20):
        for tab in tabs:
            assert not tab.run().exception
    assert core().events.handlers == heard
    assert sum(thread.name == "companion tick" for thread in threading.enumerate()) == 1
    core().close()
