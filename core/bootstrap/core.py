"""What a process holds: one frozen object with every part that pages, routes and commands ask."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from core.access.desk import AccessDesk
from core.clock import Clock
from core.companion.companion import Companion
from core.config import Settings
from core.db.client import Database
from core.events.emitter import Events
from core.health.monitor import Monitor
from core.health.service import HealthService
from core.jobs.jobs import Jobs
from core.local.server import LocalSupabase
from core.memory.dialogs import DialogReads
from core.memory.status import PairStatus, pair_status
from core.photos.service import PhotoService
from core.retrievals.retrievals import Retrievals
from core.services.cleanup_job import CleanupJob
from core.services.corrections import CorrectionService
from core.services.demo import DemoService
from core.services.embedder import ActiveEmbedder
from core.services.erase import EraseService
from core.services.ingest import IngestService
from core.services.intake import IntakeService
from core.services.merge import MergeService
from core.services.preferences import Preferences
from core.services.recent import RecentSearches
from core.services.recipe import RecipeService
from core.services.reembed import ReembedService
from core.services.replay import ReplayService
from core.services.search import SearchService
from core.services.snapshot_source import SnapshotSource
from core.services.snapshots import SnapshotService
from core.services.veil import Veil
from core.services.views import Views
from core.tuning.aftercheck import AfterChecks
from core.tuning.loop import Loop
from core.tuning.opening import Tuning
from core.tuning.profiles import Profiles
from core.tuning.rent import RentReads
from core.usage.usage import Usage


@dataclass(frozen=True)
class Core:
    """Everything a page, a route or a command needs; one per process, thread-safe, closed once.

    `local` is the embedded Supabase where this process started or joined one, else None. Reads go through `dialogs`,
    `health` and `events.store`; what changes or searches goes through `ingest`, `search` and `demo`.
    """

    settings: Settings
    clock: Clock
    db: Database
    local: LocalSupabase | None
    events: Events
    access_desk: AccessDesk
    veil: Veil
    views: Views
    preferences: Preferences
    embedder: ActiveEmbedder
    dialogs: DialogReads
    search: SearchService
    ingest: IngestService
    health: HealthService
    demo: DemoService
    snapshots: SnapshotService
    jobs: Jobs
    intake: IntakeService
    reembed: ReembedService
    recipe: RecipeService
    cleanup: CleanupJob
    snapshot_source: SnapshotSource
    usage: Usage
    corrections: CorrectionService
    merges: MergeService
    erasures: EraseService
    monitor: Monitor
    photos: PhotoService
    companion: Companion
    retrievals: Retrievals
    replays: ReplayService
    profiles: Profiles
    loop: Loop
    after_checks: AfterChecks
    recent: RecentSearches
    tuning: Tuning
    rent: RentReads
    on_close: ExitStack

    def model(self) -> str | None:
        """The embedding model whose rows are searchable; None while no embedder can be had."""
        return self.embedder.model()

    def status(self, ru_id: object, tu_id: object) -> PairStatus:
        """How fresh the memory of one pair is. Errors: MissingIdentity, DatabaseError."""
        return pair_status(self.dialogs, ru_id, tu_id)

    def close(self) -> None:
        """Drain the events, end the embedder, close connections, leave the embedded server. Idempotent."""
        self.on_close.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
