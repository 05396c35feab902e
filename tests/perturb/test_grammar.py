"""Articles, the dictionary, plurals and singulars of nouns, verbs in all forms, and clauses in both voices."""

import gzip
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from builders import table, tabled
from hypothesis import given
from hypothesis import strategies as st

from vlgate.fixtures.scenes.objects.looks import KINDS
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.text.grammar import (
    Entries,
    article,
    capitalised_like,
    either_number,
    form,
    forms,
    is_word,
    lemmas,
    may_be_plural,
    only_span,
    plural,
    put,
    regular_plural,
    regular_singular,
    singular,
    with_article,
)
from vlgate.perturb.text.sentences import (
    Predicate,
    Verb,
    active,
    bare_or_a,
    number_of,
    object_of,
    passive,
    read_predicate,
)

TABLE = Path(__file__).with_name("grammar.tsv")


@pytest.mark.parametrize(("phrase", "expected"), table(TABLE, "article_follows_the_sound"))
def test_article_follows_the_sound(phrase, expected):
    assert article(phrase) == expected
    assert with_article(phrase) == f"{expected} {phrase}"


@tabled
def test_only_span_wants_one_occurrence_of_whole_words(text, phrase, expected):
    assert only_span(text, phrase) == expected


@pytest.mark.parametrize(("text", "old", "new", "expected"), table(TABLE, "put_keeps_capitals_and_mends_articles"))
def test_put_keeps_capitals_and_mends_articles(text, old, new, expected):
    assert put(text, only_span(text, old), new) == expected


@given(st.text(), st.text())
def test_capitalised_like_changes_the_first_letter_only(model, phrase):
    assert capitalised_like(model, phrase).endswith(phrase[1:])
    assert capitalised_like(model.lower(), phrase) == phrase or model.lower()[:1].isupper()


# The dictionary says what the library says, although it reads only the entries that are asked for.

WORDS = ("left", "leaves", "saw", "axes", "lay", "can", "be", "dare", "ought", "o'clock", "gribbleflax")


@pytest.mark.parametrize(("name", "file"), [("LemmaLUCodec", "lemma_lu"), ("InflectionLUCodec", "infl_lu")])
def test_each_word_has_the_entry_that_the_library_reads(name, file):
    library = pytest.importorskip("lemminflect")
    load = getattr(import_module(f"lemminflect.codecs.{name}"), name).load
    path = Path(library.__file__).parent / f"resources/{file}.csv.gz"
    entries, whole = Entries(path, load), load(path)
    assert {word: entries.get(word) for word in WORDS} == {word: whole.get(word) for word in WORDS}
    assert entries.keys() == whole.keys()


def test_words_are_looked_up():
    assert (lemmas("axes", "NOUN"), form("wolf", "NNS")) == (("axe", "axis", "ax"), ("wolves",))
    assert (forms("can", "AUX")["VBD"], is_word("saw"), is_word("gribbleflax")) == (("could",), True, False)


def test_an_entry_is_read_once_and_when_it_is_looked_up(tmp_path):
    read = []

    def load(file):
        lines = gzip.decompress(file.read()).decode().splitlines()
        read.append(lines)
        return {"be": "always"} | {line.split(",")[0]: lines for line in lines}

    file = tmp_path / "words.csv.gz"
    file.write_bytes(gzip.compress(b"axe,noun\naxes,noun\naxes,verb\nbear,noun\n"))
    entries = Entries(file, load)
    assert (sorted(entries), len(entries), "bea" in entries) == (["axe", "axes", "be", "bear"], 4, False)
    assert (entries["axes"], entries["axes"], entries["be"]) == (["axes,noun", "axes,verb"],) * 2 + ("always",)
    assert read == [[], ["axes,noun", "axes,verb"]]


# Plurals and singulars of nouns.

NOUNS = default_ontology().nouns
PAIRS = [(noun.name, noun.other) for noun in NOUNS.values() if noun.number == "singular" and noun.other]
ZERO = ("aircraft", "bison", "deer", "fish", "moose", "salmon", "sheep", "shrimp", "tuna")

# Quirk et al. 1985, "A Comprehensive Grammar of the English Language", 5.76 to 5.103; of two usual plurals both.
# "axes" and "bases" have two singulars; the ontology has those of "axe" and "base".
FORMS = [forms.split() for forms in table(TABLE, "irregular")]
PLURAL_ONLY = (
    "scissors pants jeans trousers shorts sunglasses goggles binoculars tweezers pliers tongs shears pajamas pyjamas "
    "tights leggings overalls dungarees slacks khakis knickers breeches clothes bellows briefs spectacles headphones "
    "eyeglasses"
).split()


def test_the_ontology_has_the_first_word():
    pairs = [(one, many, plural(one), singular(many), plural(many)) for one, many in PAIRS if one not in ZERO]
    assert pairs == [(one, many, many, one, None) for one, many in PAIRS if one not in ZERO]
    assert [(plural(noun), singular(noun)) for noun in ZERO] == [(noun, noun) for noun in ZERO]
    one_number = [noun.name for noun in NOUNS.values() if not noun.other and noun.name not in ZERO]
    assert [name for name in one_number if plural(name) or singular(name)] == []
    assert [one for one, many in PAIRS[::7] if not {one, many} <= either_number(one)] == []


def test_irregular_nouns_are_right_or_unknown():
    for one, *many in FORMS:
        assert plural(one) in {*many, None}, one
        assert {singular(word) for word in many} <= {one, {"axis": "axe", "basis": "base"}.get(one), None}, one
    assert len({one for one, *_ in FORMS if plural(one) is not None}) >= 100


@pytest.mark.parametrize("before", ["", "two ", "blue denim "])
def test_what_has_only_a_plural_has_no_singular(before):
    assert [noun for noun in PLURAL_ONLY if singular(before + noun) or plural(before + noun)] == []
    assert all(map(may_be_plural, PLURAL_ONLY))


@pytest.mark.parametrize(("one", "many"), table(TABLE, "phrases_capitals_and_words_of_the_dictionary"))
def test_phrases_capitals_and_words_of_the_dictionary(one, many):
    assert plural(one) == many
    assert singular(many) == one


def test_what_is_not_known_is_left_alone():
    assert [word for word in table(TABLE, "what_is_not_known_is_left_alone") if plural(word) or singular(word)] == []
    unsure = ("glass", "bus", "lens", "dress", "cactus", "gas", "news", "series", "tennis", "staves", "movies")
    assert [word for word in unsure if singular(word)] == []


@given(st.text())
def test_any_text_has_an_answer(text):
    for found in (plural(text), singular(text)):
        assert found is None or found


def test_rules_of_spelling():
    pairs = {"day": "days", "berry": "berries", "church": "churches", "glass": "glasses", "fez": "fezes"}
    assert {pair: regular_plural(pair) for pair in pairs} == pairs
    assert [regular_singular(many) for many in pairs.values()] == [*list(pairs)[:4], "feze"]
    for word in ("glass", "cup", "red", "ss", ""):
        assert (regular_singular(word), may_be_plural(word)) == (None, False)


@pytest.mark.parametrize("code", ["vlgate.judging.answers", "vlgate.perturb.text.rewriting", "vlgate.perturb.ontology"])
def test_the_dictionary_is_not_read_before_it_is_asked(code):
    code = (
        f"import sys, {code}; from vlgate.perturb.ontology import default_ontology; default_ontology()\n"
        "from vlgate.perturb.text.grammar import plural; assert plural('cup') == 'cups'\n"
        "assert not any('lemminflect' in name for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.slow
def test_the_dictionary_is_read_without_spacy():
    code = (
        "import sys\n"
        "from vlgate.perturb.text.grammar import plural, singular\n"
        "from vlgate.perturb.text.sentences import read_predicate\n"
        "assert (plural('wombat'), singular('wombats')) == ('wombats', 'wombat')\n"
        "assert read_predicate('was lifting').verb.base == 'lift'\n"
        "assert 'spacy' not in sys.modules\n"
        "import lemminflect; assert lemminflect.getInflection('wombat', 'NNS') == ('wombats',)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_every_drawn_kind_can_be_counted():
    assert all(singular(plural(kind) or "") == kind for kind in KINDS)


@tabled
def test_a_relation_is_read_as_a_verb_in_its_voice(text: str, base: str, rest: str, *, is_passive: bool) -> None:
    assert read_predicate(text) == Predicate(verb=Verb(base=base, rest=rest), passive=is_passive)


@pytest.mark.parametrize(
    "text", ["on", "next to", "in front of", "near", "", "is", "of", "blorping", "左", "42", "by", "wearing white"]
)
def test_a_relation_without_a_verb_is_refused(text: str) -> None:
    assert read_predicate(text) is None


@tabled
def test_the_forms_of_a_verb(base: str, forms: tuple[str, ...]) -> None:
    verb = Verb(base=base)
    assert (verb.present("singular"), verb.present("plural"), verb.participle, verb.past_participle) == forms


def test_the_verb_agrees_with_what_stands_before_it() -> None:
    look = Verb(base="look", rest="at")
    assert active("the man", look, "the boys", number="singular") == "the man looks at the boys"
    assert passive("the boys", look, "the man", number="plural") == "the boys are looked at by the man"


@tabled
def test_the_number_of_a_noun(noun: str, number: str) -> None:
    assert number_of(noun) == number


def test_a_noun_of_uncertain_number_has_none() -> None:
    assert number_of("sheep") is None
    assert number_of("glarbnox") is None


def test_only_a_singular_gets_an_article() -> None:
    assert [bare_or_a("apple", "singular"), bare_or_a("apples", "plural")] == ["an apple", "apples"]


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = read_predicate(text)
    assert found is None or found.verb.present("singular")
    assert number_of(text) in {"singular", "plural", "mass", None}


@tabled
def test_a_game_and_what_is_eaten_take_no_article(verb: str, noun: str, said: str) -> None:
    assert object_of(Verb(base=verb), noun, "singular") == said
