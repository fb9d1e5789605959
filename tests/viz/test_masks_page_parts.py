"""The parts of the Masks page that need no page: words that differ."""

from __future__ import annotations

from model_core.trace import Token
from viz.panels.masks.words import differing, marked_html, told_apart


def test_words_that_the_other_has_not_are_marked() -> None:
    before, after = differing("Je ne parle pas français", "Je parle le français là")
    assert [word for word, differs in before if differs] == ["ne", "pas"]
    assert [word for word, differs in after if differs] == ["le", "là"]


def test_words_are_never_markup() -> None:
    drawn = marked_html([("<b>&", False), ('<img src=x onerror="f()">', True)])
    assert "&lt;b&gt;&amp;" in drawn and "<img" not in drawn and "<b>" not in drawn and drawn.count("<mark ") == 1
    assert "empty translation" in marked_html([])


def test_two_tokens_of_one_text_are_told_apart() -> None:
    """As after “Comment”, where “▁?” and “?” both are likely."""
    tokens = [Token(3, "▁?", "?", 0, False), Token(4, "▁vas", "vas", 1, False), Token(5, "?", "?", 2, False)]
    assert told_apart(tokens) == ["▁?", "vas", "?"]
