"""What the middleware is told of Streamlit."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
import streamlit
from streamlit.proto.BackMsg_pb2 import BackMsg

from pages._shared.web.site import inline_scripts, never_asked, redirect_uri


def test_the_hash_of_every_script_in_the_page() -> None:
    """As a browser takes it: of the text between the tags, to the byte; scripts with a source have none."""
    page = '<script>\n  a = 1\n</script><script type="module" src="./x.js"></script>'
    assert inline_scripts(page) == (base64.b64encode(hashlib.sha256(b"\n  a = 1\n").digest()).decode(),)


def test_streamlits_page_has_scripts_of_that_form_alone() -> None:
    """One with attributes and a body would be refused by our policy, and this test says so before a browser does."""
    page = (Path(streamlit.__file__).parent / "static/index.html").read_text(encoding="utf-8")
    assert page.count("<script") == len(inline_scripts(page)) + page.count(" src=")
    assert inline_scripts(page)


@pytest.mark.parametrize(
    ("message", "dropped"),
    [(BackMsg(clear_cache=True), True), (BackMsg(stop_script=True), False), (BackMsg(app_heartbeat=True), False)],
)
def test_nobody_empties_everybodys_caches(message: BackMsg, dropped: bool) -> None:
    """A browser can send it though no button does."""
    assert never_asked(message.SerializeToString()) is dropped


def test_bytes_that_are_no_message_are_streamlits_to_refuse() -> None:
    """They go on."""
    assert never_asked(b"\xff\xff\xff") is False


@pytest.mark.parametrize(
    ("section", "found"), [({}, None), ({"redirect_uri": ""}, None), ({"redirect_uri": "https://d/x"}, "https://d/x")]
)
def test_where_sign_in_leads_back_to(section: dict[str, str], found: str | None) -> None:
    """None while none is configured."""
    assert redirect_uri(section) == found
