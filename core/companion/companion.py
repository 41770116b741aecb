"""The companion of this process: its parts, and how they are joined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.contract import Module
from core.db.client import Database
from core.events.emitter import Events
from core.health.monitor import Monitor
from core.health.service import HealthService
from core.jobs.jobs import Jobs
from core.memory.dialogs import DialogReads
from core.services.cleanup_job import CleanupJob
from core.services.corrections import CorrectionService
from core.services.intake import IntakeService
from core.services.merge import MergeService
from core.services.reembed import ReembedService
from core.services.search import SearchService
from core.services.snapshots import SnapshotService
from core.usage.usage import Usage


@dataclass(frozen=True)
class Deps:
    """What modules and wings are built from. Time and zone are given, so that a test can hold them still."""

    db: Database
    events: Events
    clock: Clock
    zone: ZoneInfo
    model: Callable[[], str | None]
    jobs: Jobs
    dialogs: DialogReads
    search: SearchService
    intake: IntakeService
    reembed: ReembedService
    merges: MergeService
    corrections: CorrectionService
    cleanup: CleanupJob
    snapshots: SnapshotService
    usage: Usage
    health: HealthService
    monitor: Monitor


@dataclass(frozen=True)
class Companion:
    """One per process, thread-safe. Everything that a page, a route or a command asks of the companion."""

    deps: Deps
    modules: tuple[Module, ...]


def open_companion(deps: Deps) -> Companion:
    """Build the modules and the wings over them. Connects to nothing; threads start with `start`."""
    return Companion(deps=deps, modules=())
