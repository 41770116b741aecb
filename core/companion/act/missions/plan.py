"""A plan out of a model's answer, read strictly: one bad step rejects the whole. Source: spec/companion.md, MI-6."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

STEPS_MAX = 5
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL)


class PlanError(Exception):
    """Why an answer is no plan, in words that may go back to the model and to a person: no text of the answer but
    names of tools."""


@dataclass(frozen=True)
class PlannedStep:
    summary: str
    tool: str
    params: Mapping[str, Any]
    rationale: str


@dataclass(frozen=True)
class Plan:
    """`steps` may be empty: nothing has to be done."""

    summary: str
    steps: tuple[PlannedStep, ...] = field(default=())


def read_plan(answer: str, allowed: Collection[str]) -> Plan:
    """The one plan in an answer, in a fence or bare, also among prose. Errors: PlanError."""
    reasons: list[str] = []
    found: list[Plan] = []
    for text in _candidates(answer):
        try:
            value = json.loads(text)
        except ValueError:
            reasons.append("the JSON is not valid")
            continue
        try:
            plan = _plan(value, allowed)
        except PlanError as error:
            reasons.append(str(error))
            continue
        if plan not in found:
            found.append(plan)
    if len(found) == 1:
        return found[0]
    if found:
        raise PlanError("there are several plans")
    # The last candidate that came closest: an empty object before it says less.
    telling = [reason for reason in reasons if reason != "steps are missing"]
    raise PlanError(telling[-1] if telling else reasons[-1] if reasons else "there is no JSON")


def _candidates(answer: str) -> list[str]:
    fenced = [body.strip() for body in _FENCE.findall(answer)]
    if fenced:
        return fenced
    start = answer.find("{")
    if start < 0:
        return [answer.strip()] if answer.strip().startswith("[") else []
    try:
        _, length = json.JSONDecoder().raw_decode(answer[start:])
    except ValueError:
        return [answer[start:]]
    return [answer[start : start + length]]


def _plan(value: Any, allowed: Collection[str]) -> Plan:
    if not isinstance(value, dict):
        raise PlanError("the top level is not an object")
    if "steps" not in value:
        raise PlanError("steps are missing")
    steps = value["steps"]
    if not isinstance(steps, list):
        raise PlanError("steps are not a list")
    if len(steps) > STEPS_MAX:
        raise PlanError(f"there are more than {STEPS_MAX} steps")
    return Plan(_text(value.get("summary")), tuple(_step(n, step, allowed) for n, step in enumerate(steps, start=1)))


def _step(n: int, value: Any, allowed: Collection[str]) -> PlannedStep:
    if not isinstance(value, dict):
        raise PlanError(f"step {n} is not an object")
    tool = value.get("tool_name", value.get("tool"))
    if not isinstance(tool, str) or not tool.strip():
        raise PlanError(f"step {n} names no tool")
    if tool not in allowed:
        named = tool if re.fullmatch(r"\w{1,60}", tool) else "of step"
        raise PlanError(f"the tool {named} is not allowed (step {n})")
    rationale = value.get("rationale")
    if not isinstance(rationale, str) or not rationale.strip():
        raise PlanError(f"step {n} gives no rationale")
    params = value.get("params")
    if isinstance(params, list):
        raise PlanError(f"the params of step {n} are a list")
    return PlannedStep(_text(value.get("summary")), tool, params if isinstance(params, dict) else {}, rationale.strip())


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
