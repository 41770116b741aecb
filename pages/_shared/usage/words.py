"""Money, tokens and changes as the Usage page writes them. Pure."""

from __future__ import annotations

from decimal import Decimal
from html import escape

from core.usage.pricing import Cost, plain

NO_PRICE = "no price"


def usd(amount: Decimal) -> str:
    """USD with four significant digits, whole dollars never rounded away: $0.0105, $12.35, $12,346."""
    if amount == 0:
        return "$0"
    digits = max(0, 3 - amount.adjusted())
    return f"${round(amount, digits):,.{digits}f}"


def cost(found: Cost) -> str:
    """A cost with the sign of a lower bound, or that there is no price; never 0 for what has none."""
    if not found.known:
        return NO_PRICE
    return f"{'≥ ' if found.lower_bound else ''}{usd(found.usd)}"


def cost_help(found: Cost) -> str:
    """The exact amount, and why it may be more."""
    parts = [f"{plain(found.usd)} USD for the {found.priced:,} tokens that have a price."]
    if found.unpriced:
        parts.append(f"{found.unpriced:,} tokens have no price and are not in it.")
    if found.unattributed:
        more = f" (priced as output they add {usd(found.as_output)})" if found.as_output else ""
        parts.append(f"{found.unattributed:,} tokens are neither prompt nor completion and are not in it{more}.")
    if found.large:
        parts.append(f"{found.large:,} calls are so large that their price may be higher.")
    if found.demo:
        parts.append("The prices of the demo data are invented.")
    return " ".join(parts)


def tokens(number: int) -> str:
    """12,345 up to a hundred thousand short as 12.3k, then 1.23M; exact below ten thousand."""
    if number >= 1_000_000:
        return f"{number / 1_000_000:,.2f}M"
    return f"{number / 1000:.1f}k" if number >= 10_000 else f"{number:,}"


def change(now: int | Decimal, then: int | Decimal) -> float | None:
    """Percent against the previous period; None where there was nothing."""
    return None if not then else round(float((now - then) / then * 100), 1)


def change_text(percent: float | None) -> str | None:
    return None if percent is None else f"{percent:+.0f} %"


def share(part: int, whole: int) -> str:
    return "–" if not whole else f"{part / whole:.1%}"


def in_chart(text: str) -> str:
    """A name for a chart's legend or hover, which know tags and entities: shown as it is."""
    return escape(text, quote=False) or "(none)"
