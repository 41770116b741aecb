"""The demo's labelled queries: two invented query sets over the demo dialogs, graded by an invented judge.

`demo_judged.json` names chunks by their source id, `#n` being the n-th piece of a long note. The judge has read each
dialog whole: every chunk that is not named was found not relevant, and is written with grade 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from core.db.client import Database
from core.memory.chunks import Chunk
from core.services.demo_content import DemoDialog
from core.services.demo_marks import demo_id

FILE = Path(__file__).with_name("demo_judged.json")


def write_judged(db: Database, dialogs: Sequence[DemoDialog]) -> int:
    """Write the query sets that are not there yet, one transaction each; the number of queries written.

    Errors: DatabaseError. SQL: desk_write_demo_query_set.
    """
    written = 0
    for made in query_sets(dialogs):
        written += int(db.rpc("desk_write_demo_query_set", {"p_set": made}, read=False, returns=dict)["queries"])
    return written


def query_sets(dialogs: Sequence[DemoDialog]) -> list[dict[str, Any]]:
    """Sets as `desk_write_demo_query_set` takes them, of these dialogs: grades by content hash, without those of 0."""
    known = {dialog.name: dialog for dialog in dialogs}
    raw = _file()
    return [
        {
            "id": demo_id("query set", one["name"]),
            "name": one["name"],
            "note": one["note"],
            "judge": raw["judge"],
            "queries": [
                _query(one["name"], query, known[query["dialog"]])
                for query in one["queries"]
                if query["dialog"] in known
            ],
        }
        for one in raw["sets"]
    ]


def _query(name: str, query: Mapping[str, Any], dialog: DemoDialog) -> dict[str, Any]:
    chunks = [chunk for ingest in dialog.ingests for chunk in ingest.chunks]
    return {
        "id": demo_id("query", name, dialog.name, query["query"]),
        "dialog_key": dialog.ingests[0].owner.dialog_key,
        "query": query["query"],
        "category": query["category"],
        "grades": {
            chunk.content_hash: int(grade)
            for grade, places in query["grades"].items()
            for place in places
            for chunk in named(place, chunks)
        },
    }


def named(place: str, chunks: Iterable[Chunk]) -> list[Chunk]:
    """The chunks that a place names. Errors: ValueError where there is none, a mistake in the file."""
    source_id, _, piece = place.partition("#")
    found = [
        chunk
        for chunk in chunks
        if chunk.source_id == source_id and (not piece or chunk.original_id.endswith(f":{source_id}:{piece}"))
    ]
    if not found:
        raise ValueError(f"no demo chunk is named {place}")
    return found


@cache
def _file() -> Mapping[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))
