"""Property tests here have no deadline for one example: on a busy machine it fails tests that are right."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
