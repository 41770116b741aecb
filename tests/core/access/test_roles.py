"""Who may do what."""

from __future__ import annotations

import pytest

from core.access.roles import ACTIONS, ROLES, allowed, require, role_of
from core.errors import Forbidden
from core.events.actor import LOCAL_OPERATOR, ai, system, user

AN_AI = ai("gemini", "Gemini", mission_id="m", iteration_id="i", rationale="r")


@pytest.mark.parametrize("action", sorted(ACTIONS))
@pytest.mark.parametrize("actor", [LOCAL_OPERATOR, user("token:api"), user("cli:anna"), system("bootstrap")])
def test_the_local_role_may_do_everything(actor: object, action: str) -> None:
    """Page, API, command line and the product itself."""
    require(actor, action)  # type: ignore[arg-type]


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_an_ai_may_do_nothing_until_a_policy_says_so(action: str) -> None:
    """Refused with the action in words, and without a name."""
    assert not allowed(AN_AI, action)
    with pytest.raises(Forbidden) as caught:
        require(AN_AI, action)
    assert ACTIONS[action].does in caught.value.what
    assert "Gemini" not in str(caught.value)
    assert role_of(AN_AI) is None


def test_an_unknown_action_is_a_bug() -> None:
    """A misspelt action is neither allowed nor quietly forbidden."""
    with pytest.raises(ValueError):
        require(LOCAL_OPERATOR, "serch")


def test_roles_speak_of_actions_that_exist() -> None:
    """No role grants what nobody can ask for, and what changes rows or shows texts is marked."""
    for actions in ROLES.values():
        assert actions <= set(ACTIONS)
    reads = {a.name for a in ACTIONS.values() if not a.changes}
    changing = set(ACTIONS) - reads
    assert changing >= {"ingest", "erase_person", "merge_keys", "snapshots_cleanup", "set_price", "migrate", "reembed"}
    assert reads >= {"status", "search", "read_dialog", "health", "events", "settings"}
    assert ACTIONS["search"].personal and not ACTIONS["status"].personal
