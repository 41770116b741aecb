"""A retrieval profile: everything that decides which chunks of a dialog reach a prompt, and in which order. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, Self, get_args

from core.errors import InputError
from core.memory.sources import DEFAULT_WEIGHTS, LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, SOURCES, WEIGHTS_VERSION

Unit = Literal["raw", "sd"]
UNITS: tuple[Unit, ...] = get_args(Unit)
BOOST_MOST = 100.0
FUSION_MOST = 5.0
BUDGET_LEAST, BUDGET_MOST = 100, 100_000  # characters


@dataclass(frozen=True)
class Profile:
    """Boost by source in `unit` (an absent source gets 0), and the rules of what is taken.

    `unit` is raw (added to the cosine) or sd (standard deviations of the query's cosines). `fusion` is the weight of
    the z-scored BM25. `quotas` is the most slots a source may take; 0 keeps it out. `budget_chars` limits the
    characters of the taken texts together. `version` is None for one that is not stored.
    """

    name: str = "ad hoc"
    version: int | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    unit: Unit = "raw"
    fusion: float = 0.0
    limit: int = LIMIT_DEFAULT
    budget_chars: int | None = None
    quotas: Mapping[str, int] = field(default_factory=dict)

    @property
    def needs_texts(self) -> bool:
        """BM25 reads every text of the dialog."""
        return self.fusion > 0

    @property
    def plain(self) -> bool:
        """What the database's own ranking gives: raw boosts and a limit, nothing else."""
        return self.unit == "raw" and not self.fusion and self.budget_chars is None and not self.quotas

    def with_weights(self, weights: Mapping[str, float]) -> Self:
        """Raw boosts of a caller in place of everything that ranks or chooses: the plain search of before."""
        return replace(self, version=None, weights=dict(weights), unit="raw", fusion=0.0, budget_chars=None, quotas={})

    def as_json(self) -> dict[str, Any]:
        """The body of the profile, without name and version; sources in one order, so that equal means equal."""
        return {
            "weights": {s: float(self.weights[s]) for s in SOURCES if self.weights.get(s)},
            "unit": self.unit,
            "fusion": float(self.fusion),
            "limit": self.limit,
            "budget_chars": self.budget_chars,
            "quotas": {s: int(self.quotas[s]) for s in SOURCES if s in self.quotas},
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any], *, name: str = "ad hoc", version: int | None = None) -> Self:
        """The opposite of `as_json`. Errors: InputError naming the field that does not fit."""
        found = cls(
            name=name,
            version=version,
            weights=body.get("weights") or {},
            unit=body.get("unit", "raw"),
            fusion=body.get("fusion", 0.0),
            limit=body.get("limit", LIMIT_DEFAULT),
            budget_chars=body.get("budget_chars"),
            quotas=body.get("quotas") or {},
        ).checked()
        # JSON has one kind of number: 0 is 0.0 here.
        return replace(found, weights={s: float(b) for s, b in found.weights.items()}, fusion=float(found.fusion))

    def checked(self) -> Self:
        """Itself where every value is possible. Errors: InputError naming the field."""
        _known(self.weights, "weights")
        _known(self.quotas, "quotas")
        for source, boost in self.weights.items():
            if not _within(boost, -BOOST_MOST, BOOST_MOST):
                raise InputError(f"The boost of {source} is not a number up to {BOOST_MOST:g}.", field="weights")
        if self.unit not in UNITS:
            raise InputError("The unit is neither raw nor sd.", field="unit")
        if not _within(self.fusion, 0.0, FUSION_MOST):
            raise InputError(f"The lexical weight is not between 0 and {FUSION_MOST:g}.", field="fusion")
        if not _whole(self.limit, LIMIT_MIN, LIMIT_MAX):
            raise InputError(f"The limit is not {LIMIT_MIN} to {LIMIT_MAX}.", field="limit")
        if self.budget_chars is not None and not _whole(self.budget_chars, BUDGET_LEAST, BUDGET_MOST):
            raise InputError(f"The budget is not {BUDGET_LEAST} to {BUDGET_MOST:,} characters.", field="budget_chars")
        for source, slots in self.quotas.items():
            if not _whole(slots, 0, LIMIT_MAX):
                raise InputError(f"The quota of {source} is not 0 to {LIMIT_MAX}.", field="quotas")
        return self


SEED = Profile("seed", WEIGHTS_VERSION, MappingProxyType(dict(DEFAULT_WEIGHTS)))


def _known(values: Mapping[str, Any], name: str) -> None:
    if not isinstance(values, Mapping) or any(source not in SOURCES for source in values):
        raise InputError("A source is unknown.", hint=f"Known: {', '.join(SOURCES)}.", field=name)


def _within(value: Any, least: float, most: float) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and least <= value <= most


def _whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
