"""The companion of a process: its parts joined, started once, closed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime

from core.bootstrap import Core, build_core
from core.companion.reflect.days import local_today
from core.config import read_settings
from core.embedding.test import TestEmbedder
from core.local.server import Endpoint


def ticking() -> int:
    return sum(thread.name == "companion tick" for thread in threading.enumerate())


def test_started_once_and_closed(env: Mapping[str, str], endpoint: Endpoint) -> None:
    """One thread however often it is started; after the close it and its ears are gone, and closing again is fine."""
    before = ticking()
    with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder()) as core:
        core.companion.start()
        assert ticking() == before + 1
        heard = core.events.handlers
        core.companion.close()
        core.companion.close()
        assert ticking() == before and core.events.handlers < heard


def test_a_command_line_starts_no_thread(env: Mapping[str, str], endpoint: Endpoint) -> None:
    """It can still ask everything."""
    before = ticking()
    with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder(), background=False) as core:
        assert ticking() == before
        assert core.companion.projections.day(local_today(core.clock, core.settings.zone)).errors == {}


def test_all_steps_of_a_day(core: Core) -> None:
    """On an empty database every daily step comes to its end, and is not done again that day."""
    daily = core.companion.daily
    done = daily.run_due()
    assert {"prune", "streaks", "correlations", "scan"} <= set(done)
    assert {run.status for run in daily.runs()} == {"done"}
    assert daily.run_due() == []
    assert daily.next_run() > datetime.now(UTC)


def test_every_section_and_streak_can_be_had(core: Core) -> None:
    """On an empty database: a section per module and no error; no streak was ever active."""
    companion = core.companion
    day = companion.projections.day(local_today(core.clock, core.settings.zone))
    assert day.errors == {} and set(day.sections) == {module.name for module in companion.modules}
    assert {(streak.current, streak.status) for streak in companion.streaks.all()} <= {(0, "broken")}
    assert companion.correlations.all() == ()


def test_what_is_declared_is_in_the_catalogue(core: Core) -> None:
    """Streaks, metrics and sections name events that exist, with fields that they have."""
    from core.events.catalogue import EVENTS

    for module in core.companion.modules:
        measures = [s.measure for s in module.streaks] + [m.measure for m in module.metrics if m.measure]
        for measure in measures:
            for name in (*measure.events, *measure.minus, *measure.unless):
                assert name in EVENTS, f"{module.name}: {name}"
            named = {measure.value_field, measure.day_field, *measure.where} - {None}
            fields = set().union(*(EVENTS[name].fields for name in measure.events))
            assert named <= fields, f"{module.name}: {named - fields}"
        assert set(module.section.stale_after) <= set(EVENTS), module.name
