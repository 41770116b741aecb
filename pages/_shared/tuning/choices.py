"""Which query set is in hand, and which profiles: kept in the tab, as ids never stand in the address."""

from __future__ import annotations

import streamlit as st

from core.memory.retrieval import Profile
from core.tuning.evaluation import LABELS
from core.tuning.labels import SetSummary
from pages._shared import address, formats, session
from pages._shared.feedback import empty
from pages._shared.search.sliders import PROPOSAL
from pages._shared.tuning import reading

CHOSEN = "tuning.set"
DRAFT = "tuning.draft"
DRAFT_FITS = "tuning.draft.fits"
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
    ids, kept = list(by_id), remembered_set()
    if kept not in by_id:
        kept = ids[0]  # settled before the key is made of it: the first pick would be a pick in another widget
    picked = st.selectbox(
        "Query set",
        ids,
        index=ids.index(kept),
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


def keep_draft(profile: Profile | None, fits: tuple[str, ...] = ()) -> None:
    """`fits`: the searches that found it, which go with its proposal."""
    session.remember(DRAFT, profile)
    session.remember(DRAFT_FITS, fits)


def to_profiles(profile: Profile) -> None:
    """For the callback of a button: the form under Profiles starts from this one. A link to this same page would leave
    the view as it is."""
    session.remember(PROPOSAL, profile)
    st.session_state["view"] = "profiles"


def draft_fits() -> tuple[str, ...]:
    return tuple(session.remembered(DRAFT_FITS, ()))


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
