"""Days of snapshots in a real browser west of Greenwich, the application in a zone east of it: nothing shifts."""

from __future__ import annotations

import csv
import json
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser

TODAY = datetime.now(UTC).date()
WRITTEN = sorted(f"{TODAY - timedelta(days=n)}" for n in (29, 28, 25, 0))
CALENDAR = """() => { const drawn = document.querySelector('.js-plotly-plot').data[0];
  return drawn.x.filter((_, n) => drawn.customdata[0][n] !== 'unknown') }"""


@pytest.fixture(scope="module")
def desk(start_app: Callable[[Mapping[str, str]], str]) -> Iterator[str]:
    """An application without demo data, in the zone of Kyiv, with snapshots of four days."""
    with TemporaryDirectory(prefix="memory-desk-e2e-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        url = start_app(
            {"MEMORY_DESK_DATA_DIR": f"{folder}/data", "MEMORY_DESK_DEMO": "off", "MEMORY_DESK_TZ": "Europe/Kyiv"}
        )
        for day in WRITTEN:
            body = {"ruId": "1", "tuId": "2", "syncDate": day, "notes": [{"text": "a note", "date": day}]}
            request = urllib.request.Request(
                f"{url}/stack-ai/tips/snapshots", json.dumps(body).encode(), {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=30) as answer:
                assert json.load(answer)["written"] == 1
        yield url


def test_the_same_days_everywhere(browser: Browser, desk: str) -> None:
    """Case 25: calendar with its hover, table and file name the stored days; a day of which nothing is known has no
    number; no day after today."""
    context = browser.new_context(timezone_id="America/Los_Angeles", viewport={"width": 1440, "height": 2400})
    page = context.new_page()
    page.goto(f"{desk}/snapshots?window=31")
    expect(page.get_by_text("By day", exact=True)).to_be_visible(timeout=60_000)
    page.wait_for_selector(".js-plotly-plot .xtick text", state="attached", timeout=30_000)
    assert page.evaluate(CALENDAR) == WRITTEN
    for day in WRITTEN:
        expect(page.locator("[role=gridcell]", has_text=day).first).to_be_attached(timeout=30_000)
    cells = page.locator("[role=gridcell]").all_text_contents()
    assert {cell for cell in cells if cell in WRITTEN} == set(WRITTEN)
    assert f"{TODAY + timedelta(days=1)}" not in cells
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV").last.click()
    rows = list(csv.DictReader(Path(waiting.value.path()).read_text("utf-8-sig").splitlines()))
    assert sorted(row["day"] for row in rows if row["entities"]) == WRITTEN
    assert {row["entities"] for row in rows if row["day"] not in WRITTEN} == {""}
    context.close()
