"""Whether whoever asks is answered unmasked: only an API call whose token says why, and a program on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_reason: ContextVar[str | None] = ContextVar("unmasked", default=None)


@contextmanager
def sight(reason: str | None) -> Iterator[None]:
    """Inside, answers are unmasked for this reason; masked where there is none. For the API's boundary alone."""
    token = _reason.set(reason)
    try:
        yield
    finally:
        _reason.reset(token)


def unmasked() -> bool:
    """Whether this call may be answered unmasked."""
    return _reason.get() is not None


def unmasked_reason() -> str | None:
    """Why this call is answered unmasked, None where it is not."""
    return _reason.get()
