"""A profile in words and rows. Pure."""

from __future__ import annotations

import json
from typing import Any

from core.memory.retrieval import Profile
from core.memory.sources import SOURCES
from core.tuning.profiles import ProfileList, StoredProfile
from pages._shared import formats

RPC = "match_client_memory_chunks"


def boosts(profile: Profile) -> str:
    """The boosts that say something, in their unit."""
    unit = " SD" if profile.unit == "sd" else ""
    said = [f"{s} {formats.signed(profile.weights[s])}{unit}" for s in SOURCES if profile.weights.get(s)]
    return ", ".join(said) or "none"


def rules(profile: Profile) -> str:
    """Everything else that decides: words, limit, budget, quotas."""
    said = [f"limit {profile.limit}"]
    if profile.fusion:
        said.insert(0, f"words {profile.fusion:g}")
    if profile.budget_chars is not None:
        said.append(f"{formats.count(profile.budget_chars)} characters")
    said += [f"{source} at most {most}" for source, most in profile.quotas.items()]
    return ", ".join(said)


def passes(profile: Profile) -> tuple[str | None, str]:
    """The lines that the existing service would have to pass to its own function for the same results, and what they
    leave out; no lines where it cannot follow at all."""
    if profile.unit == "sd":
        return None, (
            "The existing service cannot follow: its function adds one number to the cosines of every query, and a "
            "deviation is another number for each."
        )
    weights = {s: round(float(profile.weights[s]), 4) for s in SOURCES if profile.weights.get(s)}
    lines = f"{RPC}(\n  match_count    => {profile.limit},\n  source_weights => '{json.dumps(weights)}'::jsonb\n)"
    missing = []
    if profile.fusion:
        missing.append("the words")
    if profile.quotas:
        missing.append("the quotas")
    if profile.budget_chars is not None:
        missing.append("the budget")
    if not missing:
        return lines, "With these, the existing service returns the same rows."
    return lines, f"These are its boosts alone: {formats_and(missing)} the existing service's function does not know."


def origins(one: StoredProfile, sets: dict[str, str]) -> list[str]:
    """For each search behind a version: on what, what it gained where it had not looked, and what counts for it now."""
    said = []
    for fit in one.fits:
        name = f"“{sets.get(fit.query_set, 'a set that is put away')}”"
        held = fit.held_out
        gain = (
            "no dialog was kept out to test it"
            if held is None
            else f"{fit.metric.replace(':', '@')} {100 * held['mean']:+.1f} points "
            f"({100 * held['low']:+.1f} to {100 * held['high']:+.1f}) on "
            f"{formats.plural(fit.held_out_queries, 'query', 'queries')} of dialogs kept out"
        )
        line = f"Found by a search over {formats.plural(fit.train_queries, 'query', 'queries')} of {name}: {gain}."
        if fit.query_set == one.query_set:
            line += " An evaluation on this set counts for it only where it leaves out what the search saw."
        said.append(line)
    return said


def formats_and(parts: list[str]) -> str:
    """A list in a sentence."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def rows(found: ProfileList, sets: dict[str, str]) -> list[dict[str, Any]]:
    """Every version as a line of the table, newest first."""
    return [
        {
            "version": one.version,
            "state": found.state(one.version),
            "name": one.profile.name,
            "boosts": boosts(one.profile),
            "rules": rules(one.profile),
            "query_set": sets.get(one.query_set or "", ""),
            "verdict": one.verdict or "",
            "origin": "found by a search" if one.fits else "",
            "approved_by": (f"{one.approved_by}, self-approved" if one.self_approved else one.approved_by) or "",
            "created_by": one.created_by,
            "created_at": one.created_at,
            "approved_at": one.approved_at,
            "note": one.note,
        }
        for one in found.profiles
    ]
