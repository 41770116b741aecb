"""How much is done at once, and what a body may be."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.api.web import pace as module
from core.api.web import shield
from core.api.web.pace import Pace


def test_no_more_at_once_than_there_are_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who come meanwhile wait for one; beyond the waiting room they are told to come again."""
    monkeypatch.setattr(module, "AT_ONCE", 2)
    monkeypatch.setattr(module, "WAITING", 3)

    async def run() -> tuple[int, list[Any]]:
        pace, inside, most, release = Pace(600), 0, 0, asyncio.Event()

        async def one() -> Any:
            nonlocal inside, most
            async with pace.slot() as refusal:
                if refusal:
                    return refusal
                inside += 1
                most = max(most, inside)
                await release.wait()
                inside -= 1
                return None

        tasks = []
        for _ in range(7):
            tasks.append(asyncio.create_task(one()))
            await asyncio.sleep(0)
        release.set()
        return most, [found for task in tasks if (found := await task)]

    most, refused = asyncio.run(run())
    assert most == 2
    assert [(one.status, one.code) for one in refused] == [(503, "busy")] * 2


def test_who_waits_too_long_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a place that becomes free later is not lost."""
    monkeypatch.setattr(module, "AT_ONCE", 1)
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)

    async def run() -> list[bool]:
        pace = Pace(600)
        async with pace.slot() as first, pace.slot() as second:
            found = [first is None, second is not None]
        async with pace.slot() as third:
            return [*found, third is None]

    assert asyncio.run(run()) == [True, True, True]


def part(size: int, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": b"x" * size, "more_body": more}


def read(parts: list[dict[str, Any]], *, then_silent: bool = False) -> list[str]:
    """What the application is told, message by message."""

    async def run() -> list[str]:
        given = iter(parts)

        async def receive() -> dict[str, Any]:
            found = next(given, None)
            if found is None:
                if then_silent:
                    await asyncio.Event().wait()
                return {"type": "http.disconnect"}
            return found

        body, told = shield._Body(receive), []
        while not told or told[-1] != "http.disconnect":
            told.append((await body())["type"])
        return told

    return asyncio.run(run())


def test_a_body_without_an_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its head announced: after so many bytes its sender counts as gone."""
    monkeypatch.setattr(shield, "BODY_LIMIT", 25)
    assert read([part(10)] * 9) == ["http.request"] * 2 + ["http.disconnect"]


def test_a_body_that_is_not_sent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sender that stops in the middle holds no place for ever."""
    monkeypatch.setattr(shield, "BODY_S", 0.05)
    assert read([part(10)], then_silent=True)[-1] == "http.disconnect"


def test_after_a_whole_body_there_is_no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The application may take its time over the answer, and hears late that the caller has left."""
    monkeypatch.setattr(shield, "BODY_S", 0.02)

    async def run() -> list[str]:
        given = iter([part(10, more=False)])

        async def receive() -> dict[str, Any]:
            found = next(given, None)
            if found is None:
                await asyncio.sleep(0.1)
            return found or {"type": "late"}

        body = shield._Body(receive)
        return [(await body())["type"] for _ in range(2)]

    assert asyncio.run(run()) == ["http.request", "late"]
