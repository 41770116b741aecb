"""Whether somebody else writes into the memory: then a switch of the recipe is refused.

The rule: a chunk of the service's model, or of ours under its plain name, created in the last 30 days, no demo data,
whose dialog and source no ingest of ours has on record, or which is newer than the last one on record. An ingest of
ours stamps both in the transaction that writes, so its own chunks never are.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.db.client import Database
from core.embedding.recipe import PLAIN, Recipe
from core.errors import ConflictError
from core.services.reembed import SERVICE_MODEL


class AnotherWriter(ConflictError):
    """409: its searches would no longer find the rows of the new recipe."""

    code = "another_writer"


@dataclass(frozen=True)
class OtherWriter:
    """Chunks of the last 30 days that no ingest of ours accounts for; `newest` ISO text."""

    chunks: int
    dialogs: int
    newest: str | None = None

    def refusal(self, target: Recipe) -> str | None:
        """Why a switch to `target` is refused, in words. Back to plain never is: that is what the other's rows and
        queries match."""
        if target == PLAIN or not self.chunks:
            return None
        return (
            f"Another writer is active: {self.chunks:,} chunks in {self.dialogs:,} dialogs were written in the last "
            "30 days by no ingest of this product. Its queries and rows would no longer match."
        )


def other_writer(db: Database, base: str) -> OtherWriter:
    """`base`: the active model's own name. SQL: desk_other_writer. Errors: DatabaseError."""
    params = {"p_models": sorted({base, SERVICE_MODEL})}
    return OtherWriter(**db.rpc("desk_other_writer", params, read=True, returns=dict))
