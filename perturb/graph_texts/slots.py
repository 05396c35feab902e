"""Whether somebody would write a relation of two nouns: a cup on a table, and no plane there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from vlgate.perturb.graph_texts.names import known_form
from vlgate.perturb.inflection import either_number
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.ontology.tables import rows_of

BESIDE = frozenset(
    ("near", "next to", "beside", "by", "close to", "in front of", "behind", "to the left of", "to the right of"),
)
"""Relations between any two things of one setting and of about one size."""

_FILE = "slots.tsv"
_SIZES = ("@tiny", "@small", "@medium", "@large", "@huge")
_NEAR = 2  # how many steps of size lie between two things that are told beside each other, at most
_SEVERAL = 2  # how often a collection must have two nouns there: once may be an annotator's slip
_COMMON = 12  # settings from which a thing tells nothing about what is beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """What reads well beside a relation, by a table of scenes and by the things that are found in one setting.

    ``known`` keeps what has been asked.
    """

    ontology: Ontology
    known: dict[tuple[str, str, str], bool] = field(default_factory=dict, repr=False, compare=False)

    def reads(self, subject: str, relation: str, other: str, *, seen: int = 0) -> bool:
        """Return whether somebody would write that the subject has this relation to the other thing.

        ``seen`` is how often the collection has both nouns there.

        >>> from vlgate.perturb.ontology import default_ontology
        >>> slots = Slots(ontology=default_ontology())
        >>> slots.reads("cup", "on", "table"), slots.reads("plane", "on", "sidewalk")
        (True, False)
        """
        key = (subject, relation, other)
        if key not in self.known:
            self.known[key] = self._usual(*key)
        return self.known[key] or (seen >= _SEVERAL and relation not in BESIDE)

    def size(self, name: str) -> int | None:
        """Return the place of a thing in the order of sizes, from 0; None if no list has it.

        >>> from vlgate.perturb.ontology import default_ontology
        >>> slots = Slots(ontology=default_ontology())
        >>> [slots.size(name) for name in ("fork", "dogs", "trains", "idea")]
        [0, 2, 4, None]
        """
        for one in self._named(name):
            for place, size in enumerate(_SIZES):
                if one in _lists()[size]:
                    return place
        return None

    def _usual(self, subject: str, relation: str, other: str) -> bool:
        one, two = frozenset(self._named(subject)), frozenset(self._named(other))
        if any(one & subjects and two & others for subjects, others in _lines().get(relation, ())):
            return True
        return relation in BESIDE and self._beside(subject, other)

    def _beside(self, subject: str, other: str) -> bool:
        """Whether both are found in one setting, and are of about one size."""
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


@cache
def _lists() -> dict[str, frozenset[str]]:
    return {relation: subjects for relation, subjects, _ in _rows() if relation.startswith("@")}


@cache
def _lines() -> dict[str, list[tuple[frozenset[str], frozenset[str]]]]:
    found: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = {}
    for relations, subjects, others in _rows():
        for relation in relations.split("|"):
            found.setdefault(relation, []).append((subjects, others))
    return found


@cache
def _rows() -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    lists: dict[str, frozenset[str]] = {}
    rows = []
    text = Path(__file__).with_name(_FILE).read_text(encoding="utf-8")
    for row in rows_of(_FILE, text, "relation", "subject", "object"):
        ends = [frozenset().union(*(_forms(name, lists) for name in row.names(end))) for end in ("subject", "object")]
        if row["relation"].startswith("@"):
            lists[row["relation"]] = ends[0]
        rows.append((row["relation"], ends[0], ends[1]))
    return tuple(rows)


def _forms(name: str, lists: dict[str, frozenset[str]]) -> frozenset[str]:
    return lists[name] if name.startswith("@") else frozenset(either_number(name))
