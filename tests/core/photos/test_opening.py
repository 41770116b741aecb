"""Photos as the settings allow them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from core.photos.vision import VisionMissing
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core
    from core.local.server import Endpoint


def test_off_without_consent(core: Core) -> None:
    """The action is there and says what is missing; nothing leaves the machine."""
    core.ingest.ingest(body())
    (photo,) = core.photos.waiting().rows
    for act in (lambda: core.photos.describe(photo), core.photos.start):
        with pytest.raises(VisionMissing) as caught:
            act()
        assert "MEMORY_DESK_PHOTO_ANALYSIS=on" in str(caught.value) and "BESCO_GEMINI_API_KEY" in str(caught.value)


def test_a_key_alone_is_no_consent(env: Mapping[str, str], endpoint: Endpoint) -> None:
    """Nor is the switch alone a key."""
    from core.bootstrap import build_core
    from core.config import read_settings

    for extra, missing in (
        ({"BESCO_GEMINI_API_KEY": "k"}, ("MEMORY_DESK_PHOTO_ANALYSIS=on",)),
        ({"MEMORY_DESK_PHOTO_ANALYSIS": "on"}, ("BESCO_GEMINI_API_KEY",)),
        ({"MEMORY_DESK_PHOTO_ANALYSIS": "on", "BESCO_GEMINI_API_KEY": "k"}, ()),
    ):
        with build_core(read_settings({**env, **extra}), endpoint=endpoint, background=False) as built:
            assert built.photos.missing == missing
