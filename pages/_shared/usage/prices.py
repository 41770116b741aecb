"""The price table and the budget, and the forms that change them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import streamlit as st

from core.errors import InputError
from core.usage.lines import Summary
from core.usage.prices import Budget, amount
from core.usage.pricing import SIZES, Price, PriceBook, plain
from pages._shared import actions, formats, session, tables
from pages._shared.feedback import boundary
from pages._shared.layout import panel
from pages._shared.parts import only
from pages._shared.tables import Column
from pages._shared.usage import reading, words
from pages._shared.usage.choices import Choice
from pages._shared.zone import my_zone, my_zone_name

COLUMNS = (
    Column("provider", "Provider"),
    Column("model", "Model"),
    Column("valid_from", "From (UTC)"),
    Column("size_over", "Prompt over", "count", help="Tokens; for calls larger than this, for the whole call."),
    Column("input_usd", "Input", "amount", help="USD per million tokens. Empty: no price, which is not 0."),
    Column("output_usd", "Output", "amount", help="USD per million tokens."),
    Column("cached_usd", "Cached", "amount", help="USD per million tokens. Empty: as input."),
    Column("source", "Source", width="medium"),
    Column("source_date", "Source of", "day"),
    Column("entered", "Entered", "when"),
    Column("entered_by", "By"),
    Column("remark", "Remark"),
)
SAID = "usage-price-said"


def table(summary: Summary, choice: Choice) -> None:
    """Every price with its source; those that were superseded on demand."""
    says = "USD per million tokens. Entries are never changed: a later one for the same start counts instead."
    with panel("Prices", says), boundary("The prices"):
        entries = reading.prices().value
        if said := session.remembered(SAID, None):
            st.success(said)
            session.remember(SAID, None)
        current = PriceBook(entries).current()
        old = len(entries) - len(current)
        every = bool(old) and st.toggle(f"Superseded entries too ({old})", key="usage-superseded")
        rows = [price_row(price, current) for price in (entries if every else current)]
        if not rows:
            st.text("No price is entered: every cost above is unknown, not 0.")
        else:
            tables.show(rows, COLUMNS, key="usage-prices", zone=my_zone_name(), height="content")
            tables.downloads(rows, [c.field for c in COLUMNS], name="prices", key="usage-prices-file")
        if missing := without_price(summary):
            more = f", and {len(missing) - 8} more" if len(missing) > 8 else ""
            st.text(f"Used within the range and without a price for some of it: {'; '.join(missing[:8])}{more}.")
        with st.expander("Enter a price", key="usage-price-form"):
            _price_form(summary, choice)


def price_row(price: Price, current: Sequence[Price]) -> dict[str, Any]:
    late = (price.entered_at - price.valid_from).days
    remarks = ["demo, invented"] if price.demo else []
    if price not in current:
        remarks.append("superseded")
    elif late > 0 and not price.demo:
        remarks.append(f"entered {late} d after its start: those days were priced anew")
    return {
        "provider": price.provider,
        "model": price.model,
        "valid_from": f"{price.valid_from:%Y-%m-%d %H:00}",
        "size_over": price.size_over or None,
        **{name: _text(getattr(price, name)) for name in ("input_usd", "output_usd", "cached_usd")},
        "source": price.source,
        "source_date": price.source_date,
        "entered": price.entered_at,
        "entered_by": price.entered_by,
        "remark": ", ".join(remarks),
    }


def without_price(summary: Summary) -> list[str]:
    """Provider and model of what was used and has no price for some of its tokens."""
    return sorted({f"{x.provider} · {x.model}" for x in summary.lines if x.cost.unpriced})


@only("set_price")
def budget(limits: Budget) -> None:
    """Limits a day and a month; drawn in the chart by day."""
    says = "Drawn as a dashed line in the chart by day. Empty: none."
    with panel("Budget", says), boundary("The budget"), st.form("usage-budget", border=False):
        given = "" if limits.tokens_per_day is None else str(limits.tokens_per_day)
        tokens = st.text_input("Tokens a day", value=given)
        day = st.text_input("USD a day", value=_text(limits.usd_per_day) or "")
        month = st.text_input("USD a month", value=_text(limits.usd_per_month) or "")
        if st.form_submit_button("Set the budget"):
            _set_budget(tokens, day, month)


def _set_budget(tokens: str, day: str, month: str) -> None:
    try:
        given = amount(tokens.replace(",", ""), "tokens_per_day")
        whole = None if given is None else int(given)
        actions.set_budget(Budget(whole, amount(day, "usd_per_day"), amount(month, "usd_per_month")))
    except InputError as wrong:
        st.error(f"{wrong.what} {wrong.hint}")
    else:
        st.rerun()


@only("set_price")
def _price_form(summary: Summary, choice: Choice) -> None:
    used = sorted({(str(x.provider), str(x.model)) for x in summary.lines})
    with st.form("usage-price", border=False):
        left, right = st.columns(2)
        provider = left.selectbox("Provider", sorted({p for p, _ in used}), index=None, accept_new_options=True)
        model = right.selectbox("Model", sorted({m for _, m in used}), index=None, accept_new_options=True)
        start = left.date_input("Valid from (day, UTC)", value=None, format="YYYY-MM-DD")
        hour = right.number_input("Hour (UTC)", 0, 23, 0)
        texts = [
            column.text_input(label, placeholder="0.15")
            for column, label in zip(
                st.columns(3),
                ("Input, USD per million", "Output, USD per million", "Cached, USD per million"),
                strict=True,
            )
        ]
        size = st.selectbox(
            "For calls with a prompt over (tokens)",
            SIZES,
            format_func=lambda s: "any size" if s == 0 else f"{s:,}",
            help="For the whole call. A start brings all its sizes: enter the price for any size too.",
        )
        source = st.text_input("Source", placeholder="address of the price list, or who said so")
        said_on = st.date_input("Date of the source", value=None, format="YYYY-MM-DD")
        if st.form_submit_button("Enter this price"):
            _enter((provider, model, start, int(hour), texts, size, source, said_on), summary, choice)


def _enter(given: tuple[Any, ...], summary: Summary, choice: Choice) -> None:
    provider, model, start, hour, texts, size, source, said_on = given
    try:
        if not isinstance(start, date):
            raise InputError("The day from which the price holds is missing.", field="valid_from")
        names = ("input_usd", "output_usd", "cached_usd")
        amounts = [amount(text, name) for text, name in zip(texts, names, strict=True)]
        price = Price(
            str(provider or ""),
            str(model or ""),
            datetime.combine(start, time(hour), UTC),
            amounts[0],
            amounts[1],
            amounts[2],
            size_over=size,
            source=source,
            source_date=said_on if isinstance(said_on, date) else None,
        )
        actions.set_prices(price)
    except InputError as wrong:
        st.error(f"{wrong.what} {wrong.hint}")
        return
    after = reading.summary(choice.period, (choice.step, "provider", "model", "phase")).value.total.cost
    session.remember(
        SAID,
        f"Entered. Calls of this model from {formats.moment(price.valid_from, my_zone())} on are priced anew: "
        f"the range shown cost {_plain(words.cost(summary.total.cost))}, now {_plain(words.cost(after))}.",
    )
    st.rerun()


def _text(value: Decimal | None) -> str | None:
    return None if value is None else plain(value)


def _plain(money: str) -> str:
    return money.replace("$", "USD ")  # a message is Markdown, where two dollar signs make a formula
