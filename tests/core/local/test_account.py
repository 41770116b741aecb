"""As whom Postgres runs, and what it may pass through."""

from __future__ import annotations

import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.local import account as accounts
from core.local.account import Account, make_reachable, server_account

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another account for Postgres")
NOBODY = Account("nobody", 65534, 65534)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def closed(data_dir: Path) -> Iterator[Path]:
    """A folder below a private one."""
    folder = data_dir / "home" / "data"
    folder.mkdir(parents=True)
    for place in (data_dir.parent, data_dir, data_dir / "home", folder):
        place.chmod(0o700)
    yield folder


@as_root
def test_root_runs_postgres_as_somebody_else(data_dir: Path) -> None:
    """The account exists and is not root."""
    account = server_account(data_dir / "pg")
    assert account is not None and account.uid != 0
    assert pwd.getpwuid(account.uid).pw_name == account.name


@as_root
def test_an_existing_folder_keeps_its_owner(data_dir: Path) -> None:
    """Data files that belong to an account go on with it."""
    data_dir.mkdir()
    os.chown(data_dir, 65534, 65534)
    account = server_account(data_dir)
    assert account is not None and account.uid == 65534


@as_root
def test_without_a_tool_to_make_an_account_nobody_serves(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slim container without useradd still works; without any account at all the error says what to do."""
    monkeypatch.setattr(accounts, "NAME", "no-such-account")
    monkeypatch.setattr(accounts.shutil, "which", lambda _: None)
    account = server_account(data_dir)
    assert account is not None and account.name == "nobody"

    def unknown(name: str) -> None:
        raise KeyError(name)

    monkeypatch.setattr(accounts.pwd, "getpwnam", unknown)
    with pytest.raises(ConfigError, match="create a system user named no-such-account"):
        server_account(data_dir)


def test_below_the_temporary_folder_passing_is_allowed_and_nothing_more(closed: Path) -> None:
    """Folders get the right to be passed through, not to be read."""
    make_reachable(closed, NOBODY)
    assert mode(closed) == mode(closed.parent) == 0o711


@as_root
def test_a_closed_parent_elsewhere_is_refused_by_name(closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A private home is not opened for the database: no mode changes, and the error names it."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(closed / "elsewhere"))
    with pytest.raises(ConfigError, match=f"may not enter {closed.parent}") as refused:
        make_reachable(closed, NOBODY)
    assert "/var/lib/memory-desk" in refused.value.hint
    assert mode(closed.parent) == mode(closed.parent.parent) == 0o700


def test_whoever_is_not_root_opens_nothing(closed: Path) -> None:
    """Without another account there is nobody to let through."""
    make_reachable(closed, None)
    assert mode(closed) == 0o700
