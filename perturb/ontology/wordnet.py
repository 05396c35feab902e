"""What an installed wordnet knows: names that extend the ontology, and relations of two words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vlgate.perturb.kept import kept
from vlgate.perturb.ontology.nouns import Noun, Number, inconsistent
from vlgate.perturb.ontology.ontology import Ontology
from vlgate.perturb.text.grammar import may_be_plural, plural, regular_plural, regular_singular, singular

if TYPE_CHECKING:
    from wn import Synset, Wordnet


# CARETS (section 4) takes hypernyms and hyponyms from an ontology of GQA's own objects. Other scene graphs name other
# things. An English wordnet, read by the library ``wn``, gives them hypernyms among the nouns of the ontology.

# WordNet's files of nouns for what an image can show; it cannot show "noun.cognition", "noun.act" and others.
_VISIBLE = frozenset(
    f"noun.{kind}" for kind in ("animal", "artifact", "body", "food", "object", "person", "plant", "substance")
)
_SINGULAR_IN_S = ("ss", "us", "is", "as", "os")  # glass, octopus, trellis, atlas, rhinoceros
_MISSING = (
    "run `python -m wn download oewn:2024` once, or `python -c \"import wn; wn.add('FILE')\"` with a file in WN-LMF, "
    "or name one that is installed"
)


Forms = tuple[tuple[str, Number], ...]  # a word in the numbers that it has: axolotl, axolotls


@dataclass(frozen=True, slots=True, kw_only=True)
class _Concept:
    """A thing and its words; the first is the one that was asked for."""

    words: tuple[Forms, ...]
    parents: tuple[str, ...]
    parts: tuple[str, ...] = ()
    also: tuple[str, ...] = ()  # classes of other senses of its first word
    countable: bool = True  # whether "a" may certainly stand before its singular


def extended_by_wordnet(
    ontology: Ontology, names: Iterable[str], *, lexicon: str = "oewn:2024"
) -> tuple[Ontology, tuple[str, ...]]:
    """Add the names to ``ontology`` that it does not know and an installed wordnet does."""
    # The sense of a name is its most frequent one that an image can show and that is below a noun of the ontology. The
    # nearest such nouns are its parents; those of its other senses are what it may be called. A compound that the
    # wordnet lacks ("garden gnome statue") gets its last word as parent if that has one sense; otherwise the last word
    # is what it may be called. Synonyms and the other number are added too, but no question is asked about them, and so
    # are the parts that the ontology has. A name whose number is not certain stays unknown.
    wanted = [name for name in dict.fromkeys(names) if not ontology.knows(name)]
    classes = {
        noun.synset: noun.name  # the first of several synonyms
        for noun in reversed(list(ontology.nouns.values()))
        if noun.askable and noun.synset and (noun.number != "plural" or not noun.other)
    }
    # Without other forms a plural is found by its singular only.
    wordnet = installed_wordnet(lexicon, "extended_by_wordnet", expand="", search_all_forms=False)
    source = _Lexicon(ontology=ontology, wordnet=wordnet, classes=classes)
    concepts = dict(found for name in wanted if (found := source.concept(name)) is not None)
    nouns = _nouns(concepts.values(), frozenset(wanted), ontology)
    named = ((concept.words[0][0][0], concept) for concept in concepts.values() if concept.words)
    added = {name: concept for name, concept in named if name in nouns}
    extended = ontology.extended(
        nouns.values(),
        overlaps=[frozenset((name, other)) for name, concept in added.items() for other in concept.also],
        parts={name: concept.parts for name, concept in added.items() if concept.parts},
    )
    return extended, tuple(name for name in wanted if name not in nouns)


def installed_wordnet(lexicon: str, needed_by: str, **options: Any) -> Wordnet:
    """Open a lexicon of the library ``wn``; ValueError if one of the two is not installed: nothing is downloaded."""
    try:
        import wn
    except ImportError:
        raise ValueError(f"{needed_by} needs the library wn; pip install 'vlgate[wordnet]'") from None
    try:
        return wn.Wordnet(lexicon, **options)
    except wn.Error:
        installed = ", ".join(repr(one.specifier()) for one in wn.lexicons()) or "none"
        raise ValueError(f"lexicon={lexicon!r} is not installed ({installed}); {_MISSING}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lexicon:
    """A wordnet beside an ontology; ``classes`` are the nouns of the ontology by the ids of their synsets."""

    ontology: Ontology
    wordnet: Wordnet
    classes: Mapping[str, str]

    def concept(self, name: str) -> tuple[str, _Concept] | None:
        """Return a key, the same for all synonyms, and the meaning of ``name``; None if the meaning is not certain."""
        # A wrong guess does no harm, since the wordnet does not have it.
        as_is, one = self.sense(name), singular(name) or regular_singular(name)
        of_one = None if one is None or name.endswith(_SINGULAR_IN_S) else self.sense(one)
        if as_is is None and (of_one is None or one is None or _several(one) != name):
            return self.compound(name)
        if as_is is None and of_one is not None and one is not None:
            return of_one.id, self.described(of_one, one)
        if as_is is None or of_one is not None:
            return None  # "glasses": either may be meant
        if one is None or name.endswith(_SINGULAR_IN_S):
            return as_is.id, self.described(as_is, name)
        if "plural" in (as_is.definition() or ""):  # "trousers"; a "lens" is one thing
            return as_is.id, _Concept(
                words=(((name, "plural"),),), parents=self.parents(as_is), parts=self.parts(as_is)
            )
        return None

    def compound(self, name: str) -> tuple[str, _Concept] | None:
        """Take the meaning of the last word: a garden gnome statue is a statue."""
        first, blank, head = name.rpartition(" ")
        noun = self.ontology.nouns.get(head)
        if noun is not None:
            base = head if noun.number != "plural" or not noun.other else noun.other
            forms = tuple((f"{first} {form}", self.ontology.nouns[form].number) for form in (head, noun.other) if form)
            if not noun.askable:
                return None
            # A paper punch is not a drink: if the last word has several senses, the compound only may be such a thing.
            senses = {name for sense in self.visible(base) for name in self.parents(sense)}
            sure = senses <= self.ontology.certain(base)
            parents, also = ((base,), ()) if sure else ((), (base,))
            return f"{first} {base}", _Concept(words=(forms,), parents=parents, also=also)
        found = self.concept(head) if blank else None
        if found is None:
            return None
        concept = found[1]
        forms = tuple((f"{first} {form}", number) for form, number in concept.words[0])
        if concept.also:
            return forms[0][0], _Concept(words=(forms,), parents=(), also=(*concept.parents, *concept.also))
        return forms[0][0], replace(concept, words=(forms,))

    def described(self, synset: Synset, word: str) -> _Concept:
        others = sorted({lemma.lower() for lemma in synset.lemmas()} - {word})
        mass = synset.lexfile() == "noun.substance"
        parents = self.parents(synset)
        senses = dict.fromkeys(name for sense in self.visible(word) for name in self.parents(sense))
        return _Concept(
            words=tuple(
                _forms(one, mass=mass)
                for one in (word, *others)
                if one.isascii() and not (may_be_plural(one) and not one.endswith(_SINGULAR_IN_S))
            ),
            parents=parents,
            parts=self.parts(synset),
            also=tuple(name for name in senses if name not in parents),
            countable=synset.lexfile() != "noun.food",
        )

    def sense(self, word: str) -> Synset | None:
        """Return the most frequent sense that an image can show and that is below a class of the ontology."""
        return next((synset for synset in self.visible(word) if self.parents(synset)), None)

    def visible(self, word: str) -> list[Synset]:
        """Return the senses that an image can show; "cd player" finds "CD player", but "us" does not find "US"."""
        found = [synset for synset in self.wordnet.synsets(word, pos="n") if " " in word or word in synset.lemmas()]
        return [synset for synset in found if synset.lexfile() in {None, *_VISIBLE}]

    def parents(self, synset: Synset) -> tuple[str, ...]:
        """Return the class of the synset itself, or the nearest classes above it, without those above others."""
        if (own := self.noun(synset)) is not None:
            return (own,)
        found, seen, level = dict[str, None](), {synset.id}, synset.hypernyms()
        while level:
            above = [one for one in level if one.id not in seen]
            seen.update(one.id for one in above)
            classes = [(one, self.noun(one)) for one in above]
            found.update((name, None) for _, name in classes if name is not None)
            level = [up for one, name in classes if name is None for up in one.hypernyms()]
        covered = {above for name in found for above in self.ontology.hypernyms(name)}
        return tuple(name for name in found if name not in covered)

    def parts(self, synset: Synset) -> tuple[str, ...]:
        names = [self.noun(part) for part in synset.get_related("mero_part")]
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def noun(self, synset: Synset) -> str | None:
        """Return the noun with this synset, or one without a synset whose most frequent sense it is."""
        if synset.id in self.classes:
            return self.classes[synset.id]
        for lemma in synset.lemmas():
            noun = self.ontology.nouns.get(lemma)
            if noun is not None and noun.askable and not noun.synset and noun.number != "plural":
                first, *_ = self.wordnet.synsets(lemma, pos="n")
                if first.id == synset.id:
                    return noun.name
        return None


def _nouns(concepts: Iterable[_Concept], wanted: Collection[str], ontology: Ontology) -> dict[str, Noun]:
    nouns: dict[str, Noun] = {}
    for concept in concepts:
        free: list[Forms] = []
        for forms in concept.words:  # "deary" and "dearie" have one plural
            taken = {form for twin in free for form, _ in twin}
            if not any(form in taken or form in nouns or ontology.knows(form) for form, _ in forms):
                free.append(forms)
        for forms in free:
            for form, number in forms:
                nouns[form] = Noun(
                    name=form,
                    number=number,
                    parents=tuple(
                        noun.other if noun.other and number == "plural" else noun.name
                        for noun in (ontology.nouns[name] for name in concept.parents)
                    ),
                    same=tuple(other for twin in free if twin != forms for other, n in twin if n == number),
                    other=next((other for other, _ in forms if other != form), ""),
                    askable=form in wanted and (concept.countable or number != "singular"),
                )
    # Names whose rows would contradict others stay unknown, with their synonyms and their other number.
    while wrong := inconsistent(nouns, {**ontology.nouns, **nouns}):
        nouns = {
            name: noun
            for name, noun in nouns.items()
            if wrong.isdisjoint((name, noun.other, *noun.same, *noun.parents))
        }
    return nouns


def _forms(word: str, *, mass: bool) -> Forms:
    several = _several(word)
    if mass:
        return ((word, "mass"),)
    return ((word, "singular"),) if several == word else ((word, "singular"), (several, "plural"))


def _several(word: str) -> str:
    return plural(word) or regular_plural(word)


# What a wordnet says of two words: whether two verbs say the same, and whether one noun is a kind of another.


class WordRelations:
    """The relations of words in a lexicon of ``wn``, such as ``wn.Wordnet("oewn:2024")``, each word looked up once."""

    def __init__(self, wordnet: Wordnet) -> None:
        self._wordnet = wordnet
        self._kept: dict[Any, Any] = {}

    def same_action(self, one: str, other: str) -> bool:
        """Return whether two verbs are synonyms, or one is a hypernym of the other, in any of their senses."""
        # Antonyms are not, whatever else they share (VALSE, appendix A.5), nor is a verb that the lexicon lacks.
        if one == other:
            return True
        if other in self._antonyms(one) or one in self._antonyms(other):
            return False
        return self._is_above(other, one, "v") or self._is_above(one, other, "v")

    def same_thing(self, one: str, other: str) -> bool:
        """Return whether two nouns may name one thing: synonyms, or one a kind of the other, in any sense."""
        return one == other or self._is_above(other, one, "n") or self._is_above(one, other, "n")

    def is_kind(self, noun: str, kind: str, senses: int) -> bool:
        """Return whether one of the first ``senses`` of a noun, the usual one first, is a kind of another noun."""
        return self._is_above(kind, noun, "n", senses)

    def _is_above(self, upper: str, word: str, part: str, senses: int | None = None) -> bool:
        named = self._named(upper, part)
        return bool(named) and any(not named.isdisjoint(self._above(one)) for one in self._senses(word, part)[:senses])

    @kept
    def _senses(self, word: str, part: str) -> tuple[Synset, ...]:
        return tuple(self._wordnet.synsets(word, pos=part))

    @kept
    def _named(self, word: str, part: str) -> frozenset[Synset]:
        # without what the lexicon finds by another spelling or form; the lemmas of a synset would take longer
        entries = (entry for entry in self._wordnet.words(word, pos=part) if entry.lemma() == word)
        return frozenset(synset for entry in entries for synset in entry.synsets())

    @kept
    def _above(self, sense: Synset) -> frozenset[Synset]:
        synsets, todo = {sense}, [sense]
        while todo:
            more = [up for up in self._hypernyms(todo.pop()) if up not in synsets]
            synsets.update(more)
            todo += more
        return frozenset(synsets)

    @kept
    def _hypernyms(self, synset: Synset) -> tuple[Synset, ...]:
        return tuple(synset.hypernyms())

    @kept
    def _antonyms(self, verb: str) -> frozenset[str]:
        senses = self._wordnet.senses(verb, pos="v")
        return frozenset(one.word().lemma() for sense in senses for one in sense.get_related("antonym"))
