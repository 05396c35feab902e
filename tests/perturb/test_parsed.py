"""Parsing with a real spaCy pipeline; the spans of a parsed text, and edits by token."""

import subprocess
import sys

import pytest

from vlgate.errors import ModelLoadError
from vlgate.perturb.text.parsed import Edit, Parsed, Token
from vlgate.perturb.text.spacy_parser import LONGEST, spacy_parser


def plain(text, heads=None, **given):
    words = text.split(" ")
    tokens = tuple(
        Token(text=word, space=" " if index < len(words) - 1 else "", lemma=word, tag="", pos="", dep="", head=head)
        for index, (word, head) in enumerate(zip(words, heads or range(len(words)), strict=True))
    )
    return Parsed(text=text, tokens=tokens, **given)


def test_an_article_agrees_with_what_follows_an_edit_and_other_articles_stay():
    text = plain("An apple on a old table")
    assert text.edited([Edit(span=(1, 2), text="red cup")]) == "A red cup on a old table"
    assert text.edited([Edit(span=(4, 5), text="")]) == "An apple on a table"
    assert text.edited([Edit(span=(5, 6), text="umbrella")]) == "An apple on a old umbrella"


def test_an_insertion_has_its_blank_and_its_article():
    assert plain("A cup").edited([Edit(span=(1, 1), text="orange")]) == "An orange cup"


def test_a_capital_at_the_start_of_a_sentence_stays_and_only_there():
    text = plain("A cup. The Ball", sentences=((0, 2), (2, 4)))
    assert text.edited([Edit(span=(0, 1), text="one"), Edit(span=(2, 4), text="two balls")]) == "One cup. Two balls"
    assert text.edited([Edit(span=(3, 4), text="cup")]) == "A cup. The cup"


def test_edits_may_come_in_any_order_but_may_not_overlap():
    text = plain("p q r t")
    assert text.edited([Edit(span=(3, 4), text="v"), Edit(span=(1, 2), text="u")]) == "p u r v"
    with pytest.raises(ValueError, match="overlaps another edit"):
        text.edited([Edit(span=(0, 2), text="x"), Edit(span=(1, 3), text="y")])
    with pytest.raises(ValueError, match="not in 'p q r t'"):
        text.edited([Edit(span=(3, 5), text="x")])


def test_a_text_without_edits_stays_as_it_is():
    assert plain("an cup").edited([]) == "an cup"


def test_the_subtree_of_a_token_holds_all_that_depends_on_it():
    text = plain("a big dog runs in the park", heads=(2, 2, 3, 3, 3, 6, 4))
    assert text.subtree(2) == (0, 3)
    assert text.subtree(4) == (4, 7)
    assert text.said(text.subtree(4)) == "in the park"
    assert text.children(3) == (2, 4)


pytest.importorskip("spacy")
HARD = ["", "   ", "\n", "🐱 on a 🪑", "<b>a dog</b>", "EIN HUND", "a dog. a cat.", "Ein Hund läuft"]


def test_a_caption_has_its_parts_of_speech_relations_and_noun_phrases(parser):
    [text] = parser.parse(["Two cats are sleeping on the old sofa."])
    assert [(token.lower, token.tag, token.dep) for token in text.tokens][:4] == [
        ("two", "CD", "nummod"),
        ("cats", "NNS", "nsubj"),
        ("are", "VBP", "aux"),
        ("sleeping", "VBG", "ROOT"),
    ]
    assert [text.said(chunk) for chunk in text.chunks] == ["Two cats", "the old sofa"]
    assert text.tokens[text.tokens[1].head].lemma == "sleep"
    assert parser.name.startswith("en_core_web_sm 3.")


def test_the_lemma_of_a_verb_or_noun_is_one_of_the_dictionary(parser):
    (text,) = parser.parse(("A man riding a horse is staring at vases.",))
    assert {"ride", "stare", "vase"} <= {token.lemma for token in text.tokens}


def test_the_tokens_of_any_text_join_to_the_text(parser):
    for text, parsed in zip(HARD, parser.parse(HARD), strict=True):
        assert parsed.text == text
        assert "".join(token.text + token.space for token in parsed.tokens) == text


@pytest.mark.parametrize("text", ["a dog " * (LONGEST // 6 + 1), "a \ud800 dog"])
def test_a_text_that_is_no_caption_keeps_its_text_but_has_no_tokens(parser, text):
    other, found, last = parser.parse(["a cat", text, "a cup"])
    assert (found.text, found.tokens) == (text, ())
    assert (other.tokens[1].text, last.tokens[1].text) == ("cat", "cup")


def test_parsing_loads_no_torch_and_leaves_it_to_others():
    pytest.importorskip("torch")
    program = (
        "import sys; from vlgate.perturb.text.spacy_parser import spacy_parser; next(spacy_parser().parse(['a cat']));"
        "assert 'torch' not in sys.modules; import torch; torch.zeros(1)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", ["en_core_web_none", "no/such/folder", "json"])
def test_without_a_pipeline_the_error_says_how_to_get_one(name):
    with pytest.raises(ModelLoadError, match="spacy download en_core_web_sm"):
        spacy_parser(name)


def test_a_pipeline_that_does_not_parse_english_is_refused(tmp_path):
    import spacy

    spacy.blank("de").to_disk(tmp_path / "de")
    with pytest.raises(ModelLoadError, match="is not for English"):
        spacy_parser(str(tmp_path / "de"))
