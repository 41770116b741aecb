"""Events of who may what: rules and tokens by their ids, roles by name; no address, no secret."""

from __future__ import annotations

from core.events.facts import AUDIT, OBSERVATION
from core.events.facts import fact as _fact
from core.events.facts import room as _of

ACCESS = _of(
    "access",
    _fact("RoleRuleSet", AUDIT, word="rule_id kind", words="before after"),
    _fact("RoleRuleDropped", AUDIT, word="rule_id kind", words="before"),
    _fact("ApiTokenCreated", AUDIT, word="token_id", words="roles", moment="expires_at", flag="unmasked"),
    _fact("ApiTokenRevoked", AUDIT, word="token_id", words="before"),
    _fact("SignedIn", AUDIT, word="person"),
    _fact("SignedOut", AUDIT, word="person"),
    _fact("SignInRefused", AUDIT, word="person why"),
    _fact("SessionsEnded", AUDIT, word="person", count="sessions"),
    _fact("PersonalDataRevealed", AUDIT, ident="dialog_key", word="page record", title="reason"),
    _fact("DataExported", AUDIT, ident="dialog_key", word="page record what", count="rows", flag="revealed"),
    _fact("DialogOpened", OBSERVATION, ident="dialog_key"),
)

# What people keep for themselves and for the team.
VIEWS = _of(
    "views",
    _fact("ViewSaved", AUDIT, word="view_id page", title="name", flag="shared replaced"),
    _fact("ViewDropped", AUDIT, word="view_id page"),
    _fact("PreferenceChanged", OBSERVATION, word="preference"),
)
