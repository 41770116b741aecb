"""Run every benchmark, one after the other, each in its own process: `python -m bench [NAME ...]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Quick ones first; `locomo` says that it did not run where LOCOMO_DIR is not set.
ORDER = (
    "core_paths",
    "masking",
    "evaluation",
    "companion",
    "pages",
    "start",
    "usage",
    "sql_shapes",
    "retrievals",
    "snapshots",
    "load",
    "locomo",
)


def main(names: list[str]) -> int:
    failed = []
    for name in names or ORDER:
        print(f"\n== {name}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"bench.{name}"], cwd=Path(__file__).parent.parent, check=False)
        if done.returncode:
            failed.append(name)
    if failed:
        print(f"\nDid not finish: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
