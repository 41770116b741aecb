"""What an evaluation is asked to do, and the same as parameters of a job. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import InputError
from core.memory.retrieval import Profile
from core.memory.sources import LIMIT_MAX
from core.tuning.metrics import METRICS

PROFILES_MOST = 8


@dataclass(frozen=True)
class Plan:
    """What is asked: profiles against a baseline, the figure that decides, the places looked at, whose labels count."""

    query_set: str
    baseline: Profile
    profiles: tuple[Profile, ...]
    metric: str = "recall"
    k: int = 12
    llm: bool = False

    def checked(self) -> Plan:
        """Errors: InputError naming the field."""
        if self.metric not in METRICS:
            raise InputError(f"The metric is none of {', '.join(METRICS)}.", field="metric")
        if not 1 <= self.k <= LIMIT_MAX:
            raise InputError(f"k is not 1 to {LIMIT_MAX}.", field="k")
        if not 0 < len(self.profiles) <= PROFILES_MOST:
            raise InputError(f"Choose 1 to {PROFILES_MOST} profiles.", field="profiles")
        return self


def params_of(plan: Plan) -> dict[str, Any]:
    return {
        "query_set": plan.query_set,
        "metric": plan.metric,
        "k": plan.k,
        "llm": plan.llm,
        "profiles": [
            {"name": p.name, "version": p.version, "body": p.as_json()} for p in (plan.baseline, *plan.profiles)
        ],
    }


def plan_of(params: Mapping[str, Any]) -> Plan:
    baseline, *profiles = (
        Profile.from_json(row["body"], name=row["name"], version=row["version"]) for row in params["profiles"]
    )
    return Plan(params["query_set"], baseline, tuple(profiles), params["metric"], int(params["k"]), bool(params["llm"]))
