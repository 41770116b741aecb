"""Cost as a pure function: dated prices, cached tokens, thinking tokens, size steps, exact small sums."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from core.usage.pricing import SIZES, Cost, Price, PriceBook, Tokens, cost, plain, size_over

START = datetime(2026, 1, 1, tzinfo=UTC)
NOVEMBER_10 = datetime(2026, 11, 10, tzinfo=UTC)


def price(
    start: datetime, usd: str, *, out: str | None = "2", cached: str | None = None, size: int = 0, late: int = 0
) -> Price:
    return Price(
        "gemini",
        "m",
        start,
        Decimal(usd),
        None if out is None else Decimal(out),
        None if cached is None else Decimal(cached),
        size_over=size,
        entered_at=START + timedelta(days=late),
    )


def usd(book: PriceBook, at: datetime, tokens: Tokens, size: int = 0) -> Cost:
    return cost(tokens, "gemini", "m", size, at, book)


MILLION = Tokens(calls=1, prompt=1_000_000, total=1_000_000)


def test_a_price_holds_from_its_start_on() -> None:
    """By `at` in UTC; the boundary belongs to the new price; before the first price is unpriced, not free (case 16)."""
    book = PriceBook([price(START, "1"), price(NOVEMBER_10, "2")])
    for at, amount in (
        (datetime(2026, 11, 9, 23, 59, 59, 999000, tzinfo=UTC), "1"),
        (NOVEMBER_10, "2"),
        (datetime.fromisoformat("2026-11-10T00:30:00+02:00"), "1"),
        (datetime(2026, 11, 8, 12, tzinfo=UTC), "1"),
    ):
        assert usd(book, at, MILLION).usd == Decimal(amount), at
    early = usd(book, START - timedelta(microseconds=1), MILLION)
    assert (early.usd, early.unpriced, early.known) == (0, 1_000_000, False)


def test_a_correction_reprices_the_past() -> None:
    """An entry for an earlier start holds from there on; of two for one start the later entered counts."""
    corrected = price(datetime(2026, 11, 1, tzinfo=UTC), "1.5", late=20)
    book = PriceBook([price(NOVEMBER_10, "2"), corrected, price(START, "1"), price(START, "0.5", late=30)])
    assert usd(book, datetime(2026, 10, 31, 23, tzinfo=UTC), MILLION).usd == Decimal("0.5")
    assert usd(book, datetime(2026, 11, 9, tzinfo=UTC), MILLION).usd == Decimal("1.5")
    assert usd(book, NOVEMBER_10, MILLION).usd == 2
    assert [p.input_usd for p in book.current()] == [Decimal("0.5"), Decimal("1.5"), 2]


def test_cached_tokens_are_not_counted_twice() -> None:
    """They are part of the prompt: their own price where there is one, else that of other input."""
    tokens = Tokens(calls=1, prompt=1000, completion=100, total=1100, cached=400, cached_in_prompt=400)
    with_price = usd(PriceBook([price(START, "1", cached="0.25")]), START, tokens)
    assert with_price.usd == Decimal("0.0006") + Decimal("0.0001") + Decimal("0.0002")
    assert usd(PriceBook([price(START, "1")]), START, tokens).usd == Decimal("0.0012")
    assert Tokens.of_call(10, None, None, 25).cached_in_prompt == 10


def test_thinking_tokens_are_a_lower_bound() -> None:
    """Prompt 20, completion 198, total 623: 405 tokens are not in the cost, and it says so (case 15)."""
    tokens = Tokens.of_call(20, 198, 623, None) + Tokens.of_call(70, None, 70, None)
    assert (tokens.total, tokens.unattributed) == (693, 405)
    found = usd(PriceBook([price(START, "1")]), START, tokens)
    assert found.usd == Decimal("0.00009") + Decimal("0.000396")
    assert found.lower_bound
    assert (found.unattributed, found.as_output) == (405, Decimal("0.00081"))


def test_a_missing_output_price_is_not_zero() -> None:
    """Input priced, output not: the sum of what is known, and the tokens that have no price."""
    found = usd(PriceBook([price(START, "1", out=None)]), START, Tokens(1, 1_000_000, 5, 1_000_005))
    assert (found.usd, found.priced, found.unpriced, found.lower_bound) == (1, 1_000_000, 5, True)
    withdrawn = Price("gemini", "m", START, None, None)
    assert not usd(PriceBook([withdrawn]), START, MILLION).known


def test_size_steps_apply_to_the_whole_call() -> None:
    """100 calls of 3,000 are never one of 300,000; without steps the large call is marked (case 17)."""
    small = Tokens(100, 300_000, 0, 300_000)
    large = Tokens(1, 300_000, 0, 300_000)
    plain_book = PriceBook([price(START, "1")])
    assert usd(plain_book, START, small, size_over(3000)).large == 0
    marked = usd(plain_book, START, large, size_over(300_000))
    assert (marked.usd, marked.large, marked.lower_bound) == (Decimal("0.3"), 1, True)
    steps = PriceBook([price(START, "1"), price(START, "2", size=200_000)])
    assert usd(steps, START, small, size_over(3000)).usd == Decimal("0.3")
    stepped = usd(steps, START, large, size_over(300_000))
    assert (stepped.usd, stepped.large) == (Decimal("0.6"), 0)
    assert usd(steps, START, large, size_over(200_000)).usd == Decimal("0.3")


def test_a_new_start_brings_all_its_sizes() -> None:
    """The step of an older start does not live on beside a newer one."""
    book = PriceBook([price(START, "1"), price(START, "2", size=200_000), price(NOVEMBER_10, "3")])
    assert usd(book, NOVEMBER_10, MILLION, 200_000).usd == 3


def test_very_small_sums_are_exact() -> None:
    """10,000 calls of 7 tokens at 0.15 USD a million are 0.0105, added one by one or at once (case 17)."""
    book = PriceBook([price(START, "0.15")])
    one = usd(book, START, Tokens(1, 7, 0, 7))
    assert plain(sum((one for _ in range(10_000)), Cost()).usd) == "0.0105"
    assert plain(usd(book, START, Tokens(10_000, 70_000, 0, 70_000)).usd) == "0.0105"
    assert [plain(Decimal(x)) for x in ("0", "10", "1E-7", "2.50")] == ["0", "10", "0.0000001", "2.5"]


@given(st.integers(0, 2**31 - 1))
def test_size_of_a_prompt(prompt: int) -> None:
    """The highest limit that it exceeds; a limit itself is not exceeded."""
    size = size_over(prompt)
    assert size == 0 or prompt > size
    assert all(prompt <= other for other in SIZES if other > size)


counts = st.integers(0, 10**9)


@given(st.lists(st.tuples(counts, counts, counts, counts), max_size=5))
def test_parts_sum_to_the_whole(calls: list[tuple[int, int, int, int]]) -> None:
    """The cost of calls together is the sum of their costs, to the last digit."""
    book = PriceBook([price(START, "0.123456789", out="7.77", cached="0.0000000001")])
    each = [Tokens.of_call(*call) for call in calls]
    assert usd(book, START, sum(each, Tokens())) == sum((usd(book, START, t) for t in each), Cost())
