"""The name of a data folder."""

from __future__ import annotations

import threading
from pathlib import Path

from core.jobs.place import place_of


def test_every_process_of_a_folder_gets_one_name(tmp_path: Path) -> None:
    """Also when many ask at once; another folder has another name."""
    names: list[str] = []
    threads = [threading.Thread(target=lambda: names.append(place_of(tmp_path / "a"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 1 and place_of(tmp_path / "a") == names[0]
    assert place_of(tmp_path / "b") != names[0]
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["place"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A name for this process alone."""
    (tmp_path / "file").write_text("x")
    assert place_of(tmp_path / "file") != place_of(tmp_path / "file")
