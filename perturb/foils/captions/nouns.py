"""Noun foils as in FOIL it! (Shekhar et al. 2017; VALSE, A.7): an object's name becomes that of a related object."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vlgate.perturb.foils.candidates import Foil, Perturbed
from vlgate.perturb.foils.captions.doubts import not_plain, unreal
from vlgate.perturb.foils.captions.mentions import Mentions, is_kind_of, may_be_same, mentions
from vlgate.perturb.foils.captions.noun_phrases import NounPhrase, Reading, read
from vlgate.perturb.foils.captions.object_names import ObjectClass, ObjectNames, coco_names
from vlgate.perturb.ontology.ontology import default_ontology
from vlgate.perturb.text.fitness import REVERSED, holding, reverses, unfit
from vlgate.perturb.text.grammar import plural, singular, with_article
from vlgate.perturb.text.parsed import Edit, Parsed
from vlgate.perturb.word_lists import words

_PLAIN = words("plain")  # adjectives that suit any object
_PARTITIVES = words("partitive")
_MATERIALS = words("likeness")
_WITH_TOOLS = ("mouse", "bat")
_HOLDERS = frozenset({"kitchen", "food", "indoor", "animal"})


def noun_foils(
    parsed: Parsed,
    others: Sequence[Mentions] = (),
    *,
    objects: Collection[str] | None = None,
    names: ObjectNames | None = None,
) -> Perturbed:
    # The other object is not in the image as far as the captions tell: none has a word that may name it, or a word for
    # something that it is usually a part of. ``objects`` are the categories of all annotated objects of the image;
    # without them, objects that are often there unmentioned (a fork beside a knife) are not taken.
    if not parsed.chunks:
        return Perturbed.of("no noun phrase")
    if why := unfit(parsed) or (REVERSED if reverses(parsed) else ""):
        return Perturbed.of(why)
    table = names if names is not None else coco_names()
    reading = read(parsed)
    said = (mentions(parsed), *others)
    seen = _Seen(
        table=table,
        words=frozenset(word for one in said for word in one.one | one.several),
        objects=None if objects is None else frozenset(objects),
    )
    outcomes: list[Foil | str] = [*reading.refused]
    for phrase in reading.phrases.values():
        outcomes += _foils(reading, phrase, table, seen)
    return Perturbed.of(*outcomes)


def _foils(reading: Reading, phrase: NounPhrase, table: ObjectNames, seen: _Seen) -> Sequence[Foil | str]:
    name, known = _name(reading, phrase, table)
    if known is None:
        return ["the noun is not the name of a category"]
    if doubt := _doubt(reading, phrase, name, known):
        return [doubt]
    siblings, before = table.siblings[known.supercategory], _before(reading, phrase)
    bound = any(before in one.after for one in siblings)
    if bound and before not in known.after:
        return ["the word before the noun goes with other objects"]
    fitting = [one for one in siblings if before in one.after or not bound]
    absent = [one for one in fitting if seen.lacks(one, known)]
    foils = [_foil(reading, phrase, (name, known), one) for one in absent]
    if foils:
        return foils
    return [
        "every related object may be in the image" if fitting != [known] else "no related object goes with the verb"
    ]


def _before(reading: Reading, phrase: NounPhrase) -> str:
    """Return the preposition or the verb that the phrase is the object of; of a passive, the verb."""
    token = reading.parsed.tokens[phrase.head]
    over = reading.parsed.tokens[token.head]
    return {"pobj": over.lower, "dobj": over.lemma, "nsubjpass": over.lemma}.get(token.dep, "")


def _name(reading: Reading, phrase: NounPhrase, table: ObjectNames) -> tuple[str, ObjectClass | None]:
    # The longest name of a category that the phrase ends with.
    words = [token.lower for token in reading.parsed.tokens[phrase.lead[1] : phrase.head]]
    for length in range(min(2, len(words)), -1, -1):
        name = " ".join((*words[len(words) - length :], phrase.singular_noun))
        if name in table.by_name:
            return name, table.by_name[name]
    return phrase.singular_noun, None


def _doubt(reading: Reading, phrase: NounPhrase, name: str, known: ObjectClass) -> str:
    tokens, head = reading.parsed.tokens, reading.parsed.tokens[phrase.head]
    adjectives = tokens[phrase.lead[1] : phrase.head - name.count(" ")]
    bare = phrase.kind in {"other", "quantity"}
    bare = bare or (phrase.kind == "none" and (phrase.span[0] > 0 or known.supercategory == "food"))
    why = not_plain(reading.parsed.text) or unreal(reading, phrase) or ""
    parts = {"compound", "appos", "npadvmod", "amod"}
    before = tokens[max(phrase.span[0] - 2, 0) : phrase.span[0]]
    part_of = len(before) > 1 and before[1].lower == "of" and _singular(before[0].lower) in _PARTITIVES
    of = any(tokens[dependent].lower == "of" for dependent in reading.dependents(phrase.head, "prep"))
    reasons = holding(
        ("a word before the noun may suit no other", lambda: not _PLAIN.issuperset(one.lower for one in adjectives)),
        ("a word before the noun may suit no other", lambda: phrase.kind == "possessor"),
        ("the singular noun has no article", lambda: bare and not phrase.plural),
        (why, lambda: why),
        ("the noun belongs to a longer name", lambda: head.dep in parts or _joins_another(reading, phrase)),
        ("the noun may name an animal", lambda: _may_be_animal(reading, name, known)),
        ("the object is named twice", lambda: _repeated(reading, phrase, known)),
        ("the noun phrase says what something consists of", lambda: part_of),
        ("the noun may stand for a quantity", lambda: of and known.supercategory not in _HOLDERS),
        ("the object may be a likeness", lambda: any(token.lower in _MATERIALS for token in tokens)),
    )
    return next(reasons, "")


def _may_be_animal(reading: Reading, name: str, known: ObjectClass) -> bool:
    """Whether a thing has the name of an animal, and nothing beside it that such things are with: "mice and an ox"."""
    ontology = default_ontology()
    other = known.supercategory != "animal" and ontology.knows(name) and not ontology.hypernyms(name)
    if not other or "animal" not in ontology.possible(name):
        return False
    beside = words(f"with a {name}") if name in _WITH_TOOLS else frozenset[str]()
    return beside.isdisjoint(_singular(token.lower) for token in reading.parsed.tokens)


def _joins_another(reading: Reading, phrase: NounPhrase) -> bool:
    tokens, index = reading.parsed.tokens, phrase.head + 1
    return index < len(tokens) and (tokens[index].tag in {"HYPH", "NN", "NNS", "POS"} or tokens[index].text == "-")


def _repeated(reading: Reading, phrase: NounPhrase, known: ObjectClass) -> bool:
    """Whether a word of the category stands elsewhere in the caption, or its hypernym does: "a cat ... the animal"."""
    inside = range(*phrase.span)
    heads = {name.rpartition(" ")[2] for name in known.names}
    for index, token in enumerate(reading.parsed.tokens):
        word = _singular(token.lower) if index not in inside and token.tag.startswith("NN") else ""
        if word and (word in heads or may_be_same(known.category, word)):
            return True
    return False


def _singular(word: str) -> str:
    return singular(word) or word


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    table: ObjectNames
    words: frozenset[str]
    objects: frozenset[str] | None

    def lacks(self, one: ObjectClass, known: ObjectClass) -> bool:
        """Whether the foil may put ``one`` for ``known``: it is another thing and may be taken as absent."""
        if one == known or not one.word or any(is_kind_of(known.word or known.category, name) for name in one.names):
            return False
        if self.objects is None:
            often = one.word in known.beside or known.word in one.beside
            return not often and not any(self.suggests(one, word) for word in self.words)
        return not any(word in one.names or self.names(one, word) for word in self.objects | self.words)

    def names(self, one: ObjectClass, word: str) -> bool:
        """Whether a word may name a thing of the category; a name of another category does not."""
        named = self.table.by_name.get(word)
        return one == named if named is not None else _may_be(one, word)

    def suggests(self, one: ObjectClass, word: str) -> bool:
        return self.names(one, word) or _may_have(one, word)


@lru_cache(maxsize=65_536)
def _may_be(object_class: ObjectClass, word: str) -> bool:
    names, ontology = object_class.names, default_ontology()
    if word in names or word.rpartition(" ")[2] in names:
        return True
    called = any(word in ontology.possible(name) for name in names if ontology.knows(name))
    return called or (ontology.knows(word) and not names.isdisjoint(ontology.possible(word)))


@lru_cache(maxsize=65_536)
def _may_have(object_class: ObjectClass, word: str) -> bool:
    ontology = default_ontology()
    return ontology.knows(word) and not object_class.names.isdisjoint(ontology.own_parts(word))


def _foil(reading: Reading, phrase: NounPhrase, named: tuple[str, ObjectClass], object_class: ObjectClass) -> Foil:
    name, known = named
    word = (plural(object_class.word) or object_class.word) if phrase.plural else object_class.word
    shown = f"several {plural(name) or name}" if phrase.plural else f"one {name}"
    return Foil(
        caption=reading.parsed.text,
        foil=reading.parsed.edited([Edit(span=(phrase.head - name.count(" "), phrase.head + 1), text=word)]),
        classes=(known.word or name, object_class.word),
        why=f"the image shows {shown}, and no caption mentions {with_article(object_class.word)}",
        tags={"supercategory": object_class.supercategory},
    )
