"""As whom Postgres runs. It refuses to run as root, so root needs another account; everybody else runs it himself."""

from __future__ import annotations

import logging
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import ConfigError

NAME = "memory-desk"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Account:
    """A system account; `run` are the arguments that make subprocess use it."""

    name: str
    uid: int
    gid: int

    @property
    def run(self) -> dict[str, Any]:
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path, mode: int) -> None:
        os.chown(path, self.uid, self.gid)
        path.chmod(mode)


def server_account(pgdata: Path) -> Account | None:
    """None: we are not root and run it ourselves. Else the owner of an existing data folder, or our own system account,
    made on first use; `nobody` where this machine has no tool to make one (slim containers).
    """
    if os.geteuid() != 0:
        if pgdata.exists() and pgdata.stat().st_uid != os.geteuid():
            raise ConfigError(
                f"The database in {pgdata} belongs to another user of this machine.",
                hint="Run Memory Desk as that user, or set MEMORY_DESK_DATA_DIR to a folder of your own.",
            )
        return None
    if pgdata.exists() and (owner := pgdata.stat().st_uid) != 0:
        return Account(_name(owner), owner, pgdata.stat().st_gid)
    for name in (NAME, *_created(), "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if name == "nobody":
            log.warning("no system account %s could be made; Postgres runs as nobody", NAME)
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise ConfigError(
        "Postgres refuses to run as root, and this machine has no other account for it.",
        hint=f"Run Memory Desk as an ordinary user, or create a system user named {NAME}.",
    )


def make_reachable(folder: Path, account: Account | None) -> None:
    """Let the account pass through to `folder`. Only the folder itself, which is ours, and folders of ours below the
    temporary directory get the right to be passed through (not read); any other closed parent is refused by name.
    """
    if account is None:
        return
    temporary = Path(os.path.realpath(tempfile.gettempdir()))
    real = Path(os.path.realpath(folder))
    for place in (real, *real.parents):
        if _can_pass(place, account):
            continue
        if place != real and not (temporary in place.parents and place.stat().st_uid == 0):
            raise ConfigError(
                f"Postgres runs as {account.name} and may not enter {place}.",
                hint="Set MEMORY_DESK_DATA_DIR to a folder outside it, for example /var/lib/memory-desk.",
            )
        place.chmod(stat.S_IMODE(place.stat().st_mode) | stat.S_IXGRP | stat.S_IXOTH)


def _can_pass(place: Path, account: Account) -> bool:
    status = place.stat()
    if status.st_uid == account.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == account.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)


def _created() -> tuple[str, ...]:
    """Make the account where there is none yet; tools differ between distributions."""
    try:
        pwd.getpwnam(NAME)
        return ()
    except KeyError:
        pass
    commands = (
        ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", NAME],
        ["adduser", "-S", "-D", "-H", "-s", "/sbin/nologin", NAME],
    )
    for command in commands:
        if shutil.which(command[0]):
            done = subprocess.run(command, capture_output=True, check=False)
            if done.returncode == 0:
                return (NAME,)
    return ()


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError as missing:
        raise ConfigError(
            f"The database files belong to user id {uid}, which this machine does not know.",
            hint="Change their owner to an existing account, or choose another MEMORY_DESK_DATA_DIR.",
        ) from missing
