"""The HTTP API: the existing service's routes under /stack-ai/tips, given a Core. Answers JSON, camelCase."""

from core.api.mounted import mounted
from core.api.routes import PREFIX, build_routes

__all__ = ["PREFIX", "build_routes", "mounted"]
