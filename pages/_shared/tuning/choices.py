"""Which query set is in hand, and which profiles: kept in the tab, as ids never stand in the address."""

from __future__ import annotations

import streamlit as st

from core.memory.retrieval import Profile
from core.tuning.evaluation import LABELS
from core.tuning.labels import SetSummary
from pages._shared import address, formats, session
from pages._shared.feedback import empty
from pages._shared.tuning import reading

CHOSEN = "tuning.set"
DRAFT = "tuning.draft"
# Always there to compare with: what the vectors alone find, and what their fusion with words does.
BUILT_IN = (Profile("no boosts"), Profile("no boosts, words added", fusion=0.35))
LIMITS = {"6": "6", "12": "12", "24": "24"}


def remembered_set() -> str | None:
    kept = session.remembered(CHOSEN, None)
    return str(kept) if kept else None


def remember_set(id: str | None) -> None:
    session.remember(CHOSEN, id)


def query_set() -> SetSummary | None:
    """The set in hand, chosen from a list; without any set the way to one."""
    rows = reading.sets(False).value
    if not rows:
        empty("There is no query set yet", "Make one under Query sets: a few real questions about a few dialogs.")
        return None
    by_id = {row.id: row for row in rows}
    kept = remembered_set()
    ids = list(by_id)
    picked = st.selectbox(
        "Query set",
        ids,
        index=ids.index(kept) if kept in by_id else 0,
        format_func=lambda id: set_option(by_id[id]),
        key=f"set-{len(ids)}-{kept}",
    )
    remember_set(picked)
    return by_id[picked]


def set_option(row: SetSummary) -> str:
    """A set as one line of a list of choices; options are plain text."""
    return f"{row.name} · {formats.plural(row.queries, 'query', 'queries')} · version {row.version}"


def draft() -> Profile | None:
    """A profile that a search for better boosts found: not stored, only in this tab."""
    kept = session.remembered(DRAFT, None)
    return kept if isinstance(kept, Profile) else None


def keep_draft(profile: Profile | None) -> None:
    session.remember(DRAFT, profile)


def profiles() -> dict[str, Profile]:
    """Every profile that can be compared, by its line in a list: stored ones, then the draft and built-in ones."""
    stored = reading.profiles().value
    lines = {f"{p.profile.name} · version {p.version} · {stored.state(p.version)}": p.profile for p in stored.profiles}
    found = draft()
    loose = [*((found,) if found else ()), *BUILT_IN]
    return lines | {f"{profile.name} · not stored": profile for profile in loose}


def active(lines: dict[str, Profile]) -> str:
    """The line of the profile in force."""
    version = reading.profiles().value.active
    return next((line for line, profile in lines.items() if profile.version == version), next(iter(lines)))


def metric() -> tuple[str, int]:
    """The figure that decides, and how many places count; both in the address."""
    name = address.select("Figure that decides", LABELS, "metric", default="recall", width=170)
    k = address.select("Places (k)", LIMITS, "k", default="12", width=110)
    return name, int(k)


def llm() -> bool:
    """Whether labels of models count, where no person judged."""
    return st.toggle(
        "Count labels of models",
        key="llm",
        bind="query-params",
        help="Off: people alone. On: a model's label counts where no person judged, and the result says so.",
    )
