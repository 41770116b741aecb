"""The Usage page: empty, full, broken; odd names, money, days, prices and budget as a person enters them."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable
from core.events.actor import LOCAL_OPERATOR
from core.usage.prices import Budget
from core.usage.pricing import Price
from core.usage.report import UsageReports
from pages._shared.export import to_csv, unguard
from pages._shared.usage.overview import group_row
from tests.pages.conftest import calm, texts

Open = Callable[..., AppTest]


def record(core: Core, *entries: dict[str, Any], **more: Any) -> str:
    request = str(uuid.uuid4())
    base = {"provider": "gemini", "model": "a$b$c", "phase": "generate"}
    core.usage.record({"requestId": request, "entries": [{**base, **entry} for entry in entries], **more})
    return request


def enter(core: Core, **changes: Any) -> None:
    given: dict[str, Any] = {"input_usd": Decimal("0.15"), "output_usd": Decimal(2), "source": "s", **changes}
    start = datetime(2026, 1, 1, tzinfo=UTC)
    core.usage.set_price(LOCAL_OPERATOR, Price("gemini", "a$b$c", start, source_date=date(2026, 1, 1), **given))


def metric(at: AppTest, label: str) -> str:
    return next(str(m.value) for m in at.metric if m.label == label)


def frame(at: AppTest, column: str) -> Any:
    return next(d.value for d in at.dataframe if column in d.value)


def test_empty(core: Core, open_page: Open) -> None:
    """No row yet: why, what to send, and that no price is entered."""
    said = texts(calm(open_page("usage")))
    assert "No call is logged yet" in said
    assert "/stack-ai/tips/usage" in said
    assert "No price is entered" in said


def test_full(core: Core, open_page: Open) -> None:
    """Names character for character, cost with its sign, unpriced as such, 405 tokens not attributed (cases 15, 23)."""
    enter(core)
    now = datetime.now(UTC)
    record(
        core,
        {"promptTokens": 20, "completionTokens": 198, "totalTokens": 623, "at": now.isoformat()},
        {"provider": "xai", "model": "grok", "phase": "embed", "promptTokens": 70, "totalTokens": 70},
        dialogKey="d1",
    )
    core.usage.record({"requestId": str(uuid.uuid4()), "promptText": "x" * 40})
    at = calm(open_page("usage"))
    assert metric(at, "Tokens") == "703"
    assert metric(at, "Calls") == "3"
    assert metric(at, "Cost (USD)").startswith("≥ $0.000399")
    groups = frame(at, "unattributed")
    assert list(groups["model"]) == ["a$b$c", "grok", "~unknown"]
    assert list(groups["cost"]) == ["≥ $0.0003990", "no price", "no price"]
    assert list(groups["unattributed"]) == [405, 0, 0]
    assert next(iter(frame(at, "key")["total"])) == 693
    assert "gemini · unknown; xai · grok" in texts(at)


def test_nothing_after_now_and_no_day_left_out(core: Core, open_page: Open) -> None:
    """The table behind the chart has every local day up to today, those without a call as zero (case 25)."""
    now = datetime.now(UTC)
    record(core, {"totalTokens": 5, "at": (now - timedelta(days=3)).isoformat()}, {"totalTokens": 7})
    at = calm(open_page("usage", query={"range": "7d"}))
    buckets = frame(at, "bucket")
    days = [(now.date() - timedelta(n)).isoformat() for n in range(6, -1, -1)]
    assert list(buckets["bucket"]) == days
    assert [int(v) for v in buckets["amount"]] == [0, 0, 0, 5, 0, 0, 7]


@pytest.mark.parametrize("query", [{"range": "1d"}, {"range": "180d", "step": "hour"}, {"range": "soon"}, {"by": "x"}])
def test_any_address_opens(core: Core, open_page: Open, query: dict[str, str]) -> None:
    """Also one that names what there is not."""
    record(core, {"totalTokens": 5})
    assert metric(calm(open_page("usage", query=query)), "Tokens") == "5"


def test_a_range_of_its_own(core: Core, open_page: Open) -> None:
    """From and to in the address, both included."""
    record(core, {"totalTokens": 5, "at": "2026-11-01T10:00:00Z"}, {"totalTokens": 7, "at": "2026-11-03T00:00:00Z"})
    query = {"range": "other", "from": "2026-11-01", "to": "2026-11-02", "by": "phase"}
    assert metric(calm(open_page("usage", query=query)), "Tokens") == "5"


def test_one_request(core: Core, open_page: Open) -> None:
    """Its calls in order, with what may be a duplicate; an id that is none says so."""
    at = "2026-11-20T10:00:00Z"
    request = record(core, *({"totalTokens": 5, "promptTokens": 5, "at": at} for _ in range(2)))
    page = calm(open_page("usage", {"desk.kept.usage-request": request}))
    assert list(frame(page, "after_s")["remark"]) == ["possible duplicate"] * 2
    assert "possibly one call logged twice" in texts(page)
    assert "This is no UUID" in texts(open_page("usage", {"desk.kept.usage-request": "nonsense"}))


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database does not answer: says so and offers a retry, no traceback; then it works again."""
    record(core, {"totalTokens": 5})

    def gone(*_: Any, **__: Any) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    with monkeypatch.context() as patch:
        patch.setattr(UsageReports, "summary", gone)
        at = calm(open_page("usage"))
        assert "Usage cannot be shown" in texts(at)
        assert any(button.label == "Retry now" for button in at.button)
    at.run()
    assert metric(calm(at), "Tokens") == "5"


def test_rows_on_disk_are_shown(core: Core, open_page: Open) -> None:
    """How many wait; the button writes them."""
    from pages._shared.resources import core as of_pages

    record(core, {"totalTokens": 5})
    at = calm(open_page("usage"))
    drain = of_pages().usage.recorder.drain
    drain.wake = lambda: None  # type: ignore[method-assign]
    drain.failing_since = 1.0
    record(of_pages(), {"totalTokens": 7})
    at.run()
    assert "1 row on disk, not yet in the table" in texts(at)
    next(b for b in at.button if b.label == "Write now").click().run()
    at.run()
    assert "on disk" not in texts(at)
    assert metric(calm(at), "Tokens") == "12"


def test_a_stale_rollup_can_be_rebuilt(core: Core, dsn: str, open_page: Open) -> None:
    """The totals say that they may be old; the button brings them to what the rows say."""
    import psycopg

    record(core, {"totalTokens": 5})
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("alter table token_usage_log disable trigger user")
        record(core, {"totalTokens": 7})
        connection.execute("alter table token_usage_log enable trigger user")
        connection.execute("select desk_note_usage_fault('55P03')")
    at = calm(open_page("usage"))
    assert metric(at, "Tokens") == "5"
    next(b for b in at.button if b.label == "Rebuild the totals").click().run()
    assert metric(calm(at), "Tokens") == "12"


def test_a_price_is_entered_and_reprices(core: Core, open_page: Open) -> None:
    """The form asks for the source; afterwards the page says what the range cost and costs (case 16)."""
    record(core, *({"promptTokens": 100_000, "totalTokens": 100_000} for _ in range(10)))
    at = calm(open_page("usage"))
    assert metric(at, "Cost (USD)") == "no price"
    fill(at, source="")
    assert "source is missing" in texts(at)
    fill(at, source="https://example.org/a?b=1")
    assert "are priced anew: the range shown cost no price, now USD 0.1500" in texts(calm(at))
    assert metric(at, "Cost (USD)") == "$0.1500"
    [price] = core.usage.prices.list()
    assert (price.model, price.source, price.entered_by) == ("a$b$c", "https://example.org/a?b=1", "Local operator")


def fill(at: AppTest, source: str) -> None:
    def pick(kind: str, label: str) -> Any:
        return next(w for w in getattr(at, kind) if w.label.startswith(label))

    pick("selectbox", "Provider").set_value("gemini")
    pick("selectbox", "Model").set_value("a$b$c")
    pick("date_input", "Valid from").set_value(date(2026, 1, 1))
    pick("date_input", "Date of").set_value(date(2026, 1, 2))
    pick("text_input", "Input").set_value("0.15")
    pick("text_input", "Source").set_value(source)
    next(b for b in at.button if b.label == "Enter this price").click().run()


def test_a_budget_is_set(core: Core, open_page: Open) -> None:
    """Exact in the database, a share in the figure."""
    record(core, {"totalTokens": 50})
    at = calm(open_page("usage", query={"range": "1d"}))
    next(w for w in at.text_input if w.label == "Tokens a day").set_value("1,000")
    next(b for b in at.button if b.label == "Set the budget").click().run()
    assert metric(calm(at), "Budget used a day") == "5%"
    assert core.usage.prices.budget().tokens_per_day == 1000


def test_a_budget_a_month_is_a_figure_too(core: Core, open_page: Open) -> None:
    """At the pace of the days shown; without a price nothing is claimed."""
    record(core, {"promptTokens": 50, "totalTokens": 50})
    core.usage.prices.set_budget(LOCAL_OPERATOR, Budget(None, None, Decimal(3)))
    assert metric(calm(open_page("usage", query={"range": "1d"})), "Budget used a month") == "unknown"
    st.cache_data.clear()
    enter(core)
    record(core, {"promptTokens": 1000, "totalTokens": 1000})
    said = metric(calm(open_page("usage", query={"range": "1d"})), "Budget used a month")
    assert said.endswith("%")


def test_the_file_equals_the_page(core: Core) -> None:
    """Numbers load as numbers, a change of -35 % too; a name that would be computed is guarded (cases 17, 21)."""
    enter(core)
    record(core, *({"promptTokens": 7, "totalTokens": 7, "at": "2026-11-20T10:00:00Z"} for _ in range(1000)))
    from core.usage.periods import Period

    november = Period(datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))
    [line] = core.usage.reports.summary(november, ["model"]).lines
    past = line.__class__(tokens=line.tokens.__class__(total=round(7000 / 0.65)), cost=line.cost)
    row = {**group_row({"model": "=1+1"}, line, past), "phase": "- milk"}
    fields = ["model", "phase", "total", "cost_usd", "change_percent"]
    [read] = csv.DictReader(io.StringIO(to_csv([row], fields).decode("utf-8-sig")))
    assert (int(read["total"]), read["cost_usd"], float(read["change_percent"])) == (7000, "0.00105", -35.0)
    assert unguard(read["model"]) == "=1+1"
    assert unguard(read["phase"]) == "- milk"
