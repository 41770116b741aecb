"""Which fields of which records are masked; no text field of a record is unknown here."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from core.access.masking import Known, Mask
from core.memory.hits import Hit, Latency
from core.memory.retrieval import Profile
from core.retrievals.drift import Drift
from core.services.covering import IDS, PAYLOADS, ROOMS, TEXTS, covered, dialogs_of
from core.services.replay import Replayed
from core.snapshots.diff import DialogDiff, EntityChange
from core.snapshots.history import history_of
from core.snapshots.rows import StoredSnapshot

NOW = datetime(2026, 11, 30, tzinfo=UTC)
MASKS = {"a": Mask(Known(names=("Олена",))), "b": Mask(Known(names=("Ганна",)))}
# Looked at by a person: moments and days; hashes and ids of rows; words of the product; counts by such a word; what
# holds records that are looked into themselves; what somebody on the team called something.
PLAIN = frozenset(
    """
    at created_at updated_at approved_at active_at archived_at confirmed_at ended_at erased_at expires_at merged_at
    undone_at withdrawn_at recorded_at first_at last_at newer_at entity_at sent_at pinned_until keep_until undo_until
    last_ingest_at last_message_at last_note_at last_read_at last_usage_at last_write_at photo_updated_at
    profile_updated_at note_date date day day_from day_to days first first_day last_day previous_date sync_date hour
    since newest oldest cutoff
    content_hash parts_hash prompt_hash query_hash from_hash to_hash recomputed stored sha id ids original_id chunk_id
    query_id from_id to_id erasure_id evaluation_id merge_id retrieval request_id keys dialog_key dropped_key
    kept_key also_under exclude_dialog pairs dialogs revived_dialogs train_ids stale excluded absent superseded fits
    seen same enters leaves positions
    body_type change compose_mode content_type direction embedding_model entity_type family field flags
    from_model to_model invite_type key_order key_reason kind label_source language message method metric mode model
    order page part phase pointer provider reason refused rule says set_name source source_role state
    tags verdict word x y by category confirm entered_by
    active_weights boosts by_model by_reason by_source by_type counts differences events flag_counts kept_by_type
    lengths other_models other_tables postings quotas ranks scores slots slots_after slots_before sources tables texts
    train held_out values weights without_by_type shared written_again address plain
    actor pin_actor judge approved_by confirmed_by created_by principal
    record rows away others reopened judgements queries result primary names body demo profile
    name label query_set problem
    """.split()  # noqa: SIM905
)
# Of records that no page is given: what is on its way into the memory.
INWARD = frozenset(
    """
    age city country goals hobbies marital_status occupation personality_type traits photo_url ru tu left
    """.split()  # noqa: SIM905
)


def records() -> Iterator[Any]:
    for room in ROOMS:
        package = importlib.import_module(room.rstrip("."))
        for module in pkgutil.walk_packages(package.__path__, room):
            for name, found in vars(importlib.import_module(module.name)).items():
                ours = isinstance(found, type) and found.__module__ == module.name and not name.startswith("_")
                if ours and dataclasses.is_dataclass(found):
                    yield found


def test_no_text_of_a_record_is_unknown() -> None:
    """A new field that may hold text has to be called personal or plain before a page can read it."""
    known = TEXTS | PAYLOADS | IDS | PLAIN | INWARD
    unknown = {
        f"{record.__module__}.{record.__name__}.{field.name}"
        for record in records()
        for field in dataclasses.fields(record)
        if any(kind in str(field.type) for kind in ("str", "Any", "object")) and field.name not in known
    }
    assert unknown == set()


def test_each_record_by_the_people_of_its_own_dialog() -> None:
    """Олена is known of one dialog and nobody of the other; what has no dialog belongs to that of its holder."""
    hits = [
        Hit(f"h{n}", "note", "s", "Олена і Ганна", 1.0, 1.0, 0.0, 1, dialog_key=key)
        for n, key in enumerate(("a", "b", None))
    ]
    assert [hit.text for hit in covered(hits, "b", MASKS)] == ["[name] і Ганна", "Олена і [name]", "Олена і [name]"]
    assert set(dialogs_of(hits, "c")) == {"a", "b", "c"}


def test_the_dialog_of_a_replayed_chunk_is_that_of_its_hit() -> None:
    """Over all dialogs only the hit inside says whose it is."""
    hit = Hit("h", "note", "s", "Олена", 1.0, 1.0, 0.0, 1, dialog_key="a")
    assert covered(Drift("h", "note", "Олена", ("added",), now=hit), None, MASKS).text == "[name]"


def test_records_before_and_after_are_no_payload() -> None:
    """A replay calls the hits of the recorded weights so."""
    hit = Hit("h", "note", "s", "Олена", 1.0, 1.0, 0.0, 1)
    replayed = Replayed(NOW, "test", Profile("p", 1, {}), (hit,), (hit,), (), (), Latency())
    shown = covered(replayed, "a", MASKS)
    assert [h.text for h in (*shown.hits, *shown.before)] == ["[name]", "[name]"]


def test_rows_of_a_list_are_masked_too() -> None:
    """Some answers are plain rows."""
    rows = [{"id": "x", "text": "Олена", "source": "note"}]
    assert covered(rows, "a", MASKS) == [{"id": "x", "text": "[name]", "source": "note"}]
    said = {"dialogKey": "a", "results": [{"text": "Олена", "dialog_key": None}]}  # as a tool of the companion says it
    assert covered(said, None, MASKS)["results"][0]["text"] == "[name]"


def test_the_dialog_that_was_revealed_stays_as_it_is() -> None:
    """The others do not."""
    hits = [Hit("h", "note", "https://e.org/p", "Олена Ганна", 1.0, 1.0, 0.0, 1, dialog_key=key) for key in "ab"]
    shown = covered(hits, None, {**MASKS, "a": None})
    assert (shown[0].text, shown[0].source_id) == ("Олена Ганна", "https://e.org/p")
    assert (shown[1].text, shown[1].source_id) == ("Олена [name]", "[link]")


def test_an_entity_is_found_again_by_its_identity() -> None:
    """Payload and text are masked, what leads to its history is not: pages draw that masked."""
    row = StoredSnapshot("1", "a", "2026-11-30", "dialog", "", "x:Олена", {"name": "Z", "t": "Олені"}, text="Олена")
    shown = covered(row, None, MASKS)
    assert (shown.source_id, shown.payload, shown.text) == ("x:Олена", {"name": "[name]", "t": "[name]"}, "[name]")


def test_a_changed_name_is_still_a_change() -> None:
    """Masked, both sides are alike: what differs is said of what is stored, and not called a matter of code points."""
    change = EntityChange("profile", "ru", "ru", "changed", before={"name": "Олена"}, after={"name": "Ганна"})
    diff = DialogDiff("a", "2026-11-29", "2026-11-30", (change,), 0, 0, 1, 0, 1, 1)
    (shown,) = covered(diff, None, MASKS).rows
    assert [(f.before, f.after, f.only_code_points) for f in shown.fields] == [("[name]", "[name]", False)]
    assert shown.note == ""
    assert change.fields[0].before == "Олена", "what is kept is what is stored"


def test_the_history_of_a_name_keeps_its_changes() -> None:
    """By the people of the dialog that was asked for, since no row of a history says whose it is."""
    days = [
        {
            "sync_date": "2026-11-30",
            "id": "2",
            "payload": {"t": "Олена"},
            "previous_date": "2026-11-29",
            "changed": True,
        },
        {"sync_date": "2026-11-29", "id": "1", "payload": {"t": "Олені"}, "changed": False},
    ]
    found = covered(history_of({"rows": days, "days": 2, "stored": 2, "changes": 1, "first": "x"}), "a", MASKS)
    assert [(f.before, f.after) for f in found.rows[0].fields or ()] == [("[name]", "[name]")]
    assert found.rows[0].payload == {"t": "[name]"}
