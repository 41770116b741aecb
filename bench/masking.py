"""Masking: what it finds of labelled examples, and what it costs: characters a second, and a page of 25 rows.

The examples are those of the tests: forms of names written by hand from the grammars, explicit words and false friends.
A miss was mended where it was seen, so a full row says that nothing was lost since. What was found of examples written
after the rules: 88 of 113 forms of names, where every one missed was a pet name, and 35 of 49 explicit words.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from core.access.masking import Known, Mask
from core.access.masking.names import forms_of

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "tests" / "core" / "access" / "masking"
DIALOGS = ROOT / "core" / "services" / "demo_data"
ROWS, HOSTILE = 25, 200_000


def main() -> None:
    began = time.perf_counter()
    Mask(Known(("Олена",))).text("Олена")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    print(f"first text, dictionaries opened      {1e3 * (time.perf_counter() - began):8.0f} ms, {memory:.0f} MB in all")
    _names()
    _explicit()
    _speed()
    _hostile()


def _names() -> None:
    asked, found = Counter[str](), Counter[str]()
    names = set()
    for kind, name, forms in _lines("names.txt"):
        names.add(name)
        mask = Mask(Known((name,)))
        for form in forms.split():
            asked[kind] += 1
            found[kind] += mask.text(f"і {form} є").replace("’", "'") in ("і [name] є", "і [name]' є")
    for kind in asked:
        print(f"names, {kind:<12} recall           {found[kind]:5} of {asked[kind]}")
    words = {word for text in _texts() for word in text.split() if word.isalpha() and word.islower()}
    hits = sum(forms.hold(word) for forms in map(forms_of, ((name,) for name in names)) for word in words)
    print(
        f"lower-case words of the demo dialogs taken for a name: {hits} of {len(words) * len(names)} (each name alone)"
    )


def _explicit() -> None:
    mask, count = Mask(), Counter[tuple[str, bool]]()
    for line in (EXAMPLES / "explicit.txt").read_text("utf-8").splitlines():
        if line[0] in "+~-":
            for word in line[1:].strip().split(" | "):
                count["-" if line[0] == "-" else "+", "[explicit]" in mask.text(f"і {word} є")] += 1
    hits, misses, wrong, right = count["+", True], count["+", False], count["-", True], count["-", False]
    print(f"explicit words, recall               {hits:5} of {hits + misses}")
    print(f"explicit words, precision            {hits:5} of {hits + wrong}; false friends let be {right}")


def _speed() -> None:
    texts = list(_texts())
    mask = Mask(Known(("Олена Шевченко", "Robert Smith"), ("70312", "3101")))
    began = time.perf_counter()
    for text in texts:
        mask.spans(text)
    took = time.perf_counter() - began
    print(f"spans                                {sum(map(len, texts)) / took:8,.0f} characters a second")
    began = time.perf_counter()
    for text in texts:
        mask.text(text)
    took = time.perf_counter() - began
    print(f"a page of {ROWS} rows, first time        {1e3 * took / len(texts) * ROWS:8.1f} ms")


def _hostile() -> None:
    for piece in ("1 ", "a.", "a@", "f ", "a-", "(", "Олена "):
        mask = Mask(Known(("Олена",)))
        text = (piece * HOSTILE)[:HOSTILE]
        began = time.process_time()
        mask.text(text)
        print(f"{HOSTILE:,} characters of {piece!r:<10}      {time.process_time() - began:8.2f} s")


def _lines(name: str) -> Iterator[tuple[str, str, str]]:
    for line in (EXAMPLES / name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, person, forms = (part.strip() for part in line.split("|"))
            yield kind, person, forms


def _texts() -> Iterator[str]:
    """Every longer text of the invented dialogs."""
    for path in sorted(DIALOGS.glob("*.json")):
        yield from (text for text in _inside(json.loads(path.read_text("utf-8"))) if len(text) > 20)


def _inside(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _inside(one)


if __name__ == "__main__":
    main()
