"""The operator's own records, together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.records.appointments import Appointments
from core.companion.records.drinks import Drinks
from core.companion.records.figures import Figures
from core.companion.records.ledger import Ledger
from core.companion.records.meals import Meals
from core.companion.records.places import Places
from core.companion.records.subtasks import Reminders, Steps
from core.companion.records.targets import Targets
from core.companion.records.tasks import Tasks
from core.db.client import Database
from core.events.emitter import Events


@dataclass(frozen=True)
class Records:
    """One per process, thread-safe; whoever calls has asked whether the actor may."""

    ledger: Ledger
    tasks: Tasks
    steps: Steps
    reminders: Reminders
    appointments: Appointments
    drinks: Drinks
    meals: Meals
    places: Places
    targets: Targets
    figures: Figures

    def now(self) -> datetime:
        """The present instant, with the zone of the settings."""
        return self.ledger.now()

    def today(self) -> date:
        return self.ledger.today()


def open_records(db: Database, events: Events, clock: Clock, zone: ZoneInfo) -> Records:
    """Connects to nothing."""
    ledger = Ledger(db, events, clock, zone)
    return Records(
        ledger=ledger,
        tasks=Tasks(ledger),
        steps=Steps(ledger),
        reminders=Reminders(ledger),
        appointments=Appointments(ledger),
        drinks=Drinks(ledger),
        meals=Meals(ledger),
        places=Places(ledger),
        targets=Targets(ledger),
        figures=Figures(ledger),
    )
