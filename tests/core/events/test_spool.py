"""The spool on disk: nothing lost by a kill, nothing readable by others, nothing taken from the living."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core.events.spool import Record, Spool, read_segment, spool_folder

ROOT = Path(__file__).parents[3]


def _record(n: int, kind: str = "event") -> Record:
    return Record(kind, f"id-{n}", {"n": n})


def _waiting(spool: Spool, kind: str = "event") -> list[int]:
    return [r.body["n"] for path in spool.segments(kind) for r in read_segment(path)]


def test_records_come_back_in_order(tmp_path: Path) -> None:
    """Over several files, also when asked again."""
    spool = Spool(tmp_path / "s")
    for n in range(3):
        assert spool.append(_record(n))
    assert _waiting(spool) == [0, 1, 2]
    spool.append(_record(3))
    assert _waiting(spool) == [0, 1, 2, 3]
    assert _waiting(spool) == [0, 1, 2, 3]
    assert spool.depth().waiting == 4


def test_only_the_owner_reads_the_files(tmp_path: Path) -> None:
    """Files 0600 in a folder 0700, whatever the umask."""
    former = os.umask(0)
    try:
        spool = Spool(tmp_path / "s")
        spool.append(_record(1))
        spool.refuse(_record(2))
    finally:
        os.umask(former)
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "s").iterdir()} == {0o600}


def test_kinds_are_kept_apart(tmp_path: Path) -> None:
    """Events and usage rows wait in files of their own."""
    spool = Spool(tmp_path)
    spool.append(_record(1))
    spool.append(_record(2, "usage"))
    assert _waiting(spool) == [1]
    assert _waiting(spool, "usage") == [2]


def test_a_line_cut_by_a_crash_is_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The torn tail costs itself and nothing else; so does a line that is no record."""
    spool = Spool(tmp_path)
    spool.append(_record(1))
    (path,) = spool.segments("event")
    with path.open("ab") as file:
        file.write(b'[1]\n{"kind":"event","id":"x"}\n\xff\xfe\n{"kind":"event","id":"id-2","bo')
    assert [r.id for r in read_segment(path)] == ["id-1"]
    assert "4 damaged records" in caplog.text


def test_the_files_of_the_living_are_left_alone_and_of_the_dead_adopted(tmp_path: Path) -> None:
    """A second process sees nothing of the first until that one is gone; then everything, oldest first."""
    first, second = Spool(tmp_path), Spool(tmp_path)
    first.append(_record(1))
    second.append(_record(2))
    assert _waiting(second) == [2]
    first.close()
    assert _waiting(second) == [1, 2]
    assert second.depth().waiting == 2
    second.close()
    assert list(tmp_path.glob("*.lock")) == []


def test_kill_9_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    """A process killed right after `append` returned leaves every record to the next one."""
    script = (
        "import os, signal, sys; from pathlib import Path; from core.events.spool import Record, Spool\n"
        "spool = Spool(Path(sys.argv[1]))\n"
        "for n in range(500): assert spool.append(Record('event', f'id-{n}', {'n': n}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert _waiting(Spool(tmp_path)) == list(range(500))


def test_a_full_disk_keeps_records_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is raised, nothing half-written stays in the file, and the records are there when it is written again."""
    spool = Spool(tmp_path)
    spool.append(_record(1))
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    assert spool.append(_record(2)) is False

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    assert spool.append(_record(3)) is False
    assert spool.depth().in_memory == 2
    monkeypatch.setattr(os, "write", write)
    assert spool.append(_record(4))
    assert _waiting(spool) == [1, 4]
    assert [r.body["n"] for r in spool.in_memory("event")] == [2, 3]


def test_a_folder_that_cannot_be_made_raises_nothing(tmp_path: Path) -> None:
    """A file where the folder should be: memory takes the record."""
    (tmp_path / "s").write_text("in the way")
    spool = Spool(tmp_path / "s")
    assert spool.append(_record(1)) is False
    assert spool.segments("event") == []
    assert spool.depth().in_memory == 1
    spool.close()


def test_many_threads_tear_no_line(tmp_path: Path) -> None:
    """Each of 1,600 records is whole."""
    spool = Spool(tmp_path)

    def work(t: int) -> None:
        for n in range(200):
            spool.append(_record(t * 1000 + n))
            if n % 50 == 0:
                spool.segments("event")

    threads = [threading.Thread(target=work, args=(t,)) for t in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(_waiting(spool)) == sorted(t * 1000 + n for t in range(8) for n in range(200))


def test_each_target_has_its_folder(tmp_path: Path) -> None:
    """Rows of the embedded database never drain into a hosted project, nor one project's into another."""
    embedded = spool_folder(tmp_path, None)
    one, other = spool_folder(tmp_path, "https://one.supabase.co"), spool_folder(tmp_path, "https://two.supabase.co")
    assert len({embedded, one, other}) == 3
    assert "one" not in one.name


def test_one_kind_is_counted_and_looked_at_alone(tmp_path: Path) -> None:
    """What waits of one kind, of all processes, is seen and stays where it is."""
    mine, theirs = Spool(tmp_path / "spool"), Spool(tmp_path / "spool")
    mine.append(Record("event", "e", {}))
    mine.append(Record("usage", "u1", {"n": 1}))
    theirs.append(Record("usage", "u2", {"n": 2}))
    assert [mine.depth(kind).waiting for kind in ("usage", "event", None)] == [2, 1, 3]
    assert sorted(record.id for record in mine.peek("usage")) == ["u1", "u2"]
    assert mine.depth("usage").waiting == 2
    mine.refuse(Record("usage", "u3", {}))
    assert (mine.depth("usage").refused, mine.depth("event").refused) == (1, 0)
