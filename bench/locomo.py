"""Evidence recall@12 on the LoCoMo conversations in LOCOMO_DIR, through the HTTP API: ingest, search, ingest again.

Two sessions an ingest, summaries left out, every question with a known answer asked twice: without boosts and with the
default weights. A turn covers itself, a note covers the turns it was made from; recall = covered evidence / evidence.
Then profiles and recipes on the same conversations, in memory: `bench/locomo_profiles.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

from bench.locomo_pool import bodies
from bench.locomo_profiles import covered_by, measure
from core.api import PREFIX, build_routes
from core.bootstrap import build_core
from core.config import read_settings

LIMIT = 12
BUDGETS = {"zero weights": 0.595, "default weights": 0.570}
WEIGHTS: Mapping[str, dict[str, float] | None] = {"zero weights": {}, "default weights": None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="a folder that keeps the vectors of the profiles' part")
    parser.add_argument("--profiles", action="store_true", help="the profiles' part alone")
    options = parser.parse_args()
    if not os.environ.get("LOCOMO_DIR"):
        print("not run: LOCOMO_DIR is not set")
        return
    folder = Path(os.environ["LOCOMO_DIR"])
    if not options.profiles:
        through_the_api(folder)
    measure(folder, options.cache)


def through_the_api(folder: Path) -> None:
    """Ingest, search and ingest again, as another service would."""
    payloads = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("payload_*.json"))]
    lines = (folder / "qrels.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [q for q in map(json.loads, lines) if q["relevant"]]
    with tempfile.TemporaryDirectory(prefix="desk-bench-") as data:
        Path(data).chmod(0o755)
        settings = read_settings(
            {
                "MEMORY_DESK_DATABASE": "embedded",
                "MEMORY_DESK_DATA_DIR": str(Path(data) / "data"),
                "MEMORY_DESK_EMBEDDER": "local",
                "MEMORY_DESK_DEMO": "off",
            }
        )
        with build_core(settings) as core:
            app = Starlette(routes=build_routes(lambda: core))
            client = TestClient(app, base_url="http://127.0.0.1:8501", client=("127.0.0.1", 50000))
            ingest(client, payloads, "first")
            report(client, questions)
            ingest(client, payloads, "again")


def ingest(client: TestClient, payloads: list[dict[str, Any]], which: str) -> None:
    """Every conversation, two sessions at a time; the totals of what the API said it did."""
    began = time.perf_counter()
    totals: dict[str, int] = defaultdict(int)
    for payload in payloads:
        for body in bodies(payload):
            answer = post(client, "/memory/ingest", body)
            for name in ("totalChunks", "added", "reembedded"):
                totals[name] += answer[name]
    embedded = totals["added"] + totals["reembedded"]
    print(
        f"ingest, {which}: {len(payloads)} conversations, {totals['totalChunks']:,} chunks, added {totals['added']:,}, "
        f"embedded {embedded:,}, {time.perf_counter() - began:.0f} s",
        flush=True,
    )


def report(client: TestClient, questions: list[dict[str, Any]]) -> None:
    """Recall by category and overall, for each set of weights."""
    for name, weights in WEIGHTS.items():
        recalls: dict[str, list[float]] = defaultdict(list)
        began = time.perf_counter()
        for question in questions:
            body: dict[str, Any] = {
                "dialogKey": question["dialog"],
                "query": question["question"],
                "limit": LIMIT,
                "explain": True,
            }
            if weights is not None:
                body["sourceWeights"] = weights
            rows = post(client, "/memory/search", body)["results"]
            wanted = set(question["relevant"])
            covered = {turn for row in rows for turn in covered_by(row["source"], row["source_id"])} & wanted
            recalls[question["category_name"]].append(len(covered) / len(wanted))
        each = (time.perf_counter() - began) / len(questions) * 1000
        overall = statistics.fmean(recall for group in recalls.values() for recall in group)
        print(
            f"recall@{LIMIT}, {name}: {overall:.3f} over {len(questions)} questions (at least {BUDGETS[name]:.3f}), "
            f"{each:.0f} ms a question",
            flush=True,
        )
        for category, group in sorted(recalls.items()):
            print(f"  {category}: {statistics.fmean(group):.3f} ({len(group)})")


def post(client: TestClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(PREFIX + path, json=body)
    if answer.status_code != 200:
        raise SystemExit(f"{path}: {answer.status_code} {answer.text}")
    return answer.json()


if __name__ == "__main__":
    main()
