"""Simple sentences from their parts: verbs that agree, active and passive voice, articles."""

import re
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from vlgate.perturb.ontology.nouns import Number, curated_nouns
from vlgate.perturb.text.grammar import form, forms, lemmas, plural, singular, with_article
from vlgate.perturb.word_lists import words

# Verbs with their prepositions or particles, in the forms that sentences need: "look at", "looks at", "is looked at".
# The forms come from the dictionary of ``lemminflect``; a short table mends those that it has wrong. A word that the
# dictionary does not have as a verb is refused.

# (base form, Penn tag) to the form that photographs need: a man lies on a bed, a coat is hung.
_MENDED = MappingProxyType(
    {
        ("lie", "VBN"): "lain",
        ("ski", "VBN"): "skied",
        ("ski", "VBZ"): "skis",
        ("hang", "VBN"): "hung",
        ("be", "VBP"): "are",
        ("be", "VBZ"): "is",
        ("text", "VBZ"): "texts",
        ("text", "VBG"): "texting",
        ("text", "VBN"): "texted",
    }
)
# Words that the dictionary has as verbs too, and that stand for a place or a preposition in scene graphs.
_NO_VERBS = words("no verb")
# What may stand between a verb and its object. Other words are another object: "wearing white", "playing tennis with".
_LINKS = _NO_VERBS | frozenset(
    ("about", "after", "among", "away", "close", "corner", "middle", "ahead", "the", "together")
)
_AUXILIARIES = frozenset(("is", "are", "be", "being", "was", "were", "been", "has been", "have been"))
_ARTICLES = frozenset(("a", "an", "the", "some", "his", "her", "their", "its"))
_BY = "by"
_LAY = frozenset(("on", "in", "down", "by", "next", "near", "under", "beside", "against", "across", "along", "atop"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb by its base form, and the words between it and its object: "at" in "look at"."""

    base: str
    rest: str = ""

    @property
    def plain(self) -> str:
        return self._with_rest(self.base)

    @property
    def participle(self) -> str:
        return self._with_rest(_form(self.base, "VBG"))

    @property
    def past_participle(self) -> str:
        return self._with_rest(_form(self.base, "VBN"))

    def present(self, number: Number) -> str:
        return self._with_rest(_form(self.base, "VBP" if number == "plural" else "VBZ"))

    def passive(self, number: Number) -> str:
        return f"{be(number)} {self.past_participle}"

    def _with_rest(self, form: str) -> str:
        return f"{form} {self.rest}" if self.rest else form


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    verb: Verb
    passive: bool = False


def be(number: Number) -> str:
    return "are" if number == "plural" else "is"


@cache
def read_predicate(text: str) -> Predicate | None:
    # The name of a relation: a verb in any form, with or without an auxiliary and an article behind it. None if it is
    # no verb ("next to") or has an object of its own ("wearing white").
    words = text.lower().split()
    while len(words) > 1 and words[0] in _AUXILIARIES:
        words = words[1:]
    while len(words) > 1 and words[-1] in _ARTICLES:
        words = words[:-1]
    if not words or not all(word.isalpha() for word in words):
        return None
    base, rest = _base(words[0]), words[1:]
    if base is None or base == "be" or not _LINKS.issuperset(rest):
        return None
    if base == "lay" and rest and rest[0] in _LAY:
        base = "lie"  # "laying on" is what most annotators write
    if rest and rest[-1] == _BY and words[0] == _form(base, "VBN"):
        return Predicate(verb=Verb(base=base, rest=" ".join(rest[:-1])), passive=True)
    return Predicate(verb=Verb(base=base, rest=" ".join(rest)))


@cache
def _base(word: str) -> str | None:
    if word in _NO_VERBS:
        return None
    bases = lemmas(word, "VERB")
    return bases[0] if bases else None


@cache
def _form(base: str, tag: str) -> str:
    if (base, tag) in _MENDED:
        return _MENDED[base, tag]
    known = forms(base, "VERB")
    inflected = known.get(tag) or (known.get("VBD") if tag == "VBN" else None) or form(base, tag)
    return str(inflected[0]) if inflected else base


_BEHIND = re.compile(r" (?:at|behind|by|for|from|in|of|on|to|under|with) ")


@cache
def number_of(noun: str) -> Number | None:
    """The number of a noun phrase without its article; None if it is not certain ("sheep")."""
    head = _BEHIND.split(noun, maxsplit=1)[0]
    nouns = curated_nouns()
    for name in (noun, head, head.rpartition(" ")[2]):
        known = nouns.get(name)
        if known is not None and plural(name) != name:
            return known.number
    word = head.rpartition(" ")[2]
    several, one = plural(word), singular(word)
    if several is not None and one is None:
        return "singular"
    return "plural" if one is not None and several is None else None


def bare_or_a(phrase: str, number: Number) -> str:
    return with_article(phrase) if number == "singular" else phrase


def is_game(verb: Verb, noun: str) -> bool:
    return verb.plain == "play" and not words("game").isdisjoint((noun, noun.rpartition(" ")[2]))


def object_of(verb: Verb, phrase: str, number: Number) -> str:
    # "Plays tennis", "eats fruit", but "holds an apple".
    bare = is_game(verb, phrase) or (verb.plain == "eat" and phrase.rpartition(" ")[2] in words("eaten"))
    return phrase if bare else bare_or_a(phrase, number)


def active(subject: str, verb: Verb, other: str, *, number: Number) -> str:
    return f"{subject} {verb.present(number)} {other}"


def passive(subject: str, verb: Verb, agent: str, *, number: Number) -> str:
    return f"{subject} {verb.passive(number)} by {agent}"
