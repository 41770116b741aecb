"""The name of a data folder, so that a job that needs its files is done where they lie."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

FILE = "place"


def place_of(data_dir: Path) -> str:
    """A random name kept in the folder, made at the first call; the same for every process of the folder.

    A folder that cannot be written has a name for the life of this process: nothing of ours lies in it anyway.
    """
    path = data_dir / FILE
    for _ in range(2):
        try:
            name = path.read_text(encoding="ascii").strip()
            if name:
                return name
        except (OSError, UnicodeError):
            pass
        name = uuid.uuid4().hex
        try:
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            mine = path.with_name(f"{FILE}.{name}")
            mine.write_text(name, encoding="ascii")
            try:
                os.link(mine, path)  # fails where another process was quicker: then theirs is read
            finally:
                mine.unlink()
        except OSError:
            continue
        return name
    return uuid.uuid4().hex
