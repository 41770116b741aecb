"""The lexical fallback: equal to the existing backend's values, with apostrophes folded beside it on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from core.embedding.lexical import fold_apostrophes, lexical_cosine, lexical_terms, lexical_vector

# Golden values of the existing backend.
GOLDEN = {
    "": {},
    "Hello, hello world!": {19: 0.447214, 43: 0.894427},
    "Він переживає через довіру": {14: 0.5, 76: 0.5, 87: 0.5, 102: 0.5},
    "he worries about trust": {14: 0.5, 54: 0.5, 62: 0.5, 117: 0.5},
    "日本語 テキスト 123": {27: 0.57735, 78: 0.57735, 117: 0.57735},
    "naïve café 😀 don't": {14: 0.5, 35: 0.5, 76: 0.5, 124: 0.5},
    "A1b2 C3-d4_e5": {51: 0.5, 69: 0.5, 79: 0.5, 87: 0.5},
    "МОСКВА москва": {50: 1},
    "  \n\t ": {},
    "1234567890 0987654321": {18: 0.707107, 68: 0.707107},
}


@pytest.mark.parametrize("text", GOLDEN)
def test_golden(text: str) -> None:
    """Every golden value, to the sixth decimal."""
    vector = lexical_vector(text)
    assert vector.shape == (128,)
    assert {int(at): round(float(vector[at]), 6) for at in np.flatnonzero(vector)} == GOLDEN[text]


def test_javascript_words() -> None:
    """U+02BC is a letter, ' and ’ are gaps; final sigma, dotted I and surrogate pairs as JavaScript has them."""
    assert np.count_nonzero(lexical_vector("сімʼя")) == 1
    assert np.count_nonzero(lexical_vector("сім'я")) == 2
    np.testing.assert_array_equal(lexical_vector("сім'я"), lexical_vector("сім’я"))
    np.testing.assert_array_equal(lexical_vector("ΣΑΣ"), lexical_vector("σας"))
    np.testing.assert_array_equal(lexical_vector("İs"), lexical_vector("i s"))
    assert np.count_nonzero(lexical_vector("𐐀")) == 1


@pytest.mark.parametrize("typed", ["сім'я", "сім’я", "сімʼя", "СІМ’Я"])
def test_three_apostrophes_one_word(typed: str) -> None:
    """Each spelling is one and the same term, and folded texts have equal vectors."""
    assert lexical_terms(f"Моя {typed}, п'ять!") == ["моя", "сімʼя", "пʼять"]
    np.testing.assert_array_equal(lexical_vector(fold_apostrophes(typed)), lexical_vector(fold_apostrophes("сім'я")))


def test_quotation_marks_are_no_letters() -> None:
    """An apostrophe at the edge of a word is a gap whichever it is, and numbers have no apostrophe inside."""
    assert lexical_terms("'so' ʼsoʼ ’so’ 5'11") == ["so", "so", "so", "5", "11"]
    assert lexical_terms("''сім''я") == ["сім", "я"]


def test_terms_see_through_composition() -> None:
    """й as one or as two code points is the same term."""
    assert lexical_terms("мі\u0439") == lexical_terms("мі\u0438\u0306")


def test_cosine_of_nothing_is_zero() -> None:
    """A text without words has cosine 0 with everything, not NaN."""
    rows = np.array([lexical_vector(t) for t in ("he worries", "", "worries he")])
    np.testing.assert_allclose(lexical_cosine(lexical_vector("he worries"), rows), [1, 0, 1], atol=1e-6)
    assert not lexical_cosine(lexical_vector(""), rows).any()
