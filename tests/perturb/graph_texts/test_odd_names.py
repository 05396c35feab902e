"""Names that read in no text, as annotators leave them: with other words, signs, digits, or in other languages."""

import pytest
from graphs import thing, whole

from vlgate.perturb.foils.candidates import Foil
from vlgate.perturb.graphs.attributes import attribute_foils
from vlgate.perturb.graphs.checklist import Words, vocabulary_of
from vlgate.perturb.graphs.names import unsaid
from vlgate.perturb.graphs.objects import object_foils
from vlgate.perturb.graphs.relations import relation_foils
from vlgate.perturb.graphs.two_persons import active_passive, coordination, relative_clause
from vlgate.perturb.ontology import default_ontology

ONTOLOGY = default_ontology()


def texts_of(man="man", hat="hat", bed="bed"):
    """The texts that each kind makes of a graph with these names."""
    made = whole(
        thing("m", man, (0, 0, 400, 800), carrying="c", wearing="h", holding="r", on="b"),
        thing("c", "child", (500, 0, 300, 800), wearing="t", holding="k"),
        thing("h", hat, (10, 10, 100, 100)),
        thing("t", "helmet", (510, 10, 100, 100)),
        thing("r", "racket", (10, 300, 100, 100)),
        thing("k", "kite", (510, 300, 100, 100)),
        thing("b", bed, (0, 500, 400, 400), attributes=("wooden",)),
    )
    words = Words(vocabulary=vocabulary_of([made], ONTOLOGY), ontology=ONTOLOGY, most=9)
    found = [kind(made) for kind in (active_passive, coordination, relative_clause)]
    found += [kind(made, words) for kind in (object_foils, attribute_foils, relation_foils)]
    assert all(one.candidates or one.refused for one in found)
    return [[text for part in one.candidates for text in _texts(part)] for one in found]


def _texts(part):
    return (part.caption, part.foil) if isinstance(part, Foil) else (*part.true, *part.false)


ODD = "the or man|the the man|or man|man with|no man|this man|man man|man.|man, woman|café man|...|42|3 men|o|мужчина"
ODD += f"|男|gribbleflax man|{'m' * 200}|{'man ' * 20}man"


@pytest.mark.parametrize("odd", ODD.split("|"))
@pytest.mark.parametrize("of", ["man", "hat", "bed"])
def test_an_odd_name_is_in_no_text_of_any_kind(odd, of):
    name = " ".join(odd.replace("man", of).split())
    assert unsaid(name, ONTOLOGY)
    texts = [text for of_kind in texts_of(**{of: name}) for text in of_kind]
    assert not any(f" {name} " in f" {text} " for text in texts)


def test_other_names_are_in_the_texts():
    assert [bool(texts) for texts in texts_of()] == [True, True, True, False, True, False]
    assert any("tennis hat" in text for texts in texts_of(hat="tennis hat") for text in texts)
    for name in ("salt and pepper shaker", "women's hat", "t-shirt", "jean shorts", "fire truck", "glass of water"):
        assert not unsaid(name, ONTOLOGY)
