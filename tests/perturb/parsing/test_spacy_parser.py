"""Parsing with a real spaCy pipeline."""

import pytest

from vlgate.errors import ModelLoadError
from vlgate.perturb.text.spacy_parser import LONGEST, spacy_parser

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


def test_the_tokens_of_any_text_join_to_the_text(parser):
    for text, parsed in zip(HARD, parser.parse(HARD), strict=True):
        assert parsed.text == text
        assert "".join(token.text + token.space for token in parsed.tokens) == text


@pytest.mark.parametrize("text", ["a dog " * (LONGEST // 6 + 1), "a \ud800 dog"])
def test_a_text_that_is_no_caption_keeps_its_text_but_has_no_tokens(parser, text):
    other, found, last = parser.parse(["a cat", text, "a cup"])
    assert (found.text, found.tokens) == (text, ())
    assert (other.tokens[1].text, last.tokens[1].text) == ("cat", "cup")


@pytest.mark.parametrize("name", ["en_core_web_none", "no/such/folder", "json"])
def test_without_a_pipeline_the_error_says_how_to_get_one(name):
    with pytest.raises(ModelLoadError, match="spacy download en_core_web_sm"):
        spacy_parser(name)


def test_a_pipeline_that_does_not_parse_english_is_refused(tmp_path):
    import spacy

    spacy.blank("de").to_disk(tmp_path / "de")
    with pytest.raises(ModelLoadError, match="is not for English"):
        spacy_parser(str(tmp_path / "de"))
