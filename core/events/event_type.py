"""One kind of event: its room, its class, and the check of a payload against its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.events.event import EventClass
from core.events.fields import Field


@dataclass(frozen=True)
class EventType:
    """A kind of fact. `audit`: a change or a decision, kept 400 days; `observation`: 90 days, the newest 50,000."""

    name: str
    app_id: str
    event_class: EventClass
    fields: Mapping[str, Field]
    reversible: bool = False

    def fit(self, payload: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The payload with each value checked, and the names of fields whose value did not fit and is left out.

        Fields that are None are left out as not known. Errors: ValueError naming fields that the type does not have:
        a bug of the caller, and the way by which text would slip in.
        """
        unknown = sorted(set(payload) - set(self.fields))
        if unknown:
            raise ValueError(f"{self.name} has no field {', '.join(unknown)}")
        fitting: dict[str, Any] = {}
        unfit: list[str] = []
        for name, value in payload.items():
            if value is None:
                continue
            try:
                fitting[name] = self.fields[name](value)
            except (TypeError, ValueError):
                unfit.append(name)
        return fitting, unfit
