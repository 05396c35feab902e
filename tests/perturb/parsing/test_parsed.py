"""A parsed text: its spans, and edits by token."""

import pytest

from vlgate.perturb.text.parsed import Edit, Parsed, Token


def parsed(text, heads=None, **given):
    words = text.split(" ")
    tokens = tuple(
        Token(text=word, space=" " if index < len(words) - 1 else "", lemma=word, tag="", pos="", dep="", head=head)
        for index, (word, head) in enumerate(zip(words, heads or range(len(words)), strict=True))
    )
    return Parsed(text=text, tokens=tokens, **given)


def test_an_article_agrees_with_what_follows_an_edit_and_other_articles_stay():
    text = parsed("An apple on a old table")
    assert text.edited([Edit(span=(1, 2), text="red cup")]) == "A red cup on a old table"
    assert text.edited([Edit(span=(4, 5), text="")]) == "An apple on a table"
    assert text.edited([Edit(span=(5, 6), text="umbrella")]) == "An apple on a old umbrella"


def test_an_insertion_has_its_blank_and_its_article():
    assert parsed("A cup").edited([Edit(span=(1, 1), text="orange")]) == "An orange cup"


def test_a_capital_at_the_start_of_a_sentence_stays_and_only_there():
    text = parsed("A cup. The Ball", sentences=((0, 2), (2, 4)))
    assert text.edited([Edit(span=(0, 1), text="one"), Edit(span=(2, 4), text="two balls")]) == "One cup. Two balls"
    assert text.edited([Edit(span=(3, 4), text="cup")]) == "A cup. The cup"


def test_edits_may_come_in_any_order_but_may_not_overlap():
    text = parsed("p q r t")
    assert text.edited([Edit(span=(3, 4), text="v"), Edit(span=(1, 2), text="u")]) == "p u r v"
    with pytest.raises(ValueError, match="overlaps another edit"):
        text.edited([Edit(span=(0, 2), text="x"), Edit(span=(1, 3), text="y")])
    with pytest.raises(ValueError, match="not in 'p q r t'"):
        text.edited([Edit(span=(3, 5), text="x")])


def test_a_text_without_edits_stays_as_it_is():
    assert parsed("an cup").edited([]) == "an cup"


def test_the_subtree_of_a_token_holds_all_that_depends_on_it():
    text = parsed("a big dog runs in the park", heads=(2, 2, 3, 3, 3, 6, 4))
    assert text.subtree(2) == (0, 3)
    assert text.subtree(4) == (4, 7)
    assert text.said(text.subtree(4)) == "in the park"
    assert text.children(3) == (2, 4)
