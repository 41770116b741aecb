"""Who may do what."""

from __future__ import annotations

import threading

import pytest

from core.access.roles import ACTIONS, ROLES, allowed, granted, may, permit, require
from core.errors import Forbidden
from core.events.actor import LOCAL_OPERATOR, ai, system, user

AN_AI = ai("gemini", "Gemini", mission_id="m", iteration_id="i", rationale="r")


def allowed_to(*roles: str) -> set[str]:
    return {action for action in ACTIONS if allowed(user("x", roles=roles), action)}


def test_an_admin_and_the_product_itself_may_do_everything() -> None:
    """The local operator is one, unless the settings say otherwise; the command line and system actors too."""
    assert allowed_to("admin") == set(ACTIONS)
    for actor in (LOCAL_OPERATOR, system("bootstrap"), user("cli:anna", roles=("admin",))):
        assert all(allowed(actor, action) for action in ACTIONS)


def test_nobody_and_somebody_without_a_role_may_nothing() -> None:
    """A person, a token or a role that does not exist opens nothing."""
    assert allowed_to() == allowed_to("root") == allowed_to("*") == set()


def test_what_stands_apart() -> None:
    """Reveals and Activity are for auditors and admins alone; roles, prices and policies for admins alone."""
    for role in ROLES:
        may = allowed_to(role)
        assert ({"reveal", "events"} <= may) is (role in ("auditor", "admin"))
        assert ({"reveal", "events"} & may == set()) is (role not in ("auditor", "admin"))
        only = {"set_price", "companion_policy", "migrate", "access", "change_access", "retrieval_retention"}
        assert (only & may == set()) is (role != "admin")
        assert ({"own_day", "own_day_change", "chat"} & may == set()) is (role not in ("owner", "admin"))
    changing = {name for name, action in ACTIONS.items() if action.changes}
    assert allowed_to("viewer") & changing == {"save_view"}
    assert allowed_to("auditor") & changing == {"save_view", "share_view", "report_context"}
    assert not {"ingest", "merge_keys", "snapshots_cleanup", "reembed", "erase_person"} & allowed_to("tuner")
    assert not {"judge", "propose_profile", "approve_profile", "activate_profile"} & allowed_to("operator")


def test_roles_add_up() -> None:
    """Who holds two may do what either may."""
    assert allowed_to("auditor", "tuner") == allowed_to("auditor") | allowed_to("tuner")


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_an_ai_may_do_nothing_until_a_policy_says_so(action: str) -> None:
    """Refused with the action in words, and without a name."""
    assert not allowed(AN_AI, action)
    with pytest.raises(Forbidden) as caught:
        require(AN_AI, action)
    assert ACTIONS[action].does in caught.value.what
    assert "Gemini" not in str(caught.value)
    with granted(action):
        assert allowed(AN_AI, action)


def test_an_ai_may_no_more_than_whom_it_acts_for() -> None:
    """Granted is not enough: the roles of the person or token behind it count too; no role behind it opens nothing."""
    with granted("usage", "own_day", "set_price"):
        for roles, may in ((("viewer",), {"usage"}), (("owner",), {"usage", "own_day"}), ((), set())):
            actor = ai("x", "X", mission_id="m", iteration_id="i", rationale="r", roles=roles)
            assert {action for action in ACTIONS if allowed(actor, action)} == may


def test_nobody_acts() -> None:
    """Outside of any run_as, as in a bare thread, everything is refused."""
    seen = []

    def ask() -> None:
        seen.append(may("status"))
        with pytest.raises(Forbidden, match="Nobody"):
            permit("status")

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert seen == [False]


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
