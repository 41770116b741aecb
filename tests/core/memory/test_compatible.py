"""Rows of another writer: may we write beside them, or would every chunk double?"""

from __future__ import annotations

import pytest

from core.errors import IncompatibleRows
from core.memory.compatible import compare, require_compatible
from core.memory.keys import both_keys, chunk_hash

TIPS, GENERIC = both_keys("ru-1", "tu-9")


def row(number: int, key: str = TIPS, **changes: object) -> dict:
    text = f"text {number}"
    made = {"dialog_key": key, "source": "note", "source_id": f"n{number}", "text": text}
    return {
        **made,
        "content_hash": chunk_hash(key, "note", f"n{number}", text),
        "client_id": "ru-1",
        "woman_id": "tu-9",
        **changes,
    }


def test_rows_made_by_our_formulas_are_compatible() -> None:
    """Both key orders and a key of the caller's own pass."""
    found = compare([row(1), row(2, GENERIC), row(3, "my own key"), row(4, client_id=None)])
    assert (found.rows, found.other_hash, found.other_key) == (4, 0, 0)
    require_compatible(found)


def test_an_empty_table_is_compatible() -> None:
    """There is nothing to double."""
    require_compatible(compare([]))


def test_another_hash_formula_is_refused_with_the_reason() -> None:
    """The error is a 409 that names the column and the counts."""
    rows = [row(n, content_hash=f"{n:064x}") for n in range(10)]
    with pytest.raises(IncompatibleRows) as refused:
        require_compatible(compare(rows))
    assert refused.value.status == 409
    assert "10 of 10 sampled rows have a content_hash" in refused.value.what


def test_another_key_formula_is_refused() -> None:
    """A digest that neither order of the two known ids gives is another formula."""
    rows = [row(n, "f" * 64) for n in range(10)]
    with pytest.raises(IncompatibleRows, match="dialog_key"):
        require_compatible(compare(rows))


def test_one_row_edited_by_hand_among_many_does_not_stop_every_ingest() -> None:
    """Below a fifth of the sample it is damage; a single row of a single-row table is not."""
    many = [row(n) for n in range(49)] + [row(49, text="edited in the table editor")]
    require_compatible(compare(many))
    with pytest.raises(IncompatibleRows):
        require_compatible(compare([row(1, text="edited")]))
