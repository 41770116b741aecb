"""Everything built once, in the order in which one needs the other, and closed in the reverse."""

from __future__ import annotations

import threading
from contextlib import ExitStack

from core.access.desk import AccessDesk
from core.bootstrap.connect import MIGRATIONS, embedding_price, open_database, sealer_of
from core.bootstrap.core import Core
from core.bootstrap.doors import behind_doors
from core.bootstrap.health import open_health
from core.clock import Clock, SystemClock
from core.companion.converse.llm.opening import ModelSettings
from core.companion.demo.load import CompanionDemo
from core.companion.deps import Deps
from core.companion.opening import open_companion
from core.config import Settings
from core.embedding.provider import Embedder
from core.events.emitter import open_events
from core.events.spool import spool_folder
from core.jobs.jobs import Jobs
from core.local.server import Endpoint, LocalSupabase
from core.memory.dialogs import DialogReads
from core.memory.store import ChunkStore
from core.photos.opening import open_photos
from core.retrievals.retrievals import Retrievals
from core.services.cleanup_job import CleanupJob
from core.services.corrections import CorrectionService
from core.services.demo import DemoService
from core.services.embedder import ActiveEmbedder
from core.services.erase import EraseService
from core.services.ingest import IngestService
from core.services.intake import IntakeService
from core.services.known import STALE_AFTER, KnownPeople
from core.services.merge import MergeService
from core.services.preferences import Preferences
from core.services.recent import RecentSearches
from core.services.recipe import RecipeService
from core.services.recipe_setting import RecipeSetting
from core.services.reembed import ReembedService
from core.services.replay import ReplayService
from core.services.search import SearchService
from core.services.snapshot_source import SnapshotSource
from core.services.snapshots import SnapshotService
from core.services.upload_files import UploadFiles
from core.services.veil import Veil
from core.services.views import Views
from core.tuning.aftercheck import AfterChecks
from core.tuning.loop import Loop
from core.tuning.opening import open_tuning
from core.tuning.profiles import Profiles
from core.tuning.rent import RentReads
from core.usage.usage import Usage


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
        db = open_database(settings, endpoint, local)
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
        health, monitor = open_health(settings, db, clock, events, active, started)
        photos = open_photos(settings, db, events, clock, active, jobs, usage)
        started.callback(photos.close)
        profiles = Profiles(db)
        retrievals = Retrievals(db, events, clock)
        jobs.hourly(retrievals.prune)
        started.callback(retrievals.recorder.close)
        search = SearchService(
            db, active, events, clock, profiles, retrievals.recorder, lambda: active.under(recipe_setting.fresh())
        )
        people = KnownPeople(db)
        for type in STALE_AFTER:
            events.on(type, lambda _: people.forget())
        files = UploadFiles(settings.data_dir, clock, sealer_of(settings))
        intake = IntakeService(ingest, files, jobs, snapshots.capture_ingest)
        reembed = ReembedService(
            db, active, events, jobs, hosted=not settings.embedded, price=embedding_price(usage, clock)
        )
        recipe = RecipeService(db, active, recipe_setting, events, jobs, reembed, price=embedding_price(usage, clock))
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
                models=models_of(settings),
            )
        )
        started.callback(companion.close)
        invented = CompanionDemo(companion)
        demo.also(invented.write, invented.removed)
        core = Core(
            settings=settings,
            clock=clock,
            db=db,
            local=local,
            events=events,
            access_desk=AccessDesk(db, events, clock, settings),
            veil=Veil(people, events, clock),
            views=Views(db, people, events, clock),
            preferences=Preferences(db, events, clock, settings.zone),
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
                db,
                events,
                settings.data_dir,
                files,
                usage.recorder.flush,
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
        core.on_close.callback(demo.stop)
        threading.Thread(target=_begin, args=(core,), name="demo data", daemon=True).start()
    return behind_doors(core)


def _begin(core: Core) -> None:
    """The companion looks at a day that is there: half of the demo data would be told of as if it were all."""
    core.demo.load_when_due()
    core.companion.start()


def models_of(settings: Settings) -> ModelSettings:
    """Where the companion's language models are."""
    return ModelSettings(
        ollama_base_url=settings.ollama_base_url,
        ollama_model=settings.ollama_model,
        gemini_api_key=settings.gemini_api_key,
        gemini_base_url=settings.gemini_base_url,
        gemini_model=settings.chat_model,
    )
