"""An endpoint over the worker's database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.bootstrap import Core
from tests.support.assistant import served


@pytest.fixture
def url(core: Core) -> Iterator[str]:
    with served(lambda: core) as found:
        yield found
