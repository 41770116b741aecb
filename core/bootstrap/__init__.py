"""The only place that builds things and joins siblings: Settings -> Core. Importing it connects to nothing."""

from core.bootstrap.build import build_core
from core.bootstrap.connect import MIGRATIONS
from core.bootstrap.core import Core

__all__ = ["MIGRATIONS", "Core", "build_core"]
