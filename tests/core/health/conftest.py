"""A core with a dialog in it, without its background threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from core.bootstrap import Core
    from core.local.server import Endpoint


@pytest.fixture
def stored_core(env: Mapping[str, str], endpoint: Endpoint) -> Iterator[Core]:
    from core.bootstrap import build_core
    from core.config import read_settings
    from core.embedding.test import TestEmbedder
    from tests.support.dialogs import body

    with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder(), background=False) as built:
        built.ingest.ingest(body())
        yield built
