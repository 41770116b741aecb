"""server.json."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.local import state as states
from core.local.keys import new_keys
from core.local.processes import Process, this_process
from core.local.state import Client, State


def full() -> State:
    me = this_process()
    return State(new_keys(), me, Process(17, "x"), 4711, "host='/a b'", "f00", (Client("t", me),))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """All of it, and nobody else may read the keys."""
    states.write(tmp_path, full_state := full())
    assert states.read(tmp_path) == full_state
    assert stat.S_IMODE((tmp_path / "server.json").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["server.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 1}', '{"version": 99}', "\x00"], ids=repr)
def test_what_cannot_be_read_counts_as_none(tmp_path: Path, text: str) -> None:
    """A cut-off file, or one of another version, leads to a new server and not to a traceback."""
    assert states.read(tmp_path) is None
    (tmp_path / "server.json").write_text(text)
    assert states.read(tmp_path) is None


def test_a_file_that_lacks_a_part_counts_as_none(tmp_path: Path) -> None:
    """Each part is needed."""
    states.write(tmp_path, full())
    whole = json.loads((tmp_path / "server.json").read_text())
    for part in whole:
        (tmp_path / "server.json").write_text(json.dumps({k: v for k, v in whole.items() if k != part}))
        assert states.read(tmp_path) is None, part


def test_dead_clients_do_not_count() -> None:
    """Neither a pid that is gone nor one that went to somebody else."""
    alive = Client("a", this_process())
    state = replace(
        full(), clients=(alive, Client("b", Process(2**22 + 7, "x")), Client("c", Process(os.getpid(), "x")))
    )
    assert state.living().clients == (alive,)
    assert state.joined(alive).clients.count(alive) == 1
    assert alive not in state.left("a").clients


def test_a_folder_of_somebody_else_is_named(tmp_path: Path) -> None:
    """A file stands where the folder should be, as an example of what cannot be used."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="MEMORY_DESK_DATA_DIR"), states.locked(tmp_path / "file" / "data"):
        pass


def test_new_folders_are_private(tmp_path: Path) -> None:
    """Mode 0700, and the lock is free again afterwards."""
    for _ in range(2):
        with states.locked(tmp_path / "data"):
            assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
