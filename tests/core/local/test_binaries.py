"""The programs of the wheel."""

from __future__ import annotations

import os
import shutil
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.local import binaries
from core.local.account import Account, server_account
from core.local.binaries import INSTALLED, default_major, programs

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another account for Postgres")


@pytest.mark.parametrize("major", sorted(INSTALLED))
def test_both_majors_are_there_and_start(major: int, tmp_path: Path) -> None:
    """The wheel's own programs are used where they can be reached, and nothing is copied."""
    folder = programs(major, None, tmp_path)
    assert (folder / "postgres").exists() and list(tmp_path.iterdir()) == []


def test_the_version_is_chosen_by_the_variable_of_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """18 unless PGSERVER_POSTGRES_VERSION says otherwise; nonsense is named."""
    monkeypatch.delenv("PGSERVER_POSTGRES_VERSION", raising=False)
    assert default_major() == 18
    monkeypatch.setenv("PGSERVER_POSTGRES_VERSION", "16")
    assert default_major() == 16
    monkeypatch.setenv("PGSERVER_POSTGRES_VERSION", "latest")
    with pytest.raises(ConfigError, match="PGSERVER_POSTGRES_VERSION: 'latest'"):
        default_major()


def test_a_missing_wheel_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a system without a wheel the error names the way out."""
    monkeypatch.setattr(binaries, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="hosted database") as missing:
        programs(18, None, tmp_path)
    assert "not installed" in missing.value.what


@as_root
def test_programs_below_a_closed_home_are_copied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_dir: Path
) -> None:
    """An environment in a private folder stays private: the server runs a copy beside its data, made once."""
    spec = find_spec(binaries.WHEEL)
    assert spec is not None and spec.submodule_search_locations
    package = Path(next(iter(spec.submodule_search_locations)))
    home = tmp_path / "home"
    shutil.copytree(package, home / package.name)
    libraries = package.with_name(binaries.WHEEL + ".libs")
    shutil.copytree(libraries, home / libraries.name)
    home.chmod(0o700)
    moved = ModuleSpec(binaries.WHEEL, None)
    moved.submodule_search_locations = [str(home / package.name)]
    monkeypatch.setattr(binaries, "find_spec", lambda _: moved)
    account = server_account(data_dir / "pg")
    assert isinstance(account, Account)
    data_dir.mkdir(mode=0o711)
    data_dir.parent.chmod(0o711)

    folder = programs(18, account, data_dir)

    assert data_dir in folder.parents and home.stat().st_mode & 0o077 == 0
    made = (folder / "postgres").stat()
    assert programs(18, account, data_dir) == folder and (folder / "postgres").stat() == made
