"""How many there are under each filter, counted in the database; and for how long they are kept."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from core.events.acts import ACTS, BY, Counts
from core.events.store import AUDIT_DAYS, OBSERVATION_DAYS, OBSERVATION_MAX
from pages._shared import formats, tables
from pages._shared.activity.filters import Choice
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

KEPT = (
    f"Kept: changes, reveals, exports, sign-ins and decisions (audit) {AUDIT_DAYS} days, whatever their number; "
    f"searches and other looks (observations) {OBSERVATION_DAYS} days, of these the newest {OBSERVATION_MAX:,}. "
    "Older ones are taken out, and the chain of hashes still verifies."
)
ACTORS = (Column("name", "Who"), Column("by", "Kind"), Column("n", "Events", "count"))
TYPES = (Column("event", "Event"), Column("part", "Part"), Column("n", "Events", "count"))


def line(choice: Choice, counts: Counts) -> None:
    """Each kind of act with its number, under the other filters as they stand."""
    by = None if choice.by == "anybody" else choice.by
    app = None if choice.app == "any" else choice.app
    type = None if choice.type == "any" else choice.type
    st.caption(" · ".join(f"{act.label} {counts.of(name, by, app, type):,}" for name, act in ACTS.items()))


def tables_of(choice: Choice, counts: Counts) -> None:
    """By kind of actor, by actor, by event, of the kind of act that was chosen."""
    with st.expander("How many, by whom and of what", type="compact"):
        each = [(label, counts.of(choice.what, name)) for name, label in BY.items() if name != "anybody"]
        st.caption(" · ".join(f"{label} {n:,}" for label, n in each))
        # Of the actors the database counts all that they did: which of it is of this kind it does not say.
        people = [{"name": one.name, "by": BY[one.by], "n": one.n} for one in counts.actors]
        totals: Counter[tuple[str, str]] = Counter()
        for one in counts.kinds:
            if ACTS[choice.what].has(one.type, one.event_class, one.by):
                totals[one.type, one.app_id] += one.n
        types = [{"event": formats.event(type), "part": app, "n": n} for (type, app), n in totals.most_common()]
        zone = my_zone_name()
        left, right = st.columns(2)
        with left:
            st.caption("All that each of them did")
            tables.show(people, ACTORS, key="tally-actors", zone=zone)
            tables.downloads(people, [c.field for c in ACTORS], name="activity-actors", key="tally-actors-file")
        with right:
            st.caption(f"Events: {ACTS[choice.what].label}")
            tables.show(types, TYPES, key="tally-types", zone=zone)
            tables.downloads(types, [c.field for c in TYPES], name="activity-events", key="tally-types-file")
