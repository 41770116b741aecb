"""The router with whatever backends are configured."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from core.clock import Clock
from core.companion.converse.llm.choices import ModelChoices
from core.companion.converse.llm.cloud import Cloud
from core.companion.converse.llm.contract import Backend, Tier
from core.companion.converse.llm.own_server import OwnServer
from core.companion.converse.llm.router import Router
from core.companion.converse.llm.runs import AiRuns
from core.companion.settings import CompanionSettings
from core.db.client import Database
from core.events.emitter import Events


@dataclass(frozen=True)
class ModelSettings:
    """Where models are; None means that there is no such tier."""

    ollama_base_url: str | None = None
    ollama_model: str = "llama3.1"
    gemini_api_key: SecretStr | None = None
    gemini_base_url: str | None = None
    gemini_model: str = "gemini-2.5-flash"


def open_router(
    models: ModelSettings, db: Database, events: Events, clock: Clock, zone: ZoneInfo, settings: CompanionSettings
) -> Router:
    """Connects to nothing."""
    backends: dict[Tier, Backend] = {}
    if models.ollama_base_url:
        backends["server"] = OwnServer(models.ollama_base_url, models.ollama_model)
    if models.gemini_api_key:
        backends["cloud"] = Cloud(models.gemini_api_key, models.gemini_model, base_url=models.gemini_base_url)

    def known(words: list[str]) -> bool:
        return bool(db.rpc("companion_names_people", {"p_words": words}, read=True, returns=dict)["known"])

    return Router(backends, ModelChoices(settings, events, clock), AiRuns(db), known, clock, zone)
