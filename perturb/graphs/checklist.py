"""What VL-CheckList's foils share: the words of a collection, their likeness, and likely relations."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.perturb.foils.candidates import Foil, Perturbed, TextEncoder
from vlgate.perturb.graphs.names import known_form, wording
from vlgate.perturb.kept import kept
from vlgate.perturb.ontology import Ontology, default_ontology
from vlgate.perturb.ontology.expectations import Surroundings
from vlgate.perturb.ontology.tables import rows_in
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.perturb.text.grammar import either_number
from vlgate.types import FloatArray

LIMIT = 0.5  # the cosine from which two words are too alike to replace each other (VL-CheckList, section 3.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Compares words by the cosines of their vectors; without an encoder no two words are too alike.

    Each word is encoded once; ``learn`` encodes many in one batch. Whether two names fit one thing is another
    question, which the ontology answers.
    """

    encoder: TextEncoder | None = None
    limit: float = LIMIT
    vectors: dict[str, FloatArray] = field(default_factory=dict)

    def learn(self, words: Iterable[str]) -> None:
        new = sorted(set(words) - self.vectors.keys())
        if self.encoder is not None and new:
            self.vectors.update(zip(new, self.encoder.encode(new), strict=True))

    def too_alike(self, one: str, other: str) -> bool:
        if self.encoder is None:
            return False
        if one not in self.vectors or other not in self.vectors:
            self.learn((one, other))
        return float(np.dot(self.vectors[one], self.vectors[other])) >= self.limit


SUBJECT, OBJECT = "subject", "object"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The names of a collection, counted."""

    names: Counter[str]  # all
    placed: Mapping[tuple[str, str], Counter[str]]  # by (role, text of the relation)
    beside: Mapping[tuple[str, str, str], Counter[str]]  # and the name of the other thing


def vocabulary_of(graphs: Iterable[SceneGraph], ontology: Ontology | None = None) -> Vocabulary:
    known = default_ontology() if ontology is None else ontology
    names: Counter[str] = Counter()
    placed: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    beside: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for graph in graphs:
        for thing in graph.objects.values():
            if known.knows(thing.name):
                names[thing.name] += 1
            for relation in thing.relations:
                text, other = wording(relation.name, known), graph.objects.get(relation.object)
                if not text or other is None:
                    continue
                for role, one, beyond in ((SUBJECT, thing.name, other.name), (OBJECT, other.name, thing.name)):
                    if known.knows(one):
                        placed[role, text][one] += 1
                        beside[role, text, beyond][one] += 1
    return Vocabulary(names=names, placed=dict(placed), beside=dict(beside))


# Whether somebody would write a relation of two nouns: a cup on a table, and no plane there.

BESIDE = frozenset(
    ("near", "next to", "beside", "by", "close to", "in front of", "behind", "to the left of", "to the right of")
)
"""Relations between any two things of one setting and of about one size."""

_SIZES = ("@tiny", "@small", "@medium", "@large", "@huge")
_NEAR = 2  # how many steps of size lie between two things that are told beside each other, at most
_SEVERAL = 2  # how often a collection must have two nouns there: once may be an annotator's slip
_COMMON = 12  # settings from which a thing tells nothing about what is beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """What reads well beside a relation, by a table of scenes and by the things that are found in one setting."""

    ontology: Ontology
    _kept: dict[Any, Any] = field(init=False, default_factory=dict, repr=False, compare=False)

    def reads(self, subject: str, relation: str, other: str, *, seen: int = 0) -> bool:
        """Return whether somebody would write that the subject has this relation to the other thing."""
        # ``seen`` is how often the collection has both nouns there.
        return self._usual(subject, relation, other) or (seen >= _SEVERAL and relation not in BESIDE)

    @kept
    def size(self, name: str) -> int | None:
        """Return the place of a thing in the order of sizes, from 0; None if no list has it."""
        for one in self._named(name):
            for index, size in enumerate(_SIZES):
                if one in _slots()[0][size]:
                    return index
        return None

    @kept
    def _usual(self, subject: str, relation: str, other: str) -> bool:
        one, two = frozenset(self._named(subject)), frozenset(self._named(other))
        if any(one & subjects and two & others for subjects, others in _slots()[1].get(relation, ())):
            return True
        return relation in BESIDE and self._beside(subject, other)

    def _beside(self, subject: str, other: str) -> bool:
        sizes = self.size(subject), self.size(other)
        if sizes[0] is None or sizes[1] is None or abs(sizes[0] - sizes[1]) > _NEAR:
            return False
        forms = [form for name in (subject, other) if (form := known_form(name, self.ontology)) is not None]
        if len(forms) < 2:
            return False
        one, two = (self.ontology.settings(form) for form in forms)
        return not one.isdisjoint(two) and (len(one) < _COMMON or len(two) < _COMMON)

    def _named(self, name: str) -> tuple[str, ...]:
        form = known_form(name, self.ontology)
        if form is None:
            return (name,)
        other = self.ontology.nouns[form].other
        return (*self.ontology.named(form), *(self.ontology.named(other) if self.ontology.knows(other) else ()))


_Names = frozenset[str]


@cache
def _slots() -> tuple[Mapping[str, _Names], Mapping[str, list[tuple[_Names, _Names]]]]:
    """The lists of names, by "@" and their name, and the subjects and objects of each relation."""
    lists: dict[str, _Names] = {}
    lines: dict[str, list[tuple[_Names, _Names]]] = defaultdict(list)
    for row in rows_in(Path(__file__).with_name("slots.tsv"), "relation", "subject", "object"):
        subjects, objects = (
            frozenset().union(*(lists[name] if name[0] == "@" else either_number(name) for name in row.names(end)))
            for end in ("subject", "object")
        )
        if row["relation"].startswith("@"):
            lists[row["relation"]] = subjects
        for relation in row.names("relation"):
            lines[relation].append((subjects, objects))
    return lists, lines


POSITIVE = "the foil is a caption of the same image"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Where replacements come from: the collection's words, the ontology, and how alike two words may be."""

    vocabulary: Vocabulary
    ontology: Ontology = field(default_factory=default_ontology)
    likeness: Likeness = field(default_factory=Likeness)
    seed: int = 0  # decides, with the image and the caption, which foils are made
    most: int = 1  # foils of one caption by replacing one part of it; a set chooses one of them
    sole: bool = False  # whether graphs name all who do something, as role frames do
    classes: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)
    pools: dict[tuple[str, ...], dict[str, int]] = field(default_factory=dict, repr=False, compare=False)
    where: Surroundings = field(init=False, repr=False, compare=False)  # in which setting an image was taken
    slots: Slots = field(init=False, repr=False, compare=False)  # which nouns read well beside a relation

    def __post_init__(self) -> None:
        known = Surroundings(settings=self.ontology.settings, usual=self.ontology.expected.usual)
        object.__setattr__(self, "where", known)
        object.__setattr__(self, "slots", Slots(ontology=self.ontology))


def foils_of(
    caption: str, word: str, others: Mapping[str, str], why: Callable[[str], str], tags: Mapping[str, str]
) -> list[Foil]:
    return [
        Foil(caption=caption, foil=foil, classes=(word, other), why=why(other), tags=tags)
        for other, foil in others.items()
    ]


def checked(found: Iterable[Sequence[Foil] | str], captions: Iterable[str]) -> Perturbed:
    """Return the foils of each part of a caption, each part once, without captions of the image."""
    # ``captions`` are all of these.
    true = frozenset(captions)
    kept: dict[tuple[str, str], list[Foil]] = {}
    refused: list[str] = []
    for one in found:
        if isinstance(one, str):
            refused.append(one)
        elif fit := [foil for foil in one if foil.foil not in true]:
            kept.setdefault((fit[0].caption, fit[0].classes[0]), fit)
        else:
            refused.append(POSITIVE)
    return Perturbed(candidates=tuple(foil for fit in kept.values() for foil in fit), refused=tuple(refused))
