"""One statement for Postgres, and what its single row means."""

from __future__ import annotations

from dataclasses import dataclass

from core.local.gateway.sql import Parameters


@dataclass(frozen=True)
class Statement:
    """SQL whose one row is (total or null, rows, JSON text or null, rows inserted or null)."""

    sql: str
    parameters: Parameters
    read_only: bool
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """`total` is None unless a count was asked for; `inserted` is None unless an upsert tells new rows from old."""

    total: int | None
    rows: int
    body: bytes
    inserted: int | None = None
    location: bytes | None = None


def rows_json(strip_nulls: bool = False) -> str:
    """All rows as one JSON array, in the order of the source. Postgres writes it, so no value passes through Python."""
    rows = "json_agg(_postgrest_t)"
    return f"coalesce({f'json_strip_nulls({rows})' if strip_nulls else rows}, '[]')::text"


def first_json(strip_nulls: bool = False) -> str:
    """The one row as a JSON object."""
    rows = "json_agg(_postgrest_t)"
    return f"coalesce(({f'json_strip_nulls({rows})' if strip_nulls else rows})->0, 'null')::text"
