"""What a cookie lacks: SameSite always, HttpOnly but for the one that a script has to read, Secure on https. Pure."""

from __future__ import annotations

READ_BY_SCRIPT = b"_streamlit_xsrf"  # the page sends it back in a header: that is its purpose


def mended(cookie: bytes, *, secure: bool) -> bytes:
    """The value of a Set-Cookie header with what it lacked at its end; nothing that is there is changed."""
    name = cookie.partition(b"=")[0].strip()
    given = {part.partition(b"=")[0].strip().lower() for part in cookie.split(b";")[1:]}
    lacks = [b"SameSite=Lax"] if b"samesite" not in given else []
    if b"httponly" not in given and name != READ_BY_SCRIPT:
        lacks.append(b"HttpOnly")
    if secure and b"secure" not in given:
        lacks.append(b"Secure")
    return b"; ".join((cookie, *lacks))
