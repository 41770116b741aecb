"""Flip points over many prompts, in words and rows. Pure."""

from __future__ import annotations

from typing import Any

from core.memory.retrieval import Unit
from core.tuning.consequences import Distances, Effect

STEPS: dict[Unit, float] = {"raw": 0.03, "sd": 0.5}


def sentence(one: Distances, unit: Unit) -> str:
    """Such as: +0.03 on note changes 41 of 200 prompts; first at +0.012."""
    step, suffix = STEPS[unit], " SD" if unit == "sd" else ""
    changed = one.changed(step)
    first = "no step up changes any" if one.first_up is None else f"first at {one.first_up:+.3f}{suffix}"
    return f"{step:+g}{suffix} on {one.source} changes {changed} of {one.cases} prompts; {first}"


def flips(one: Distances, unit: Unit) -> dict[str, Any]:
    """A line of the table."""
    return {
        "source": one.source,
        "first_up": one.first_up,
        "first_down": None if one.first_down is None else -one.first_down,
        "small": sentence(one, unit),
        "ever": max(len(one.up), len(one.down)),
    }


def places(result: Effect) -> list[dict[str, Any]]:
    """Mean places by source, before and after."""
    return [
        {"source": s, "before": result.slots_before.get(s, 0.0), "after": result.slots_after.get(s, 0.0)}
        for s in sorted({*result.slots_before, *result.slots_after})
    ]
