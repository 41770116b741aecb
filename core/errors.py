"""The errors of Memory Desk, as one tree. Each says what happened, what to do, and whether a retry helps.

CoreError
├── ConfigError                the environment does not describe a working set-up
├── InputError                 400: somebody sent something unusable; `field` names it
│   ├── MissingIdentity        422: no dialog key, or an id of the pair is missing
│   └── TooLarge               413
├── AccessError
│   ├── Unauthenticated        401
│   └── Forbidden              403
├── DatabaseError              502: the database answered, and the answer is a failure
│   ├── DatabaseUnavailable    503: no answer, or it is starting or stopping
│   ├── StatementTimeout       503: it gave up on one statement
│   ├── PermissionDenied       502: row-level security or a grant refused this key
│   ├── SchemaMismatch         503: a table, column or function is missing: migrate
│   ├── ConflictError          409
│   │   └── IncompatibleRows   409: stored hashes differ from ours: writing would double every chunk
│   └── NotFound               404
└── ProviderError              502: the embedder failed
    ├── ProviderMissing        no embedder is configured
    ├── ProviderUnavailable    no connection, a crash, or 5xx
    ├── ProviderTimeout
    ├── RateLimited
    ├── ProviderRefused        the request or the key was refused: a retry gives the same
    └── BadEmbedding           wrong number of vectors, dimension, or not finite
"""

from __future__ import annotations


class CoreError(Exception):
    """What went wrong, in words for an operator; `detail` is for the log and never holds secrets or dialog text."""

    code = "internal"
    status = 500
    retryable = False

    def __init__(
        self, what: str, *, hint: str = "", detail: str = "", field: str | None = None, retryable: bool | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.detail = detail
        self.field = field
        if retryable is not None:
            self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.what} {self.hint}".strip()


class ConfigError(CoreError):
    code = "config"


class InputError(CoreError):
    code, status = "bad_input", 400


class MissingIdentity(InputError):
    code, status = "missing_identity", 422


class TooLarge(InputError):
    code, status = "too_large", 413


class AccessError(CoreError):
    pass


class Unauthenticated(AccessError):
    code, status = "unauthenticated", 401


class Forbidden(AccessError):
    code, status = "forbidden", 403


class DatabaseError(CoreError):
    code, status = "database", 502


class DatabaseUnavailable(DatabaseError):
    code, status, retryable = "database_unavailable", 503, True


class StatementTimeout(DatabaseError):
    code, status, retryable = "statement_timeout", 503, True


class PermissionDenied(DatabaseError):
    code = "permission_denied"


class SchemaMismatch(DatabaseError):
    code, status = "needs_migration", 503


class ConflictError(DatabaseError):
    code, status = "conflict", 409


class IncompatibleRows(ConflictError):
    code = "incompatible_rows"


class NotFound(DatabaseError):
    code, status = "not_found", 404


class ProviderError(CoreError):
    code, status = "embedder", 502


class ProviderMissing(ProviderError):
    code = "embedder_missing"


class ProviderUnavailable(ProviderError):
    code, retryable = "embedder_unavailable", True


class ProviderTimeout(ProviderError):
    code, retryable = "embedder_timeout", True


class RateLimited(ProviderError):
    code, retryable = "embedder_rate_limited", True


class ProviderRefused(ProviderError):
    code = "embedder_refused"


class BadEmbedding(ProviderError):
    code = "bad_embedding"
