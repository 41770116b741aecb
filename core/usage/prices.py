"""The price table and the budget: read, and entered by a person, each entry with its source and its event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from core.db.client import Database
from core.errors import InputError
from core.events.actor import Actor
from core.events.emitter import Events
from core.usage.pricing import SIZES, Price, PriceBook, plain

DIGITS = 10  # after the point, of a price a million tokens
TEXT_LIMIT = 300


@dataclass(frozen=True)
class Budget:
    """Limits to draw and to warn at; None for none."""

    tokens_per_day: int | None = None
    usd_per_day: Decimal | None = None
    usd_per_month: Decimal | None = None

    def as_json(self) -> dict[str, Any]:
        money = {"usd_per_day": self.usd_per_day, "usd_per_month": self.usd_per_month}
        texts = {name: None if amount is None else plain(amount) for name, amount in money.items()}
        return {"tokens_per_day": self.tokens_per_day, **texts}


class Prices:
    """Source: desk_price_list, desk_set_prices, desk_usage_budget, desk_set_usage_budget."""

    def __init__(self, db: Database, events: Events) -> None:
        self._db = db
        self._events = events

    def list(self) -> tuple[Price, ...]:
        """Every price ever entered, by provider, model, start, size and time of entry."""
        return tuple(_price(row) for row in self._db.rpc("desk_price_list", {}, read=True, returns=list))

    def book(self) -> PriceBook:
        return PriceBook(self.list())

    def set(self, actor: Actor, prices: Sequence[Price]) -> int:
        """Enter prices, in one transaction with one event each; an earlier entry of the same start is superseded.

        Errors: InputError naming the field; DatabaseError.
        """
        book = self.book()
        rows, events = [], []
        for price in prices:
            check(price)
            rows.append(_row(price, actor))
            before = (book.at(price.provider, price.model, price.valid_from) or {}).get(price.size_over)
            # The names stand in the record's id: a payload takes plain words alone.
            event = self._events.prepare(
                "PriceSet",
                _facts(price, before),
                actor=actor,
                record_id=f"{price.provider} {price.model}",
                collection="desk_prices",
            )
            events.append(event)
        answer = self._db.rpc(
            "desk_set_prices", {"p_rows": rows, "p_events": [e.row() for e in events]}, read=False, returns=dict
        )
        for event in events:
            self._events.announce(event)
        return int(answer["added"])

    def budget(self) -> Budget:
        found = self._db.rpc("desk_usage_budget", {}, read=True, returns=dict)
        tokens = found.get("tokens_per_day")
        return Budget(
            None if tokens is None else int(tokens),
            amount(found.get("usd_per_day"), "usd_per_day"),
            amount(found.get("usd_per_month"), "usd_per_month"),
        )

    def set_budget(self, actor: Actor, budget: Budget) -> Budget:
        """Errors: InputError for a negative limit; DatabaseError."""
        for name, value in budget.__dict__.items():
            if value is not None and value < 0:
                raise InputError("A budget is not negative.", field=name)
        before = {f"before_{name}": value for name, value in self.budget().as_json().items()}
        event = self._events.prepare("UsageBudgetSet", {**budget.as_json(), **before}, actor=actor)
        self._db.rpc(
            "desk_set_usage_budget",
            {"p_budget": budget.as_json(), "p_event": event.row()},
            read=False,
            returns=dict,
        )
        self._events.announce(event)
        return budget


def check(price: Price) -> None:
    """Errors: InputError naming the field of a price that the table would refuse."""
    for name in ("provider", "model", "source"):
        text = getattr(price, name)
        if not text.strip() or len(text) > TEXT_LIMIT or not text.isprintable():
            raise InputError(f"{name} is missing, or holds what cannot be shown.", field=name)
    at = price.valid_from.astimezone(UTC)
    if (at.minute, at.second, at.microsecond) != (0, 0, 0):
        raise InputError("A price starts at a whole UTC hour: usage is totalled by hour.", field="valid_from")
    if price.size_over not in SIZES:
        limits = ", ".join(f"{size:,}" for size in SIZES[1:])
        raise InputError("Calls are not kept apart at this size.", hint=f"Known: {limits}.", field="size_over")
    if price.source_date is None:
        raise InputError("The day on which the source said so is missing.", field="source_date")
    for name in ("input_usd", "output_usd", "cached_usd"):
        amount(getattr(price, name), name)


def amount(value: Any, field: str) -> Decimal | None:
    """USD from text, exact; None for nothing. Errors: InputError for what is no amount from 0 to a million."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        found = Decimal(value.strip() if isinstance(value, str) else value)
    except (InvalidOperation, TypeError, ValueError):
        raise InputError(f"{field} is no amount.", hint="Write 0.15.", field=field) from None
    if not found.is_finite() or not 0 <= found < 1_000_000:
        raise InputError(f"{field} is no amount from 0 to a million.", field=field)
    exponent = found.normalize().as_tuple().exponent
    if isinstance(exponent, int) and exponent < -DIGITS:
        raise InputError(f"{field} has more than {DIGITS} digits after the point.", field=field)
    return found


def _price(row: Mapping[str, Any]) -> Price:
    return Price(
        provider=row["provider"],
        model=row["model"],
        valid_from=datetime.fromisoformat(row["valid_from"]).astimezone(UTC),
        input_usd=_decimal(row["input_usd"]),
        output_usd=_decimal(row["output_usd"]),
        cached_usd=_decimal(row["cached_usd"]),
        size_over=int(row["size_over"]),
        source=row["source"],
        source_date=date.fromisoformat(row["source_date"]),
        demo=bool(row["demo"]),
        entered_by=row["entered_by"],
        entered_at=datetime.fromisoformat(row["entered_at"]).astimezone(UTC),
    )


def _row(price: Price, actor: Actor) -> dict[str, Any]:
    return {
        "provider": price.provider.strip(),
        "model": price.model.strip(),
        "valid_from": price.valid_from.isoformat(),
        "size_over": price.size_over,
        "input_usd": _plain(price.input_usd),
        "output_usd": _plain(price.output_usd),
        "cached_usd": _plain(price.cached_usd),
        "source": price.source.strip(),
        "source_date": price.source_date.isoformat() if price.source_date else None,
        "demo": price.demo,
        "entered_by": actor.display_name or actor.principal_id,
    }


def _facts(price: Price, before: Price | None) -> dict[str, Any]:
    kept = before if before is not None and before.valid_from == price.valid_from else None
    return {
        "provider": price.provider,
        "model": price.model,
        "valid_from": price.valid_from.isoformat(),
        "size_over": price.size_over,
        "source_date": price.source_date.isoformat() if price.source_date else None,
        **{name: _plain(getattr(price, name)) for name in ("input_usd", "output_usd", "cached_usd")},
        **{
            f"before_{name}": _plain(getattr(kept, name)) if kept else None
            for name in ("input_usd", "output_usd", "cached_usd")
        },
    }


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _plain(value: Decimal | None) -> str | None:
    return None if value is None else plain(value)
