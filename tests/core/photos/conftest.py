"""A core without background threads, a web of pictures, and a desk that may look at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from core.photos.service import PhotoService
from core.photos.vision import GeminiVision
from tests.core.photos.fake_vision import FakeVision
from tests.core.photos.web import Web

if TYPE_CHECKING:
    from core.bootstrap import Core
    from core.local.server import Endpoint


@pytest.fixture
def core(env: Mapping[str, str], endpoint: Endpoint) -> Iterator[Core]:
    """Without background threads: jobs are done where the test says so."""
    from core.bootstrap import build_core
    from core.config import read_settings
    from core.embedding.test import TestEmbedder

    with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder(), background=False) as built:
        yield built


@pytest.fixture
def web() -> Iterator[Web]:
    made = Web()
    yield made
    made.close()


@pytest.fixture
def desk(core: Core, web: Web) -> Iterator[Callable[..., tuple[PhotoService, FakeVision]]]:
    """Photos of this core, with that web and a Gemini with this script."""
    made: list[Any] = []

    def open_desk(*script: str | int, **options: Any) -> tuple[PhotoService, FakeVision]:
        fake = FakeVision(*script)
        vision = GeminiVision(SecretStr("k"), "gemini-2.5-flash", base_url=fake.url, pause_s=0.01, timeout_s=8)
        made.extend((fake, vision))
        core.jobs._kinds.pop("photos", None)  # the core has one that may not look
        given = {"vision": vision, "fetcher": web.fetcher(), **options}
        return PhotoService(core.db, core.events, core.clock, core.embedder, core.jobs, **given), fake

    yield open_desk
    for each in made:
        each.close()
