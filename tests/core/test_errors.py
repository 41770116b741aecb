"""The tree of errors: codes, statuses, and what an error says."""

from __future__ import annotations

import pytest

from core import errors
from core.errors import CoreError, DatabaseUnavailable, InputError, ProviderRefused, RateLimited


def tree(cls: type[CoreError] = CoreError) -> list[type[CoreError]]:
    return [
        cls,
        *(found for child in cls.__subclasses__() if child.__module__ == "core.errors" for found in tree(child)),
    ]


STATUSES = {
    "ConfigError": 500,
    "InputError": 400,
    "MissingIdentity": 422,
    "TooLarge": 413,
    "Unauthenticated": 401,
    "Forbidden": 403,
    "DatabaseError": 502,
    "DatabaseUnavailable": 503,
    "StatementTimeout": 503,
    "PermissionDenied": 502,
    "SchemaMismatch": 503,
    "ConflictError": 409,
    "IncompatibleRows": 409,
    "NotFound": 404,
    "ProviderError": 502,
    "ProviderMissing": 502,
    "ProviderUnavailable": 502,
    "ProviderTimeout": 502,
    "RateLimited": 502,
    "ProviderRefused": 502,
    "BadEmbedding": 502,
}


@pytest.mark.parametrize(("name", "status"), STATUSES.items())
def test_status(name: str, status: int) -> None:
    """Each error has the HTTP status of the spec, and is in the picture at the head of the module."""
    cls = getattr(errors, name)
    assert cls.status == status
    assert name in (errors.__doc__ or "").split()


def test_codes_tell_errors_apart() -> None:
    """No two errors that reach a caller share a code."""
    codes = [cls.code for cls in tree() if cls.__name__ not in ("CoreError", "AccessError")]
    assert len(codes) == len(set(codes))
    assert {cls.__name__ for cls in tree()} == {*STATUSES, "CoreError", "AccessError"}


def test_what_an_error_carries() -> None:
    """What happened and what to do are in its text; the detail for the log is not."""
    error = InputError("limit is not a number.", hint="Send 1 to 24.", detail="internal words", field="limit")
    assert str(error) == "limit is not a number. Send 1 to 24."
    assert (error.field, error.detail) == ("limit", "internal words")
    assert "internal words" not in f"{error}{error!r}"
    assert str(CoreError("Only this.")) == "Only this."


def test_is_a_retry_worth_it() -> None:
    """By kind, unless the one who raised it knows better."""
    assert DatabaseUnavailable("x").retryable and RateLimited("x").retryable
    assert not ProviderRefused("x").retryable and not InputError("x").retryable
    assert ProviderRefused("x", retryable=True).retryable and not ProviderRefused.retryable
