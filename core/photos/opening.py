"""Photos as the settings allow them."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from core.clock import Clock
from core.config import Settings
from core.db.client import Database
from core.embedding.provider import Embedder
from core.events.emitter import Events
from core.jobs.jobs import Jobs
from core.photos.service import PhotoService
from core.photos.vision import GeminiVision, Look
from core.usage.usage import Usage


def open_photos(
    settings: Settings,
    db: Database,
    events: Events,
    clock: Clock,
    embedder: Callable[[], Embedder],
    jobs: Jobs,
    usage: Usage,
) -> PhotoService:
    """With the consent and the key; else it is there and says which of them is missing. Its tokens are logged under
    the phase photo."""

    def tokens(dialog_key: str, look: Look) -> None:
        counted = {"promptTokens": look.prompt_tokens, "completionTokens": look.completion_tokens}
        entry = {"provider": "gemini", "model": look.model, "phase": "photo", **counted}
        usage.record({"requestId": str(uuid.uuid4()), "entries": [entry]}, dialog_key=dialog_key)

    consent, key = settings.photo_analysis, settings.gemini_api_key
    missing = [] if consent else ["MEMORY_DESK_PHOTO_ANALYSIS=on"]
    missing += [] if key else ["BESCO_GEMINI_API_KEY"]
    vision = None
    if consent and key:
        vision = GeminiVision(
            key, settings.vision_model, base_url=settings.gemini_base_url, timeout_s=settings.embed_timeout_s
        )
    return PhotoService(db, events, clock, embedder, jobs, vision=vision, missing=tuple(missing), tokens=tokens)
