"""What VL-CheckList's objects, attributes and relations share: what may judge the words, and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from vlgate.perturb.foils.candidate import Foil, Found
from vlgate.perturb.graph_texts.likeness import Likeness
from vlgate.perturb.graph_texts.slots import Slots
from vlgate.perturb.graph_texts.vocabulary import Vocabulary
from vlgate.perturb.ontology import Ontology, default_ontology
from vlgate.perturb.ontology.expected import Surroundings

POSITIVE = "the foil is a caption of the same image"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Where replacements come from: the collection's words, the ontology, and how alike two words may be.

    ``most`` is how many foils are made of one caption by replacing one part of it: of several, a set chooses one so
    that its classes are balanced. ``seed`` decides which they are, together with the image and the caption.
    ``sole`` says that graphs name all who do something, as role frames do, and not only some of an image's persons.
    ``classes`` keeps the classes of nouns, ``pools`` what may replace a noun in a place, or an attribute; ``where``
    tells in which setting an image was taken, and ``slots`` which nouns read well beside a relation.
    """

    vocabulary: Vocabulary
    ontology: Ontology = field(default_factory=default_ontology)
    likeness: Likeness = field(default_factory=Likeness)
    seed: int = 0
    most: int = 1
    sole: bool = False
    classes: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)
    pools: dict[tuple[str, ...], dict[str, int]] = field(default_factory=dict, repr=False, compare=False)
    where: Surroundings = field(init=False, repr=False, compare=False)
    slots: Slots = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Tell settings and what reads well by the ontology."""
        known = Surroundings(settings=self.ontology.settings, usual=self.ontology.expected.usual)
        object.__setattr__(self, "where", known)
        object.__setattr__(self, "slots", Slots(ontology=self.ontology))


def checked(found: Iterable[Sequence[Foil] | str], captions: Iterable[str]) -> Found:
    """Return the foils of each part of a caption, each part once, without captions of the image.

    ``captions`` are all of these.
    """
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
    return Found(candidates=tuple(foil for fit in kept.values() for foil in fit), refused=tuple(refused))
