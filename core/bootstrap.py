"""The only place that builds things and joins siblings: Settings -> Core. Importing it connects to nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Self

from core.clock import Clock, SystemClock
from core.companion.companion import Companion, Deps, open_companion
from core.companion.converse.llm.opening import ModelSettings
from core.config import Settings
from core.db.client import Database
from core.embedding.provider import Embedder
from core.events.emitter import Events, open_events
from core.events.spool import spool_folder
from core.health.changes import Changes
from core.health.daily import DailyChecks
from core.health.monitor import Monitor
from core.health.service import HealthService
from core.health.timeline import Timeline
from core.health.webhook import Webhook
from core.jobs.jobs import Jobs
from core.local.migrate import read_migrations
from core.local.server import Endpoint, LocalSupabase
from core.memory.dialogs import DialogReads
from core.memory.status import PairStatus, pair_status
from core.memory.store import ChunkStore
from core.photos.opening import open_photos
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
from core.services.recent import RecentSearches
from core.services.recipe import RecipeService
from core.services.recipe_setting import RecipeSetting
from core.services.reembed import ReembedService
from core.services.replay import ReplayService
from core.services.search import SearchService
from core.services.snapshot_source import SnapshotSource
from core.services.snapshots import SnapshotService
from core.services.upload_files import UploadFiles
from core.tuning.aftercheck import AfterChecks
from core.tuning.loop import Loop
from core.tuning.opening import Tuning, open_tuning
from core.tuning.profiles import Profiles
from core.tuning.rent import RentReads
from core.usage.usage import Usage

MIGRATIONS = Path(__file__).parent.parent / "supabase" / "migrations"


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


def build_core(
    settings: Settings,
    *,
    endpoint: Endpoint | None = None,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
    background: bool = True,
) -> Core:
    """Connect to the hosted project, or start or join the embedded one, and build everything on top of it.

    With `endpoint` nothing is started. With `background` demo data that is due is loaded in a thread of its own, so
    that the first page does not wait for it; a command line leaves that out.
    Errors: ConfigError, DatabaseUnavailable, SchemaMismatch; then nothing is left running.
    """
    with ExitStack() as started:
        clock = clock or SystemClock()
        local = None
        if endpoint is None and settings.embedded:
            local = LocalSupabase.attach(settings.data_dir, migrations=MIGRATIONS)
            started.callback(local.close)
        db = _database(settings, endpoint, local)
        started.callback(db.close)
        folder = spool_folder(settings.data_dir, settings.hosted.url if settings.hosted else None)
        events = open_events(db, folder, clock)
        started.callback(events.close)
        demo = DemoService(db, events, clock, enabled=settings.embedded and settings.demo is not False)
        recipe_setting = RecipeSetting(db)
        active = ActiveEmbedder(settings, demo.loaded, embedder, recipe_setting)
        started.callback(active.close)
        dialogs = DialogReads(db, active.model)
        jobs = Jobs(db, events, settings.data_dir)
        started.callback(jobs.close)
        usage = Usage(db, events, clock)
        started.callback(usage.close)
        ingest = IngestService(ChunkStore(db), active, events, recipe_setting.fresh)
        snapshots = SnapshotService(db, events, clock, embedded=settings.embedded)
        jobs.hourly(snapshots.daily.tend)
        webhook = Webhook(settings.webhook_url) if settings.webhook_url else None
        health = HealthService(
            db,
            clock,
            embedded=settings.embedded,
            migrations=read_migrations(MIGRATIONS),
            model=active.model,
            probe=_probe(active),
            events=events,
            webhook=webhook.verdict if webhook else None,
        )
        changes = Changes(events, db, webhook.tell if webhook else None)
        monitor = Monitor(health, Timeline(db, clock), changes, DailyChecks(db, clock))
        if webhook:
            started.callback(webhook.close)
        started.callback(monitor.stop)
        photos = open_photos(settings, db, events, clock, active, jobs, usage)
        started.callback(photos.close)
        profiles = Profiles(db)
        retrievals = Retrievals(db, events, clock)
        jobs.hourly(retrievals.prune)
        started.callback(retrievals.recorder.close)
        search = SearchService(
            db, active, events, clock, profiles, retrievals.recorder, lambda: active.under(recipe_setting.fresh())
        )
        intake = IntakeService(ingest, UploadFiles(settings.data_dir, clock), jobs, snapshots.capture_ingest)
        reembed = ReembedService(
            db, active, events, jobs, hosted=not settings.embedded, price=_embedding_price(usage, clock)
        )
        recipe = RecipeService(db, active, recipe_setting, events, jobs, reembed, price=_embedding_price(usage, clock))
        cleanup = CleanupJob(snapshots, jobs)
        corrections, merges = CorrectionService(db, events), MergeService(db, events)
        companion = open_companion(
            Deps(
                db=db,
                events=events,
                clock=clock,
                zone=settings.zone,
                model=active.model,
                jobs=jobs,
                dialogs=dialogs,
                search=search,
                intake=intake,
                reembed=reembed,
                merges=merges,
                corrections=corrections,
                cleanup=cleanup,
                snapshots=snapshots,
                usage=usage,
                health=health,
                monitor=monitor,
                retrievals=retrievals,
                models=ModelSettings(
                    ollama_base_url=settings.ollama_base_url,
                    ollama_model=settings.ollama_model,
                    gemini_api_key=settings.gemini_api_key,
                    gemini_base_url=settings.gemini_base_url,
                    gemini_model=settings.chat_model,
                ),
            )
        )
        started.callback(companion.close)
        core = Core(
            settings=settings,
            clock=clock,
            db=db,
            local=local,
            events=events,
            embedder=active,
            dialogs=dialogs,
            search=search,
            ingest=ingest,
            health=health,
            demo=demo,
            snapshots=snapshots,
            jobs=jobs,
            intake=intake,
            reembed=reembed,
            recipe=recipe,
            cleanup=cleanup,
            snapshot_source=SnapshotSource(db, snapshots.reads),
            usage=usage,
            corrections=corrections,
            merges=merges,
            erasures=EraseService(
                db, events, settings.data_dir, UploadFiles(settings.data_dir, clock), usage.recorder.flush
            ),
            monitor=monitor,
            retrievals=retrievals,
            replays=ReplayService(
                db, active, search.active_profile, search.words, retrievals.store, usage.reports, clock
            ),
            photos=photos,
            companion=companion,
            profiles=profiles,
            loop=Loop(db, events, profiles),
            after_checks=AfterChecks(db, events),
            recent=RecentSearches(db, active, search.words, clock),
            tuning=open_tuning(db, active, events, jobs),
            rent=RentReads(db, clock, usage.prices.book, active.model),
            on_close=started.pop_all(),
        )
    if background:
        core.jobs.work()
        core.monitor.start()
        core.companion.start()
        core.on_close.callback(demo.stop)
        threading.Thread(target=demo.load_when_due, name="demo data", daemon=True).start()
    return core


def _database(settings: Settings, endpoint: Endpoint | None, local: LocalSupabase | None) -> Database:
    def revive() -> str:
        assert local is not None
        return local.revive().url

    if endpoint is None and settings.hosted is not None:
        return Database(settings.hosted.url, settings.hosted.key.get_secret_value(), timeout_s=settings.db_timeout_s)
    if endpoint is None:
        assert local is not None
        endpoint = local.endpoint
    return Database(
        endpoint.url,
        endpoint.service_role_key,
        timeout_s=settings.db_timeout_s,
        revive=revive if local is not None else None,
    )


def _embedding_price(usage: Usage, clock: Clock) -> Callable[[str], Decimal | None]:
    """USD per million tokens of an embedding model by its stored name, as entered; None where nobody has."""

    def price(name: str) -> Decimal | None:
        model = name.rsplit(":", 1)[0]
        dated = usage.prices.book().at(model.split("-", 1)[0], model, clock.now())
        return dated[0].input_usd if dated and 0 in dated else None

    return price


def _probe(active: ActiveEmbedder) -> Callable[[], None]:
    def probe() -> None:
        active().embed_query("health")

    return probe
