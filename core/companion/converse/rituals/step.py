"""A step of a routine, and the six kinds that there are.

Config of each kind (what may be left out has a `?`):
tool_call     tool, params?, ask?, take?
number_input  tool, param, base_params?, take?, unit?, min?, max?, default?
text_input    tool, param, base_params?, take?, placeholder?
mood_picker   tool, param, base_params?, take?
info_display  source
checklist     items: [{label, tool?, params?}]
`ask`: parameters that the person fills in during the run. `take`: parameter -> "<tool>.<field>", what an earlier step
of the run gave, or was given, under that name; asked for where it is not known.

Source: spec/companion.md, RI-2 and RI-6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from core.companion.contract import ModuleTool

StepType = Literal["tool_call", "number_input", "text_input", "mood_picker", "info_display", "checklist"]
TYPES: tuple[StepType, ...] = get_args(StepType)
Find = Callable[[str], ModuleTool | None]

LABEL_LIMIT = 120
STEPS_MOST = 30
ITEMS_MOST = 20
WORDS_LIMIT = 120  # of a unit, a placeholder
MOODS = (1, 2, 3, 4, 5)
SOURCES: Mapping[str, str] = {
    "tasks_today": "Tasks of today",
    "events_today": "Appointments of today",
    "drink_progress": "Drinks so far",
    "nutrition_progress": "Meals so far",
    "streaks": "Streaks",
    "health_status": "Health of the components",
    "usage_today": "Tokens of today",
    "expired_snapshots": "Expired snapshots",
    "sync_status": "Daily sync",
    "dialog_status": "Dialogs of the memory",
    "goals": "Goals",
}
_SHARED = {"tool", "param", "base_params", "take"}
FIELDS: Mapping[StepType, frozenset[str]] = {
    "tool_call": frozenset({"tool", "params", "ask", "take"}),
    "number_input": frozenset({*_SHARED, "unit", "min", "max", "default"}),
    "text_input": frozenset({*_SHARED, "placeholder"}),
    "mood_picker": frozenset(_SHARED),
    "info_display": frozenset({"source"}),
    "checklist": frozenset({"items"}),
}


@dataclass(frozen=True)
class Step:
    """One step; `config` as above, checked when the routine was saved."""

    type: StepType
    label: str
    config: Mapping[str, Any]

    @property
    def tool(self) -> str | None:
        return self.config.get("tool")

    @property
    def base(self) -> Mapping[str, Any]:
        """The fixed arguments of its tool."""
        found: Mapping[str, Any] = self.config.get("params" if self.type == "tool_call" else "base_params") or {}
        return found

    @property
    def take(self) -> Mapping[str, str]:
        return self.config.get("take") or {}

    @property
    def ask(self) -> tuple[str, ...]:
        """Parameters that a person fills in, beside those that may have to be asked for."""
        return (self.config["param"],) if "param" in self.config else tuple(self.config.get("ask") or ())

    @property
    def items(self) -> Sequence[Mapping[str, Any]]:
        return self.config.get("items") or ()

    def as_json(self) -> dict[str, Any]:
        return {"type": self.type, "label": self.label, "config": dict(self.config)}
