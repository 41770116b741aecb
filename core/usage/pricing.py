"""What tokens cost: a pure function of counts and dated prices, in exact decimals.

A price belongs to the calls from its start on, by their `at` in UTC; before the first price there is none, which is
not free. Cached tokens are part of the prompt and are taken out of it before it is priced. Tokens that neither prompt
nor completion accounts for (a model that thinks) are *not* priced: the cost is then a lower bound, and says how much
more it is where they cost what output costs. Prices for large calls apply to the whole call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Self

ZERO = Decimal(0)
# The limits by which the rollup keeps calls apart: supabase/migrations/20261201020000_create_usage_rollups.sql.
SIZES = (
    0, 32_000, 32_768, 64_000, 65_536, 128_000, 131_072, 200_000, 256_000, 262_144, 272_000, 500_000, 524_288,
    1_000_000, 1_048_576,
)  # fmt: skip
# From this size on several vendors ask more; a price without steps may then be too low.
LARGE = 128_000


def size_over(prompt: int) -> int:
    """The highest known limit that a prompt exceeds, 0 for most."""
    return max(size for size in SIZES if size == 0 or prompt > size)


@dataclass(frozen=True)
class Tokens:
    """Sums over calls. `cached_in_prompt`: cached tokens, per call no more than its prompt. `unattributed`: what totals
    are more than their parts."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    total: int = 0
    cached: int = 0
    cached_in_prompt: int = 0
    unattributed: int = 0

    def __add__(self, other: Self) -> Tokens:
        return Tokens(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Tokens)))

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Tokens:
        """From a row that holds these sums."""
        return cls(**{f.name: int(row.get(f.name) or 0) for f in fields(cls)})

    @classmethod
    def of_call(cls, prompt: int | None, completion: int | None, total: int | None, cached: int | None) -> Tokens:
        """One call as it stands in the log, where every count may be missing."""
        p, c, t, k = prompt or 0, completion or 0, total or 0, cached or 0
        return cls(1, p, c, t, k, max(0, min(k, p)), max(0, t - p - c))


@dataclass(frozen=True)
class Price:
    """USD per million tokens from an instant on, for calls whose prompt exceeds `size_over`. None: no price."""

    provider: str
    model: str
    valid_from: datetime
    input_usd: Decimal | None
    output_usd: Decimal | None
    cached_usd: Decimal | None = None
    size_over: int = 0
    source: str = ""
    source_date: date | None = None
    demo: bool = False
    entered_by: str = ""
    entered_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Cost:
    """What is known to cost `usd`; the rest says why it may be more.

    `unpriced`: tokens without a price. `unattributed`: tokens that are neither prompt nor completion, not in `usd`;
    `as_output` is what they add where they cost what output costs. `large`: calls so large that the price may be
    higher, while the table has one price for all sizes. `demo`: an invented price took part.
    """

    usd: Decimal = ZERO
    priced: int = 0
    unpriced: int = 0
    unattributed: int = 0
    as_output: Decimal = ZERO
    large: int = 0
    demo: bool = False

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.usd + other.usd,
            self.priced + other.priced,
            self.unpriced + other.unpriced,
            self.unattributed + other.unattributed,
            self.as_output + other.as_output,
            self.large + other.large,
            self.demo or other.demo,
        )

    @property
    def known(self) -> bool:
        """Whether any token has a price, or there was none to price."""
        return self.priced > 0 or self.unpriced == 0

    @property
    def lower_bound(self) -> bool:
        return bool(self.unpriced or self.unattributed or self.large)


class PriceBook:
    """Prices by provider and model. Of several for one start and size the latest entered counts."""

    def __init__(self, prices: Iterable[Price]) -> None:
        self._sets: dict[tuple[str, str], list[tuple[datetime, dict[int, Price]]]] = {}
        ordered = sorted(prices, key=lambda p: (p.provider, p.model, p.valid_from, p.size_over, p.entered_at))
        for price in ordered:
            sets = self._sets.setdefault((price.provider, price.model), [])
            if not sets or sets[-1][0] != price.valid_from:
                sets.append((price.valid_from, {}))
            sets[-1][1][price.size_over] = price

    def at(self, provider: str, model: str, at: datetime) -> Mapping[int, Price] | None:
        """The prices by size that hold at an instant, its start included; None before the first.

        A start brings all its sizes: those of an earlier one do not live on beside it.
        """
        found = None
        for start, by_size in self._sets.get((provider, model), ()):
            if start > at:
                break
            found = by_size
        return found

    def current(self) -> tuple[Price, ...]:
        """The prices in force for their time, by provider, model, start and size."""
        return tuple(
            price for sets in self._sets.values() for _, by_size in sets for _, price in sorted(by_size.items())
        )


def cost(tokens: Tokens, provider: str, model: str, size: int, at: datetime, book: PriceBook) -> Cost:
    """The cost of calls of one model, one size and one span in which prices stand still."""
    prices = book.at(provider, model, at)
    attributed = tokens.prompt + tokens.completion
    fitting = [step for step in prices or () if step <= size]
    if not prices or not fitting:
        return Cost(unpriced=attributed, unattributed=tokens.unattributed)
    price = prices[max(fitting)]
    usd, priced = ZERO, 0
    cached = tokens.cached_in_prompt if price.cached_usd is not None else 0
    for count, rate in (
        (tokens.prompt - cached, price.input_usd),
        (cached, price.cached_usd),
        (tokens.completion, price.output_usd),
    ):
        if count and rate is not None:
            usd += (rate * count).scaleb(-6)
            priced += count
    return Cost(
        usd,
        priced,
        attributed - priced,
        tokens.unattributed,
        ((price.output_usd or ZERO) * tokens.unattributed).scaleb(-6),
        tokens.calls if size >= LARGE and set(prices) == {0} else 0,
        price.demo,
    )


def plain(amount: Decimal) -> str:
    """An amount in digits, exact, without trailing zeros: 0.0105."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
