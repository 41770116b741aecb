"""Every page over the demo data in Streamlit's own test runner: milliseconds for a warm run, as an operator sees it."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from core.events import LOCAL_OPERATOR, run_as

ROOT = Path(__file__).parent.parent
FRAME = ROOT / "pages" / "_shared" / "frame.py"


def main(runs: int = 7) -> None:
    with run_as(LOCAL_OPERATOR), tempfile.TemporaryDirectory(prefix="desk-bench-") as folder:
        Path(folder).chmod(0o755)
        os.environ["MEMORY_DESK_DATA_DIR"] = str(Path(folder) / "data")
        from pages._shared.resources import core

        built = core()
        deadline = time.monotonic() + 60
        while built.dialogs.overview().chunks == 0 and time.monotonic() < deadline:
            time.sleep(0.2)
        try:
            report(runs)
        finally:
            built.close()


def report(runs: int) -> None:
    medians = {}
    for page in sorted((ROOT / "pages").glob("*.py")):
        app = AppTest.from_file(str(FRAME), default_timeout=60).run()
        app.switch_page(str(page)).run()
        assert not app.exception, f"{page.name}: {app.exception}"
        times = []
        for _ in range(runs):
            began = time.perf_counter()
            app.run()
            times.append((time.perf_counter() - began) * 1000)
        medians[page.stem] = statistics.median(times)
        print(f"{page.stem}: median {medians[page.stem]:.0f} ms, slowest {max(times):.0f} ms (budget 1000 ms)")
    print(f"all pages: median of medians {statistics.median(medians.values()):.0f} ms (budget 300 ms)")


if __name__ == "__main__":
    main()
