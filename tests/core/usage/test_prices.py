"""Prices and budget as a person enters them: checked, exact, with source, actor and event, never changed afterwards."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from core.bootstrap import Core
from core.errors import Forbidden, InputError
from core.events.actor import ai, user
from core.usage.prices import Budget, amount
from core.usage.pricing import Price

ACTOR = user("local", "Olha", ("admin",))


def entry(**changes: Any) -> Price:
    given: dict[str, Any] = {
        "provider": "gemini",
        "model": "a$b$c",
        "valid_from": datetime(2026, 11, 10, tzinfo=UTC),
        "input_usd": Decimal("0.15"),
        "output_usd": None,
        "source": "https://example.org/prices?x=1",
        "source_date": date(2026, 11, 1),
    }
    return Price(**{**given, **changes})


def test_entered_and_superseded(core: Core) -> None:
    """Both entries stay, the later counts; amounts come back to the last digit; the event names before and after."""
    core.usage.set_price(ACTOR, entry())
    core.usage.set_price(ACTOR, entry(input_usd=Decimal("0.1234567891"), output_usd=Decimal("3")))
    assert [p.input_usd for p in core.usage.prices.list()] == [Decimal("0.15"), Decimal("0.1234567891")]
    [current] = core.usage.prices.book().current()
    assert (current.input_usd, current.model, current.entered_by) == (Decimal("0.1234567891"), "a$b$c", "Olha")
    events = core.events.store.query(type="PriceSet").rows
    assert (events[0].actor.principal_id, events[0].record_id) == ("local", "gemini a$b$c")
    assert events[0].payload["before_input_usd"] == "0.15"
    assert events[0].payload["input_usd"] == "0.1234567891"
    assert "before_input_usd" not in events[1].payload


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": " "}, "model"),
        ({"source": ""}, "source"),
        ({"source_date": None}, "source_date"),
        ({"valid_from": datetime(2026, 11, 10, 0, 30, tzinfo=UTC)}, "valid_from"),
        ({"size_over": 150_000}, "size_over"),
        ({"input_usd": Decimal("-1")}, "input_usd"),
        ({"output_usd": Decimal("1e-11")}, "output_usd"),
        ({"cached_usd": Decimal("NaN")}, "cached_usd"),
    ],
)
def test_a_price_that_cannot_be_is_refused(core: Core, changes: dict[str, Any], field: str) -> None:
    """The field is named and nothing is entered, also not the good one beside it."""
    with pytest.raises(InputError) as error:
        core.usage.set_price(ACTOR, entry(), entry(**changes))
    assert error.value.field == field
    assert core.usage.prices.list() == ()


def test_an_ai_may_not_set_prices(core: Core) -> None:
    """It has no role of its own."""
    actor = ai("model", "Model", mission_id="m", iteration_id="i", rationale="r")
    with pytest.raises(Forbidden):
        core.usage.set_price(actor, entry())
    with pytest.raises(Forbidden):
        core.usage.set_budget(actor, Budget(tokens_per_day=1))


def test_budget(core: Core) -> None:
    """None until set; money exact; the event holds the old limits."""
    assert core.usage.prices.budget() == Budget()
    core.usage.set_budget(ACTOR, Budget(500_000, Decimal("5.00"), None))
    core.usage.set_budget(ACTOR, Budget(None, Decimal("0.0105"), Decimal(100)))
    assert core.usage.prices.budget() == Budget(None, Decimal("0.0105"), Decimal(100))
    [latest, _] = core.events.store.query(type="UsageBudgetSet").rows
    assert latest.payload == {
        "usd_per_day": "0.0105",
        "usd_per_month": "100",
        "before_tokens_per_day": 500_000,
        "before_usd_per_day": "5",
    }
    with pytest.raises(InputError):
        core.usage.set_budget(ACTOR, Budget(tokens_per_day=-1))


@pytest.mark.parametrize("text", ["", None, "  "])
def test_nothing_is_no_price(text: str | None) -> None:
    """An empty field means that there is no price, which is not 0."""
    assert amount(text, "input_usd") is None
    assert amount("0", "input_usd") == 0
