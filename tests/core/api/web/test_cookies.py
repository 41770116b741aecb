"""Cookies get what they lack, and lose nothing."""

from __future__ import annotations

import pytest

from core.api.web.cookies import mended


@pytest.mark.parametrize(
    ("given", "secure", "mended_to"),
    [
        (
            b"_streamlit_user=x; Path=/; HttpOnly; SameSite=lax",
            False,
            b"_streamlit_user=x; Path=/; HttpOnly; SameSite=lax",
        ),
        (
            b"_streamlit_user=x; Path=/; HttpOnly; SameSite=lax",
            True,
            b"_streamlit_user=x; Path=/; HttpOnly; SameSite=lax; Secure",
        ),
        (b"_streamlit_user__1=x; Path=/", False, b"_streamlit_user__1=x; Path=/; SameSite=Lax; HttpOnly"),
        (b"_streamlit_xsrf=2|a|b; Path=/; SameSite=Lax", True, b"_streamlit_xsrf=2|a|b; Path=/; SameSite=Lax; Secure"),
        (b"state=samesite; secure", True, b"state=samesite; secure; SameSite=Lax; HttpOnly"),
    ],
)
def test_what_a_cookie_lacks(given: bytes, secure: bool, mended_to: bytes) -> None:
    """The one that the page has to read stays readable; attributes are told from values."""
    assert mended(given, secure=secure) == mended_to
