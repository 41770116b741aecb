"""Health as the settings have it: with a webhook where one is set."""

from __future__ import annotations

from contextlib import ExitStack

from core.bootstrap.connect import MIGRATIONS, probe_of
from core.clock import Clock
from core.config import Settings
from core.db.client import Database
from core.events.emitter import Events
from core.health.changes import Changes
from core.health.daily import DailyChecks
from core.health.monitor import Monitor
from core.health.service import HealthService
from core.health.timeline import Timeline
from core.health.webhook import Webhook
from core.local.migrate import read_migrations
from core.services.embedder import ActiveEmbedder


def open_health(
    settings: Settings, db: Database, clock: Clock, events: Events, active: ActiveEmbedder, started: ExitStack
) -> tuple[HealthService, Monitor]:
    """The checks and the look that is made also while nobody looks."""
    webhook = Webhook(settings.webhook_url) if settings.webhook_url else None
    health = HealthService(
        db,
        clock,
        embedded=settings.embedded,
        migrations=read_migrations(MIGRATIONS),
        model=active.model,
        probe=probe_of(active),
        events=events,
        webhook=webhook.verdict if webhook else None,
    )
    changes = Changes(events, db, webhook.tell if webhook else None)
    monitor = Monitor(health, Timeline(db, clock), changes, DailyChecks(db, clock))
    if webhook:
        started.callback(webhook.close)
    started.callback(monitor.stop)
    return health, monitor
