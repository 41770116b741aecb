"""The search for better boosts: what it finds, on which dialogs, and what it says of those kept out."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.memory.retrieval import SEED, Profile
from core.tuning import fit
from core.tuning.evaluation import measured
from tests.core.tuning.test_evaluation import pool_where_notes_hurt
from tests.support.labelled import judged, random_pool


def test_no_dialog_is_in_both_halves() -> None:
    """The split is by dialog, the same every time, and about even."""
    pool = random_pool(40, 30, dialogs=8)
    train, held = fit.split(pool)
    keys = [{one.query.dialog_key for one in half} for half in (train, held)]
    assert not keys[0] & keys[1] and len(train) + len(held) == sum(one.relevant for one in pool)
    assert 10 <= len(train) <= 30
    assert [one.query.id for one in fit.split(pool)[0]] == [one.query.id for one in train]


def test_one_dialog_keeps_nothing_out() -> None:
    """Then there is no held-out figure, and it says so instead of testing on what it learnt from."""
    pool = pool_where_notes_hurt(dialogs=1)
    found = fit.search(pool, SEED, ["note"], "recall", 12)
    assert found.held_out is None and found.overfit is None and found.held_out_queries == 0


def test_two_dialogs_give_one_to_each() -> None:
    """A large dialog does not leave the other half empty."""
    pool = [judged([3], query=f"q{n}", dialog="big" if n < 9 else "small") for n in range(10)]
    train, held = fit.split(pool)
    assert train and held


def test_coordinate_search_finds_the_hurtful_boost() -> None:
    """Starting at the seed it takes the note boost down, and the gain holds on the dialogs kept out."""
    found = fit.search(pool_where_notes_hurt(), SEED, ["note", "profile"], "recall", 12)
    assert found.profile.weights.get("note", 0.0) < 0.09 and found.profile.version is None
    assert found.train is not None and found.train.mean == 1.0
    assert found.held_out is not None and found.held_out.mean == 1.0 and found.overfit == 0.0
    assert found.profile.weights["profile"] == 0.08, "what makes no difference stays where it was"


def test_grid_is_the_best_of_every_combination() -> None:
    """The same best as measuring each point alone; too many points are refused."""
    pool = random_pool(20, 40)
    axes = {"note": (-0.1, 0.0, 0.1), "fusion": (0.0, 0.35)}
    found = fit.grid(pool, Profile(), axes, "ndcg", 12)
    train, _ = fit.split(pool)
    points = [fit.moved(Profile(), {"note": n, "fusion": f}) for n in axes["note"] for f in axes["fusion"]]
    best = max(measured(train, p, 12).mean("ndcg") or 0 for p in points)
    assert measured(train, found.profile, 12).mean("ndcg") == pytest.approx(best)
    with pytest.raises(InputError):
        fit.grid(pool, Profile(), {"note": range(6_000)}, "ndcg", 12)  # type: ignore[dict-item]


def test_the_map_marks_what_cannot_be_told_from_the_best() -> None:
    """Below the harmful boost everything is equal, above it nothing is."""
    found = fit.heat(pool_where_notes_hurt(), SEED, "note", "photo", "recall", 12)
    row, column = found.best
    assert found.values[row, column] == 1.0 and found.flat[row, column]
    assert not found.flat[:, np.array(found.xs) > 0.1].any()
    assert found.flat[:, np.array(found.xs) < 0.05].all()
    with pytest.raises(InputError):
        fit.heat(random_pool(2, 5), SEED, "note", "note", "recall", 12)


def test_the_map_holds_the_profile_itself() -> None:
    """Its own boosts are among the steps, so that it has a cell, with the figure an evaluation gives."""
    pool = random_pool(15, 40)
    odd = Profile(weights={"note": 0.1234, "photo": -0.077})
    found = fit.heat(pool, odd, "note", "photo", "recall", 12)
    cell = found.values[found.ys.index(-0.077), found.xs.index(0.1234)]
    assert cell == pytest.approx(measured(pool, odd, 12).mean("recall"))


def test_nothing_relevant_is_an_error_in_words() -> None:
    """Not a division by zero."""
    with pytest.raises(InputError, match="relevant"):
        fit.search([judged([0, 0])], SEED, ["note"], "recall", 12)
    assert not fit.heat([judged([0, 0])], SEED, "note", "photo", "recall", 12).values.any()
