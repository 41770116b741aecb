"""The embedder in force: chosen when first needed, chosen anew when the demo data comes or goes, under the name that
the active recipe gives it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from core.config import Settings
from core.embedding.choose import choose
from core.embedding.provider import Embedder
from core.embedding.recipe import PLAIN, Recipe, with_recipe
from core.errors import ConfigError, ProviderError


class ActiveEmbedder:
    """Call it for the embedder; thread-safe. A replaced one stays open until `close`, as a search may still use it."""

    def __init__(
        self,
        settings: Settings,
        demo_loaded: Callable[[], bool],
        fixed: Embedder | None = None,
        recipe: Callable[[], Recipe] = lambda: PLAIN,
    ) -> None:
        self._settings = settings
        self._demo_loaded = demo_loaded
        self._fixed = fixed
        self._recipe = recipe
        self._lock = threading.Lock()
        self._current: tuple[bool, Embedder] | None = None
        self._retired: list[Embedder] = []

    def __call__(self) -> Embedder:
        """The embedder. Errors: ProviderMissing where there is none to choose, with a hint that names the variable."""
        return self.under(self._recipe())

    def under(self, recipe: Recipe) -> Embedder:
        """The embedder of this recipe, whichever is active. Errors: as a call."""
        return with_recipe(self.base(), recipe)

    def base(self) -> Embedder:
        """The model itself, whatever the recipe. Errors: as a call."""
        if self._fixed is not None:
            return self._fixed
        demo = self._demo_loaded()
        with self._lock:
            if self._current is None or self._current[0] != demo:
                self._current = (demo, self._choose(demo))
            return self._current[1]

    def model(self) -> str | None:
        """The model whose rows are searchable, None while there is no embedder."""
        try:
            return self().name
        except (ProviderError, ConfigError):
            return None

    def close(self) -> None:
        with self._lock:
            for embedder in [*self._retired, *([self._current[1]] if self._current else [])]:
                embedder.close()
            self._retired.clear()
            self._current = None

    def _choose(self, demo: bool) -> Embedder:
        chosen = choose(self._settings, demo_loaded=demo)
        if self._current is None:
            return chosen
        former = self._current[1]
        if former.name == chosen.name:
            chosen.close()
            return former
        self._retired.append(former)
        return chosen
