"""Who decides: tool before module before default, deny for good; and the operator's word in every process."""

from __future__ import annotations

import pytest

from core.access.roles import ACTIONS
from core.companion.act.policy import PolicySet
from core.companion.contract import ModuleTool, ToolResult
from core.errors import Forbidden, InputError
from core.events.actor import LOCAL_OPERATOR, Actor, run_as
from tests.core.companion.act.conftest import Bench


def tool(policy: str, *, read_only: bool = False) -> ModuleTool:
    return ModuleTool("t", "m", "T", "T.", lambda p: ToolResult(True, ""), "usage", policy, "personal",  # type: ignore[arg-type]
                      read_only=read_only)  # fmt: skip


def test_order() -> None:
    """What is said of the tool, else of the module, else its own default, else the general one."""
    assert PolicySet({"t": "auto"}, {"m": "deny"}).decide(tool("propose")) == "auto"
    assert PolicySet({}, {"m": "deny"}, "auto").decide(tool("auto")) == "deny"
    assert PolicySet({}, {"other": "deny"}).decide(tool("auto")) == "auto"
    assert PolicySet().decide(tool("")) == "propose"
    assert PolicySet(default_for_ai="deny").decide(tool("")) == "deny"


def test_deny_is_for_good() -> None:
    """Nothing loosens a tool that is for people only."""
    assert PolicySet({"t": "auto"}, {"m": "auto"}, "auto").decide(tool("deny")) == "deny"


def test_a_module_that_proposes_still_reads() -> None:
    """A read is not staged because its module's changes are; a no to the module is also one to its reads."""
    assert PolicySet({}, {"m": "propose"}).decide(tool("auto", read_only=True)) == "auto"
    assert PolicySet({}, {"m": "deny"}).decide(tool("auto", read_only=True)) == "deny"


def test_restorer(bench: Bench, agent: Actor) -> None:
    """What is set for a while is as before afterwards, also nested."""
    policies, look = bench.act.policies, bench.act.toolbox.all()[0]
    outer = policies.set_policy(PolicySet({"look": "deny"}))
    inner = policies.set_policy(PolicySet({"look": "propose"}))
    assert policies.of(look, agent) == "propose"
    inner()
    assert policies.of(look, agent) == "deny"
    outer()
    assert policies.of(look, agent) == "auto"
    assert policies.of(look, LOCAL_OPERATOR) == "auto"


def test_the_operators_word_holds_everywhere(bench: Bench, agent: Actor) -> None:
    """Another process obeys at once; the event says what was and what is; None takes it back."""
    policies, other = bench.act.policies, bench.again().policies
    shelve = bench.act.toolbox.find("shelve")
    assert shelve is not None
    policies.override("auto", tool=shelve)
    assert other.of(shelve, agent) == "auto"
    policies.override("deny", module="bench")
    assert other.of(shelve, agent) == "auto"
    policies.override(None, tool=shelve)
    assert other.of(shelve, agent) == "deny"
    rows = bench.core.events.store.query(type="PolicyChanged").rows[::-1]
    assert [dict(r.payload) for r in rows] == [
        {"scope": "tool", "name": "shelve", "new_policy": "auto"},
        {"scope": "module", "name": "bench", "new_policy": "deny"},
        {"scope": "tool", "name": "shelve", "old_policy": "auto"},
    ]


def test_refused(bench: Bench, agent: Actor) -> None:
    """No loosening of a deny, no foreign word, no AI that sets its own policy."""
    policies, burn = bench.act.policies, bench.act.toolbox.find("burn")
    with pytest.raises(InputError):
        policies.override("auto", tool=burn)
    for wrong in ({"module": "bench", "tool": burn}, {}):
        with pytest.raises(InputError):
            policies.override("deny", **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        policies.override("maybe", module="bench")  # type: ignore[arg-type]
    with run_as(agent), pytest.raises(Forbidden):
        policies.override("auto", module="bench")
    assert "companion_policy" in ACTIONS


def test_a_word_of_another_version_forbids(bench: Bench, agent: Actor) -> None:
    """What cannot be read as a decision was one."""
    bench.core.db.rpc("companion_patch_settings", {"p_key": "policy", "p_patch": {"tool:look": "ask"}}, read=False)
    assert bench.act.policies.of(bench.act.toolbox.all()[0], agent) == "deny"
