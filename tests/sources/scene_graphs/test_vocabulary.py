"""The words that users' own files add to the ontology."""

import json

import pytest

from vlgate.errors import DataError
from vlgate.perturb.ontology import default_ontology
from vlgate.sources.graphs.files import vocabulary_of, with_words

NOUN = {"name": "zorbot", "number": "singular", "parents": ("device",)}
ATTRIBUTE = {"name": "zorbing", "category": "", "before": True, "after": "zorbing", "rank": 5}
RELATION = {"name": "welded to", "text": "welded to", "that": True, "inverse": "", "asymmetric": False}


def test_a_users_words_are_part_of_the_ontology():
    words = {"nouns": (NOUN,), "attributes": (ATTRIBUTE,), "relations": (RELATION,)}
    ontology = with_words(default_ontology(), words)
    assert "device" in ontology.hypernyms("zorbot")
    assert ontology.attributes["zorbing"].after == "zorbing"
    assert ontology.relations["welded to"].that
    assert ontology.attributes.keys() - default_ontology().attributes.keys() == {"zorbing"}
    assert not default_ontology().knows("zorbot")


def test_two_files_may_bring_the_same_word():
    once = with_words(default_ontology(), {"nouns": (NOUN,)})
    assert with_words(once, {"nouns": (NOUN,)}) is once


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"nouns": ({**NOUN, "name": "dog"},)}, "name='dog'"),
        ({"nouns": ({**NOUN, "parents": ("gizmometer",)},)}, "zorbot"),
        ({"attributes": ({**ATTRIBUTE, "category": "colour"},)}, "category='colour'; did you mean 'color'?"),
    ],
)
def test_words_that_do_not_fit_are_named_with_their_file(tmp_path, words, says):
    with pytest.raises(ValueError, match=says):
        with_words(default_ontology(), words)
    graph = {"image": "1.jpg", "objects": []}
    (tmp_path / "mine.json").write_text(json.dumps({"graphs": [graph], "words": words}))
    with pytest.raises(DataError, match=r"mine\.json, record 'words': "):
        vocabulary_of([tmp_path / "mine.json"])
