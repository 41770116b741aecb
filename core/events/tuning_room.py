"""The events of tuning: what was proposed, approved, brought into force and taken back."""

from __future__ import annotations

from core.events.facts import AUDIT, OBSERVATION, fact, room

PROFILES = room(
    "tuning",
    fact("ProfileProposed", AUDIT, count="version"),
    fact("ProfileApproved", AUDIT, count="version", word="evaluation_id", flag="self_approved"),
    fact("ProfileActivated", AUDIT, count="version from_version", word="evaluation_id", reversible=True),
    fact("ProfileReverted", AUDIT, count="version from_version", reversible=True),
    fact("ProfileAfterCheck", OBSERVATION, count="version searches", words="findings"),
)
