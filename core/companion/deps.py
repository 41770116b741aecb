"""What the companion is built from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.converse.llm.opening import ModelSettings
from core.db.client import Database
from core.events.emitter import Events
from core.health.monitor import Monitor
from core.health.service import HealthService
from core.jobs.jobs import Jobs
from core.memory.dialogs import DialogReads
from core.retrievals.retrievals import Retrievals
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
    retrievals: Retrievals
    models: ModelSettings = field(default_factory=ModelSettings)
