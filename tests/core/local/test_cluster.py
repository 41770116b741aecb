"""The files of a data folder."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from core.local import cluster


@pytest.mark.parametrize(
    "text", ["", "\n", "12", "12\n/data\n1700000000\n5432\n/data\n\n 1 2\n", "x\n" * 8, "\x00\n" * 8], ids=repr
)
def test_a_cut_off_pid_file_counts_as_none(tmp_path: Path, text: str) -> None:
    """As after a full disk; it is never an exception."""
    (tmp_path / "postmaster.pid").write_text(text)
    assert cluster.read_pid_file(tmp_path) is None


def test_a_pid_file_tells_pid_socket_and_status(tmp_path: Path) -> None:
    """The three of its eight lines that matter."""
    (tmp_path / "postmaster.pid").write_text("12\n/data\n1700000000\n5432\n/run/x\n\n  1 2\nready   \n")
    assert cluster.read_pid_file(tmp_path) == cluster.PidFile(12, "/run/x", "ready")
    assert cluster.read_pid_file(tmp_path / "missing") is None


@pytest.mark.parametrize("folder", ["/a b/c", "/it's", "/back\\slash", "/a'b\\c' port='x"])
def test_any_folder_name_survives_the_connection_string(folder: str) -> None:
    """Spaces, quotes and backslashes are read back by libpq and by ourselves as they were."""
    from psycopg.conninfo import conninfo_to_dict

    text = cluster.conninfo(folder, "desk", "anon")
    assert conninfo_to_dict(text) == {"host": folder, "port": "5432", "dbname": "desk", "user": "anon"}
    assert cluster.socket_of(text) == folder


def test_a_long_path_gets_a_short_private_socket_folder(tmp_path: Path) -> None:
    """A socket's path has about a hundred bytes; libpq reads a comma as two hosts."""
    assert cluster.socket_folder(Path("/var/lib/memory-desk/pg"), None) == Path("/var/lib/memory-desk/pg")
    for awkward in (tmp_path / ("x" * 100), Path("/a,b")):
        short = cluster.socket_folder(awkward, None)
        try:
            assert stat.S_IMODE(short.stat().st_mode) == 0o700 and len(str(short)) < 50 and "," not in str(short)
        finally:
            shutil.rmtree(short)


def test_nothing_personal_is_logged_and_nothing_listens_on_tcp(tmp_path: Path) -> None:
    """The settings that keep statements out of the log and the server off the network."""
    line = " ".join(map(str, cluster.command(tmp_path, tmp_path, tmp_path, durable=True)))
    for setting in ("listen_addresses=", "log_statement=none", "log_min_error_statement=panic", "jit=off"):
        assert f"-c {setting}" in line
    assert "fsync" not in line
