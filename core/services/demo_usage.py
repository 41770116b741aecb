"""Ninety days of invented usage for the demo: two providers, the phases of a request, evenings fuller than mornings.

Made by a formula seeded with the day, so that a load which broke off and is completed later writes the same rows. They
have what the page is there to show: a spike, requests known only by an estimate, a model without a price, totals above
their parts (a model that thinks), cached tokens, calls of no dialog.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import accumulate
from typing import Any
from uuid import UUID

from core.services.demo_content import DemoDialog
from core.services.demo_marks import DEMO, demo_id
from core.usage.entries import ESTIMATED, UsageRow

DAYS = 90  # today included
REQUESTS_A_DAY = 21.0  # with all dialogs, at the end of the ninety days on an average weekday
WEEKDAYS = (0.85, 0.85, 0.9, 1.0, 1.15, 1.3, 1.15)  # Monday first
HOURS = (3, 2, 1, 1, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 7, 8, 10, 13, 15, 16, 14, 10, 6)  # UTC
SPIKE_DAYS_AGO, SPIKE_HOUR, SPIKE_REQUESTS = 1, 20, 12.0
GROK_3_UNTIL, TRIAL_SINCE = 40, 12  # days ago
ESTIMATED_SHARE, NO_DIALOG_SHARE, TRIAL_SHARE, PHOTO_SHARE = 0.04, 0.015, 0.1, 0.1

FLASH, PRO = ("gemini", "gemini-2.5-flash"), ("gemini", "gemini-2.5-pro")
EMBEDDING = ("gemini", "gemini-embedding-001")
GROK_3, GROK_4 = ("xai", "grok-3"), ("xai", "grok-4")
TRIAL = ("xai", "grok-5-preview")  # nobody has entered a price

# USD per million tokens: input, output, cached. Invented, and far from what any vendor asks.
PRICES = {
    FLASH: ("0.2", "1.6", "0.05"),
    PRO: ("1.5", "9", "0.4"),
    EMBEDDING: ("0.1", None, None),
    GROK_3: ("2", "12", None),
    GROK_4: ("2.5", "14", "0.6"),
}
PRICE_SOURCE = "Invented for the demo data"
# Long ago: a real price that somebody enters later starts after it, and counts.
PRICES_FROM = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class _Call:
    """One call of a request, `after` so many seconds."""

    model: tuple[str, str]
    phase: str
    prompt: int
    completion: int | None
    after: float
    thought: int = 0
    cached: int | None = None


def demo_usage(dialogs: Sequence[DemoDialog], now: datetime) -> list[UsageRow]:
    """The calls up to `now`, oldest day first."""
    owners = [dialog.ingests[0].owner for dialog in dialogs]
    busy = list(accumulate(1 + sum(len(i.chunks) for i in dialog.ingests) for dialog in dialogs))
    share = len(dialogs) / 40
    rows: list[UsageRow] = []
    for ago in range(DAYS - 1, -1, -1):
        day = now.date() - timedelta(ago)
        for name, at, rng in _requests(day, ago, share):
            nobody = rng.random() < NO_DIALOG_SHARE
            owner = rng.choices(owners, cum_weights=busy)[0] if "spike" not in name else owners[-1]
            for place, call in enumerate(_calls(rng, ago, loop="spike" in name)):
                made = at + timedelta(seconds=call.after)
                if made > now:
                    break
                rows.append(
                    UsageRow(
                        id=demo_id("usage", name, place),
                        at=made,
                        request_id=str(UUID(int=rng.getrandbits(128), version=4)) if not place else rows[-1].request_id,
                        dialog_key=None if nobody else owner.dialog_key,
                        ru_id=None if nobody else owner.ru_id,
                        tu_id=None if nobody else owner.tu_id,
                        invite_type=DEMO,
                        provider=call.model[0],
                        model=call.model[1],
                        phase=call.phase,
                        prompt_tokens=call.prompt,
                        completion_tokens=call.completion,
                        total_tokens=call.prompt + (call.completion or 0) + call.thought,
                        cached_tokens=call.cached,
                    )
                )
    return rows


def demo_prices(now: datetime) -> list[dict[str, Any]]:
    """Rows as desk_write_demo_prices takes them."""
    return [
        {
            "provider": provider,
            "model": model,
            "valid_from": PRICES_FROM.isoformat(),
            "input_usd": given,
            "output_usd": output,
            "cached_usd": cached,
            "source": PRICE_SOURCE,
            "source_date": now.date().isoformat(),
            "entered_by": "Demo data",
        }
        for (provider, model), (given, output, cached) in PRICES.items()
    ]


def _requests(day: date, ago: int, share: float) -> Iterator[tuple[str, datetime, random.Random]]:
    """Name, moment and dice of each request of a day."""
    rng = random.Random(f"usage {day}")
    growth = 1.1 - 0.45 * ago / DAYS
    number = round(REQUESTS_A_DAY * share * growth * WEEKDAYS[day.weekday()] * rng.uniform(0.85, 1.15))
    upto = list(accumulate(HOURS))
    for place in range(number := max(1, number)):
        # Each from a slice of the day of its own: by chance alone many hours would look like anomalies.
        hour = bisect_right(upto, (place + rng.random()) / number * upto[-1])
        yield f"{day} {place}", _at(day, hour, rng), random.Random(f"usage {day} {place}")
    if ago == SPIKE_DAYS_AGO:
        for place in range(max(2, round(SPIKE_REQUESTS * share))):
            yield f"{day} spike {place}", _at(day, SPIKE_HOUR, rng), random.Random(f"usage {day} spike {place}")


def _at(day: date, hour: int, rng: random.Random) -> datetime:
    return datetime.combine(day, time(hour, rng.randrange(59), rng.randrange(60), rng.randrange(1_000_000)), UTC)


def _calls(rng: random.Random, ago: int, *, loop: bool) -> Iterator[_Call]:
    """The phases of one request in their order; `loop`: one that was repaired again and again."""
    if not loop and rng.random() < ESTIMATED_SHARE:
        yield _Call((ESTIMATED[0], ESTIMATED[1]), ESTIMATED[2], rng.randint(900, 5200), rng.randint(60, 420), 0)
        return
    clock = 0.0
    if rng.random() < PHOTO_SHARE:
        yield _Call(FLASH, "photo", rng.randint(900, 1500), rng.randint(120, 260), clock)
        clock += rng.uniform(1.5, 4)
    yield _Call(EMBEDDING, "embed", rng.randint(12, 90), None, clock)
    clock += rng.uniform(0.2, 0.6)
    prompt = rng.randint(2200, 9000)
    yield _Call(FLASH, "context", prompt, rng.randint(150, 600), clock, cached=_cached(rng, prompt))
    clock += rng.uniform(1, 3)
    writer = GROK_3 if ago > GROK_3_UNTIL else GROK_4
    if ago <= TRIAL_SINCE and rng.random() < TRIAL_SHARE:
        writer = TRIAL
    elif rng.random() < 0.25:
        writer = PRO
    for _ in range(3 if loop else 1):
        yield _draft(rng, writer, "draft-batch", clock)
        clock += rng.uniform(4, 12)
        yield _Call(FLASH, "evaluate", rng.randint(1800, 4200), rng.randint(40, 160), clock)
        clock += rng.uniform(0.8, 2)
        if loop or rng.random() < 0.18:
            yield _draft(rng, writer, "repair", clock)
            clock += rng.uniform(3, 8)


def _draft(rng: random.Random, writer: tuple[str, str], phase: str, after: float) -> _Call:
    """Written by a model that may think: what it thought is in the total alone."""
    prompt, completion = rng.randint(3200, 11_000), rng.randint(250, 900)
    thought = rng.randint(300, 2400) if writer in (PRO, GROK_4) and rng.random() < 0.6 else 0
    return _Call(writer, phase, prompt, completion, after, thought, None if writer is GROK_3 else _cached(rng, prompt))


def _cached(rng: random.Random, prompt: int) -> int | None:
    """Tokens of the prompt that the provider had still at hand; None where it does not say."""
    luck = rng.random()
    return None if luck < 0.3 else 0 if luck < 0.55 else round(prompt * rng.uniform(0.2, 0.8))
