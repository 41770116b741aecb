"""Field-level changes: what is told apart, what is named how, and that applying them gives the newer payload."""

from __future__ import annotations

import itertools
import json
from typing import Any

import jsonpatch
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.canonical import canonical_json, content_hash
from core.snapshots.fields import MISSING, code_points, field_changes


def applied(before: Any, after: Any) -> Any:
    return jsonpatch.apply_patch(before, [c.as_json() for c in field_changes(before, after)])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "a/b", "c~d"]),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(["", "a", "a/b", "0"]), inner, max_size=4)
    ),
    max_leaves=8,
)
payloads = st.dictionaries(st.sampled_from(["", "a", "a/b", "c~d", "16"]), json_values, max_size=5)


# A busy machine is no fault of the law.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@patient
@given(payloads, payloads)
def test_applying_a_diff_gives_the_newer(before: dict[str, Any], after: dict[str, Any]) -> None:
    """The law of a diff; and no operation claims that a value moved."""
    assert canonical_json(applied(before, after)) == canonical_json(after)
    assert {c.op for c in field_changes(before, after)} <= {"add", "remove", "replace"}


@patient
@given(payloads)
def test_a_diff_with_itself_is_empty(payload: dict[str, Any]) -> None:
    """Nothing changed, nothing said."""
    assert field_changes(payload, payload) == ()


FIVE_DAYS = [{"city": None}, {}, {"city": ""}, {"city": {"name": None}}, {"city": {}}]


@pytest.mark.parametrize(("before", "after"), list(itertools.permutations(FIVE_DAYS, 2)))
def test_null_missing_and_empty_are_told_apart(before: Any, after: Any) -> None:
    """Case 11: fields are empty exactly where the hashes are equal."""
    changes = field_changes(before, after)
    assert bool(changes) == (content_hash(before) != content_hash(after))
    assert applied(before, after) == after
    [first] = changes[:1]
    assert first.op == ("add" if "city" not in before else "remove" if "city" not in after else first.op)
    if first.op == "add":
        assert first.before is MISSING


def test_numbers_that_are_equal_in_json() -> None:
    """1.0 is 1 and -0.0 is 0, as in the hash; true is not 1."""
    assert field_changes({"a": 1.0, "b": -0.0, "c": 1e21}, {"a": 1, "b": 0, "c": 10**21}) == ()
    assert len(field_changes({"a": True}, {"a": 1})) == 1


def test_list_that_moves() -> None:
    """Case 12: nested lists, items taken out and put in."""
    before, after = {"hobbies": ["chess", "tea", ["a", "b"], "run"]}, {"hobbies": ["chess", "a", ["b", "ski"]]}
    assert applied(before, after) == after
    assert all(
        c.path[0] == "hobbies" and all(isinstance(s, int) for s in c.path[1:]) for c in field_changes(before, after)
    )


def test_number_like_keys_and_no_move_between_records() -> None:
    """Case 12: `type` vanished in one record and came up in another; that is no move."""
    before = {"16": [{"type": "x", "a": 1}], "63": [{"b": 2}], "76": [{"c": 3}]}
    after = {"16": [{"a": 1}], "76": [{"c": 3, "type": "x"}]}
    changes = field_changes(before, after)
    assert applied(before, after) == after
    assert {(c.op, c.path) for c in changes} == {
        ("remove", ("16", 0, "type")),
        ("remove", ("63",)),
        ("add", ("76", 0, "type")),
    }


def test_keys_are_named_as_they_are() -> None:
    """Case 12: a/b and not a~1b for a reader; the operation itself is RFC 6901."""
    changes = field_changes({"a/b": 1, "c~d": 1, "": 1}, {"a/b": 2, "c~d": 2, "": 2})
    assert {c.place for c in changes} == {"a/b", "c~d", '""'}
    assert {c.pointer for c in changes} == {"/a~1b", "/c~0d", "/"}


def test_place_of_a_list_item() -> None:
    """Positions stand in brackets, keys that look like our own signs in quotes."""
    [change] = field_changes({"details": {"goal": ["a"]}}, {"details": {"goal": ["b"]}})
    assert change.place == "details › goal[0]"
    [odd] = field_changes({"x › y": 1}, {"x › y": 2})
    assert odd.place == '"x › y"'


def test_only_code_points_differ() -> None:
    """Case 13: composed and decomposed look the same and hash differently."""
    for composed, decomposed in (("Zoë", "Zoe\u0308"), ("\u0439", "\u0438\u0306")):
        assert content_hash(composed) != content_hash(decomposed)
        [change] = field_changes({"name": composed}, {"name": decomposed})
        assert change.only_code_points
    assert code_points("ë") == "U+00EB"
    assert code_points("e\u0308") == "U+0065 U+0308"
    [other] = field_changes({"name": "Zoë"}, {"name": "Zoe"})
    assert not other.only_code_points


def test_a_payload_that_is_no_object() -> None:
    """Whole payloads of any kind are compared."""
    [change] = field_changes("a", ["a"])
    assert (change.op, change.place) == ("replace", "(everything)")
    assert json.loads(json.dumps(change.as_json())) == {"op": "replace", "path": "", "value": ["a"]}
