"""The usage rollup: equal to the rows after whatever happens to them, and never in the way of whoever writes them."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.migrations.conftest import call, rebuild, value

ROLLUPS = ("desk_usage_hours", "desk_usage_days", "desk_usage_dialog_hours")
COLUMNS: tuple[str, ...] = (
    "at",
    "dialog_key",
    "provider",
    "model",
    "phase",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
)
COLUMNS += ("cached_tokens",)

moments = st.sampled_from(
    ("2026-11-09T23:59:59.999Z", "2026-11-10T00:00:00Z", "2026-11-10T00:30:00+02:00", "2026-11-11T05:45:00Z")
)
counts = st.none() | st.sampled_from((0, 1, 7, 4000, 32_000, 32_001, 200_001, 2**31 - 1))
rows = st.fixed_dictionaries(
    {
        "at": moments,
        "dialog_key": st.sampled_from((None, "a", "b", "")),
        "provider": st.sampled_from(("gemini", "xai", "acme")),
        "model": st.sampled_from(("m-1", "unknown", "a$b$c")),
        "phase": st.sampled_from(("embed", "generate")),
        "prompt_tokens": counts,
        "completion_tokens": counts,
        "total_tokens": counts,
        "cached_tokens": counts,
    }
)
where = st.sampled_from(("true", "dialog_key = 'a'", "provider = 'xai'", "prompt_tokens > 5", "at < '2026-11-10Z'"))
changes = st.sampled_from(
    (
        "dialog_key = 'b'",
        "at = at - interval '3 hours'",
        "at = at + interval '20 days'",
        "model = 'm-2', phase = 'repair'",
        "prompt_tokens = 300000",
        "total_tokens = null",
        "cached_tokens = 9",
        "ru_id = 'r'",
        "id = gen_random_uuid()",
    )
)
steps = st.lists(
    st.tuples(st.just("insert"), st.lists(rows, min_size=1, max_size=6))
    | st.tuples(st.just("update"), changes, where)
    | st.tuples(st.just("delete"), where)
    | st.tuples(st.just("truncate")),
    min_size=1,
    max_size=7,
)


def usage_row(**columns: Any) -> dict[str, Any]:
    given = {"at": "2026-11-10T10:00:00Z", "provider": "gemini", "model": "m-1", "phase": "embed", "total_tokens": 10}
    return {**dict.fromkeys(COLUMNS), **given, **columns}


def write(db: psycopg.Connection[Any], new: Sequence[dict[str, Any]]) -> None:
    """One statement, as the service writes a request."""
    line = f"({', '.join(['%s'] * len(COLUMNS))})"
    db.execute(
        f"insert into token_usage_log ({', '.join(COLUMNS)}) values {', '.join([line] * len(new))}",
        [row[name] for row in new for name in COLUMNS],
    )


def equal(db: psycopg.Connection[Any]) -> bool:
    checked = call(db, "desk_check_usage")
    assert checked["rows"] == checked["rollup"] or not checked["equal"]
    return bool(checked["equal"]) and not checked["stale"]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_rollup_equals_rows(db: psycopg.Connection[Any], story: list[tuple[Any, ...]]) -> None:
    """After each of any inserts, updates, deletes and truncations, in all three tables."""
    db.execute("truncate token_usage_log")
    for step in story:
        match step:
            case ("insert", new):
                write(db, new)
            case ("update", change, rows_of):
                db.execute(f"update token_usage_log set {change} where {rows_of}")
            case ("delete", rows_of):
                db.execute(f"delete from token_usage_log where {rows_of}")
            case _:
                db.execute("truncate token_usage_log")
        assert equal(db), step
    call(db, "desk_rebuild_usage")
    assert equal(db)


def test_content_of_an_hour(db: psycopg.Connection[Any]) -> None:
    """Sums by UTC hour and size; cached at most the prompt, and what is more than the parts, call by call."""
    write(
        db,
        [
            usage_row(prompt_tokens=20, completion_tokens=198, total_tokens=623, cached_tokens=30),
            usage_row(at="2026-11-10T12:30:00+02:00", prompt_tokens=70, total_tokens=70),
            usage_row(prompt_tokens=200_001, total_tokens=200_001),
        ],
    )
    found = db.execute(
        "select size_over, calls, prompt, completion, total, cached, cached_in_prompt, unattributed"
        " from desk_usage_hours where hour = '2026-11-10T10:00Z' order by 1"
    ).fetchall()
    assert found == [(0, 2, 90, 198, 693, 30, 20, 405), (200_000, 1, 200_001, 0, 200_001, 0, 0, 0)]
    assert equal(db)


def test_a_row_without_a_time_is_counted_apart(db: psycopg.Connection[Any], dsn: str) -> None:
    """A table of the service may hold such rows: they are in no range, and the answer says how many there are."""
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute("alter table token_usage_log alter column at drop not null")
        try:
            write(owner, [usage_row(at=None), usage_row()])
            found = call(db, "desk_usage_summary", p_from="2026-11-01Z", p_to="2026-12-01Z")
            assert (found["undated"], sum(row["calls"] for row in found["rows"])) == (1, 1)
            assert equal(db)
        finally:
            owner.execute("delete from token_usage_log where at is null")
            owner.execute("alter table token_usage_log alter column at set not null")


def test_eight_writers(dsn: str) -> None:
    """Inserts, updates and deletes of eight connections in the same hour: no error, no deadlock, still equal."""
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        dice = random.Random(seed)
        try:
            with psycopg.connect(dsn, autocommit=True) as connection:
                for n in range(25):
                    write(
                        connection,
                        [
                            usage_row(
                                model=dice.choice(("m-1", "m-2")), dialog_key=f"d{dice.randint(0, 3)}", phase=f"p{seed}"
                            )
                            for _ in range(4)
                        ],
                    )
                    if n % 4 == 0:
                        connection.execute(
                            "update token_usage_log set total_tokens = 11 where phase = %s", [f"p{seed}"]
                        )
                    if n % 9 == 8:
                        connection.execute("delete from token_usage_log where phase = %s", [f"p{seed}"])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with psycopg.connect(dsn, autocommit=True) as connection:
        checked = call(connection, "desk_check_usage")
        assert checked["equal"] or checked["stale"]  # a machine under load may let a wait run out, but never silently
        call(connection, "desk_rebuild_usage")
        assert equal(connection)


def test_a_rebuild_beside_writers(dsn: str) -> None:
    """A rebuild adds the difference of one snapshot: what others write meanwhile is neither lost nor counted twice."""
    stop = threading.Event()
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            with psycopg.connect(dsn, autocommit=True) as connection:
                while not stop.is_set():
                    write(connection, [usage_row(phase=f"p{seed}", dialog_key="d")])
        except BaseException as error:
            errors.append(error)

    with psycopg.connect(dsn, autocommit=True) as connection:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(6):
            connection.execute("update desk_usage_hours set total = total + 5 where phase = 'p1'")
            call(connection, "desk_rebuild_usage")
        stop.set()
        for thread in threads:
            thread.join()
        assert errors == []
        if call(connection, "desk_check_usage")["stale"]:
            call(connection, "desk_rebuild_usage")
        assert equal(connection)


def test_a_locked_rollup_does_not_stop_a_write(db: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> None:
    """While somebody holds the rollup, a write of the service succeeds within a second and leaves a fault."""
    other.execute("lock table desk_usage_hours in access exclusive mode")
    began = time.monotonic()
    write(db, [usage_row(total_tokens=77)])
    assert time.monotonic() - began < 1.5
    other.rollback()
    assert value(db, "select count(*) from token_usage_log") == 1
    assert call(db, "desk_check_usage")["stale"]
    assert call(db, "desk_rebuild_usage")["changed"] == 3
    assert equal(db)


def test_a_locked_row_does_not_stop_a_write(db: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> None:
    """A transaction that stays open on the same hour costs others at most half a second."""
    write(db, [usage_row()])
    write(other, [usage_row()])
    write(db, [usage_row()])
    other.commit()
    assert value(db, "select count(*) from token_usage_log") == 3
    assert call(db, "desk_check_usage")["stale"]
    call(db, "desk_rebuild_usage")
    assert equal(db)


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        *((f"alter table {t} rename to gone", f"alter table gone rename to {t}") for t in ROLLUPS),
        (
            "alter table desk_usage_hours rename column prompt to x",
            "alter table desk_usage_hours rename column x to prompt",
        ),
        (
            "alter table desk_usage_days add constraint no check (calls < 0) not valid",
            "alter table desk_usage_days drop constraint no",
        ),
        ("alter type desk_usage_change rename to gone", "alter type gone rename to desk_usage_change"),
        (
            "alter function desk_add_usage rename to gone",
            "alter function gone rename to desk_add_usage",
        ),
        (
            "alter table desk_usage_hours rename to gone; alter table desk_meta rename to away",
            "alter table gone rename to desk_usage_hours; alter table away rename to desk_meta",
        ),
    ],
)
def test_a_broken_rollup_does_not_stop_a_write(dsn: str, broken: str, mended: str) -> None:
    """Missing table, column, type, function, a refused value, no place for the fault: the service writes on."""
    with psycopg.connect(dsn, autocommit=True) as owner, psycopg.connect(dsn, autocommit=True) as service:
        service.execute("set role service_role")
        owner.execute(broken)
        try:
            write(service, [usage_row(), usage_row(model="m-2")])
            service.execute("update token_usage_log set total_tokens = 12 where model = 'm-1'")
            service.execute("delete from token_usage_log where model = 'm-2'")
            assert value(service, "select sum(total_tokens) from token_usage_log") == 12
        finally:
            owner.execute(mended)
        checked = call(owner, "desk_check_usage")
        assert checked["stale"]
        rebuild(owner, "desk_rebuild_usage")
        assert equal(owner)


def test_an_unchanged_count_touches_nothing(db: psycopg.Connection[Any]) -> None:
    """An update that changes no count leaves the rollup's rows alone, so nobody waits for it."""
    write(db, [usage_row()])
    before = value(db, "select xmin::text from desk_usage_hours")
    db.execute("update token_usage_log set ru_id = 'r'")
    assert value(db, "select xmin::text from desk_usage_hours") == before


def test_a_dialog_that_has_gone_leaves_no_key(db: psycopg.Connection[Any]) -> None:
    """Also where its rows stay under no key, as after an erasure."""
    write(db, [usage_row(dialog_key="gone"), usage_row(dialog_key="moved"), usage_row(dialog_key="stays")])
    db.execute("delete from token_usage_log where dialog_key = 'gone'")
    db.execute("update token_usage_log set dialog_key = null where dialog_key = 'moved'")
    keys = db.execute("select dialog_key from desk_usage_dialog_hours order by 1").fetchall()
    assert keys == [("",), ("stays",)]
    assert equal(db)


def test_summary_is_the_same_by_day_and_by_hour(db: psycopg.Connection[Any]) -> None:
    """Totals by day serve long ranges: any range gives what the rows give, also where a price starts inside a day."""
    dice = random.Random(3)
    new = [
        usage_row(
            at=f"2026-11-{dice.randint(1, 9):02}T{dice.randint(0, 23):02}:{dice.randint(0, 59):02}:00Z",
            model=dice.choice(("m-1", "m-2")),
            phase=dice.choice(("embed", "generate")),
            prompt_tokens=dice.randint(0, 90_000),
            total_tokens=dice.randint(0, 90_000),
        )
        for _ in range(300)
    ]
    write(db, new)
    db.execute(
        "insert into desk_prices (provider, model, valid_from, input_usd, source, source_date, entered_by) values"
        " ('gemini', 'm-1', '2026-11-04T07:00Z', 1, 's', '2026-11-01', 'x'),"
        " ('gemini', 'm-2', '2026-11-06Z', 1, 's', '2026-11-01', 'x')"
    )
    for low, high in (
        ("01T00", "10T00"),
        ("02T05", "08T13"),
        ("03T01", "03T22"),
        ("04T00", "05T00"),
        ("03T23", "05T01"),
    ):
        low, high = f"2026-11-{low}:00Z", f"2026-11-{high}:00Z"
        found = call(db, "desk_usage_summary", p_from=low, p_to=high, p_group_by=["phase"])["rows"]
        by_hour = call(db, "desk_usage_summary", p_from=low, p_to=high, p_group_by=["hour", "phase"])["rows"]
        got = sorted((r["model"], r["phase"], r["priced_at"], r["size_over"], r["total"]) for r in found)
        sums: dict[tuple[Any, ...], int] = {}
        for r in by_hour:
            key = (r["model"], r["phase"], r["priced_at"], r["size_over"])
            sums[key] = sums.get(key, 0) + r["total"]
        assert got == sorted((*key, total) for key, total in sums.items())
        raw = value(
            db, "select coalesce(sum(total_tokens), 0) from token_usage_log where at >= %s and at < %s", low, high
        )
        assert sum(r["total"] for r in found) == raw
        dialogs = call(db, "desk_usage_dialogs", p_from=low, p_to=high)
        assert sum(r["total"] for r in dialogs["rows"]) == raw


def test_recording_twice_writes_once(db: psycopg.Connection[Any]) -> None:
    """Rows are known by their id; a row without `at` gets the present moment and not null."""
    one = {"id": str(uuid.uuid4()), "provider": "gemini", "model": "m", "phase": "embed", "total_tokens": 5}
    two = {**one, "id": str(uuid.uuid4()), "at": "2026-11-29T10:00:00Z", "cached_tokens": 2}
    assert call(db, "desk_record_usage", p_rows=[one, two]) == {"written": 2, "present": 0}
    assert call(db, "desk_record_usage", p_rows=[two, one]) == {"written": 0, "present": 2}
    assert value(db, "select count(*) from token_usage_log where at is not null") == 2


def test_dialog_usage_counts_a_row_once(db: psycopg.Connection[Any]) -> None:
    """A waiting row that has been written meanwhile counts in the table alone; `since` is inclusive for both."""
    row = {"id": str(uuid.uuid4()), "dialog_key": "d", "at": "2026-11-29T10:00:00Z", "prompt_tokens": 3}
    row |= {"completion_tokens": 4, "total_tokens": 9}
    waiting = [row, {**row, "id": str(uuid.uuid4()), "at": "2026-11-29T09:59:59Z"}, {**row, "dialog_key": "e"}]
    call(db, "desk_record_usage", p_rows=[{**row, "provider": "g", "model": "m", "phase": "p"}])
    sums = {"calls": 2, "prompt": 6, "completion": 8, "total": 18, "waiting": 1}
    assert call(db, "desk_dialog_usage", p_dialog_key="d", p_waiting=waiting) == sums
    since = call(db, "desk_dialog_usage", p_dialog_key="d", p_since="2026-11-29T10:00:00Z", p_waiting=waiting)
    assert since == {"calls": 1, "prompt": 3, "completion": 4, "total": 9, "waiting": 0}


def test_anomalies(db: psycopg.Connection[Any]) -> None:
    """More than three times the median of the same hour on at least five of fourteen days, on the clock of the zone."""
    usual = [usage_row(at=f"2026-11-{d:02}T08:10:00Z", total_tokens=9_000) for d in range(1, 15)]
    write(db, [*usual, usage_row(at="2026-11-15T08:30:00Z", total_tokens=90_000)])
    write(db, [usage_row(at="2026-11-15T09:30:00Z", total_tokens=90_000)])  # never used at that hour before
    found = call(db, "desk_usage_anomalies", p_from="2026-11-10Z", p_to="2026-11-16Z")
    assert [(r["hour"][:13], r["total"], r["median"], r["days"], r["factor"]) for r in found] == [
        ("2026-11-15T08", 90_000, 9_000, 14, 10.0)
    ]


def test_prices_take_known_sizes_and_whole_hours(db: psycopg.Connection[Any]) -> None:
    """What the rollup cannot tell apart is refused; nobody changes or deletes a price."""
    insert = (
        "insert into desk_prices (provider, model, valid_from, size_over, input_usd, source, source_date, entered_by)"
        " values ('g', 'm', %s, %s, 1, 's', '2026-01-01', 'x')"
    )
    db.execute(insert, ["2026-01-01T05:00Z", 200_000])
    for wrong in (("2026-01-01T05:30Z", 0), ("2026-01-01Z", 150_000)):
        with pytest.raises(psycopg.errors.CheckViolation):
            db.execute(insert, wrong)
    for statement in ("update desk_prices set input_usd = 0", "delete from desk_prices"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute(statement)


@pytest.mark.parametrize("table", [*ROLLUPS, "desk_prices"])
def test_closed_to_the_public(dsn: str, table: str) -> None:
    """Row-level security is on; neither publishable key nor signed-in user reads."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        assert value(connection, "select relrowsecurity from pg_class where oid = %s::regclass", table)
        connection.execute("set role anon")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"select * from {table}")


def test_rows_of_the_existing_service_are_in(legacy_server: tuple[str, str]) -> None:
    """The migration fills the rollup from rows that were there, whatever they lack; the service goes on writing."""
    with psycopg.connect(legacy_server[1], autocommit=True) as connection:
        checked = call(connection, "desk_check_usage")
        assert checked["equal"]
        assert checked["rollup"]["total"] >= 150 * 151 // 2
        connection.execute("set role anon")
        connection.execute("insert into token_usage_log (dialog_key, total_tokens) values ('late', 3)")
        connection.execute("reset role")
        assert equal(connection)
        connection.execute("delete from token_usage_log where dialog_key = 'late'")
        assert equal(connection)
