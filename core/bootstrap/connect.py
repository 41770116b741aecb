"""The way to the database, and what is asked of it by the parts that are built first."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from core.clock import Clock
from core.config import Settings
from core.db.client import Database
from core.db.sealing import Sealer, read_keys
from core.local.server import Endpoint, LocalSupabase
from core.services.embedder import ActiveEmbedder
from core.usage.usage import Usage

MIGRATIONS = Path(__file__).parents[2] / "supabase" / "migrations"


def open_database(settings: Settings, endpoint: Endpoint | None, local: LocalSupabase | None) -> Database:
    """A client of the hosted project, of `endpoint`, or of the embedded server, which it may revive."""

    def revive() -> str:
        assert local is not None
        return local.revive().url

    if endpoint is None and settings.hosted is not None:
        return Database(
            settings.hosted.url,
            settings.hosted.key.get_secret_value(),
            timeout_s=settings.db_timeout_s,
            sealer=sealer_of(settings),
        )
    if endpoint is None:
        assert local is not None
        endpoint = local.endpoint
    return Database(
        endpoint.url,
        endpoint.service_role_key,
        timeout_s=settings.db_timeout_s,
        revive=revive if local is not None else None,
        sealer=sealer_of(settings),
    )


def sealer_of(settings: Settings) -> Sealer:
    """What seals the companion's free text and uploads. Errors: ConfigError."""
    return Sealer(read_keys(settings.data_key.get_secret_value()) if settings.data_key else ())


def embedding_price(usage: Usage, clock: Clock) -> Callable[[str], Decimal | None]:
    """USD per million tokens of an embedding model by its stored name, as entered; None where nobody has."""

    def price(name: str) -> Decimal | None:
        model = name.rsplit(":", 1)[0]
        dated = usage.prices.book().at(model.split("-", 1)[0], model, clock.now())
        return dated[0].input_usd if dated and 0 in dated else None

    return price


def probe_of(active: ActiveEmbedder) -> Callable[[], None]:
    """One word embedded, for a check of health that may cost money."""

    def probe() -> None:
        active().embed_query("health")

    return probe
