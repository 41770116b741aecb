"""What the Usage page reads, by name and type; lifetime and staleness are those of `reads.usage`."""

from __future__ import annotations

from core.usage.lines import Anomaly, Page, RequestLine, Summary
from core.usage.periods import Period
from core.usage.prices import Budget
from core.usage.pricing import Price
from core.usage.record import Waiting
from pages._shared import reads
from pages._shared.reads import PAGE, Read
from pages._shared.resources import core
from pages._shared.zone import my_zone_name


def summary(period: Period, group_by: tuple[str, ...]) -> Read[Summary]:
    return reads.usage("summary", period, group_by, my_zone_name())


def dialogs(period: Period, page: int) -> Read[Page]:
    return reads.usage("dialogs", period, PAGE, (page - 1) * PAGE)


def requests(period: Period, dialog_key: str | None, page: int) -> Read[Page]:
    return reads.usage("requests", period, dialog_key, PAGE, (page - 1) * PAGE)


def request(request_id: str) -> Read[RequestLine | None]:
    return reads.usage("request", request_id)


def anomalies(period: Period) -> Read[tuple[Anomaly, ...]]:
    return reads.usage("anomalies", period, my_zone_name())


def prices() -> Read[tuple[Price, ...]]:
    return reads.usage("list")


def budget() -> Read[Budget]:
    return reads.usage("budget")


def waiting() -> Waiting:
    """From the disk, at once."""
    return core().usage.waiting()
