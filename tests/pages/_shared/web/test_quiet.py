"""Exceptions in the log: kind and place, never what they say."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from pages._shared.web.quiet import quiet_tracebacks


@pytest.fixture
def quiet() -> Iterator[None]:
    before = logging.getLogRecordFactory()
    quiet_tracebacks()
    yield
    logging.setLogRecordFactory(before)


def test_a_traceback_names_places_and_no_words(quiet: None, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever logs it, with whatever formatter."""
    try:
        raise ValueError("Olena wrote +380 44")
    except ValueError:
        logging.getLogger("somebody.elses").exception("Uncaught")
    text = logging.Formatter("%(message)s").format(caplog.records[-1])
    assert text.startswith("Uncaught\nValueError at ")
    assert f"{__name__}:" in text
    assert "Olena" not in text + caplog.text


def test_records_without_an_exception_stay_as_they_are(quiet: None, caplog: pytest.LogCaptureFixture) -> None:
    """Only exceptions are changed; doing it twice is doing it once."""
    quiet_tracebacks()
    logging.getLogger("ours").warning("plain %s", "words")
    assert logging.Formatter("%(message)s").format(caplog.records[-1]) == "plain words"


def _failing() -> None:
    import streamlit as st

    from core.access.sessions import NotSignedIn
    from pages._shared.web.quiet import script_error

    for error in (NotSignedIn("ended", "Your sign-in was ended."), ValueError("Olena wrote")):
        with st.container(key=type(error).__name__):
            assert script_error(error)


def test_what_somebody_sees_of_it() -> None:
    """A refusal says why and goes on; anything else is an incident without its words."""
    at = AppTest.from_function(_failing).run()
    assert [w.value for w in at.warning] == ["Your sign-in was ended. Sign in."]
    assert [b.label for b in at.button] == ["Go on"]
    assert (
        at.error[0].value.startswith("Something unforeseen went wrong (incident ") and "Olena" not in at.error[0].value
    )
