"""What an image surely does not show: nouns that none of its objects may be called, and that do not belong there.

Annotators leave out most of what an image shows. A pen that a desk lacks in the graph may well lie on it, so a noun
counts as absent only if nobody would expect it in such a setting, or if nobody would have left it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vlgate.perturb.foils.captions.object_names import coco_names
from vlgate.perturb.graph_texts.names import known_form
from vlgate.perturb.ontology import Ontology
from vlgate.perturb.ontology.expected import FIT, Surroundings
from vlgate.perturb.ontology.expected.tables import SETTINGS
from vlgate.perturb.scene_graph import SceneGraph

WHOLE = 15
"""Objects from which a graph tells all persons and animals of an image."""

_SALIENT = frozenset(("person", "people", "animal", "animals"))
_NARROW = 3  # settings of a thing that tells where it is, whatever else there is: a pig in a street
# A few objects do not tell these settings apart.
_NEAR = (
    frozenset(("kitchen", "dining")),
    frozenset(("living", "bedroom", "office")),
    frozenset(("street", "rail")),
    frozenset(("water", "beach")),
)


class Absence:
    """Which nouns an image surely does not show."""

    def __init__(self, graph: SceneGraph, ontology: Ontology, where: Surroundings) -> None:
        """Look up what may fit each name of the graph, and in which setting it was taken."""
        names = {thing.name for thing in graph.objects.values()}
        known = sorted({form for name in names if (form := known_form(name, ontology)) is not None})
        self._ontology, self._where = ontology, where
        self._shown = [fitting for name in known for fitting in (ontology.possible(name), ontology.parts(name))]
        self._words = frozenset(word for name in names for word in name.split())
        self._whole, self._complete = len(graph.objects) >= WHOLE, graph.complete
        self._setting = self._likely(known)
        self._beside = frozenset().union(*(_beside(name, ontology) for name in known))
        self._unnamed: dict[str, bool] = {}
        self._odd: dict[str, bool] = {}

    def lacks(self, name: str, *, anywhere: bool = True) -> bool:
        """Return whether the image surely shows nothing of that name, which the ontology must have.

        No object may be called so or have such a part. The setting of the image must be known, and the noun must not
        belong there, unless it is a person or an animal and the graph has at least ``WHOLE`` objects. Without
        ``anywhere``, and in a complete graph, the noun may belong there: it is enough that no object may be called so.
        """
        if name not in self._unnamed:
            self._unnamed[name] = name not in self._words and not any(name in one for one in self._shown)
        if not self._unnamed[name] or not anywhere or self._complete:
            return self._unnamed[name]
        if name not in self._odd:
            self._odd[name] = self._strange(name) or self._told(name)
        return self._odd[name]

    def _likely(self, names: Sequence[str]) -> tuple[float, ...]:
        """How likely each setting is; as likely as those of a narrow thing and, in a small graph, those near it."""
        told = self._where.of(names)
        narrow = {place for name in names if len(found := self._ontology.settings(name)) <= _NARROW for place in found}
        likely = {place: 1.0 if place in narrow else one for place, one in zip(SETTINGS, told, strict=False)}
        if self._whole:
            return tuple(likely.values())
        return tuple(
            max(likely[other] for group in (*_NEAR, {place}) if place in group for other in group) for place in likely
        )

    def _strange(self, name: str) -> bool:
        if not self._setting or not self._beside.isdisjoint(_called(name, self._ontology)):
            return False
        return self._where.fit(name, self._setting) < FIT

    def _told(self, name: str) -> bool:
        return self._whole and not _SALIENT.isdisjoint(self._ontology.certain(name))


def common_names(ontology: Ontology) -> Iterator[str]:
    """Yield the names of COCO's categories in both numbers, as far as the ontology has them: words that all know."""
    for word in sorted({one.word for one in coco_names().by_name.values()} - {""}):
        if ontology.knows(word):
            yield from filter(None, (word, ontology.nouns[word].other))


def _beside(name: str, ontology: Ontology) -> frozenset[str]:
    """The words of what is often beside such a thing without being mentioned."""
    names = coco_names().by_name
    return frozenset().union(*(names[one].beside for one in _called(name, ontology) if one in names))


def _called(name: str, ontology: Ontology) -> frozenset[str]:
    """A name in both numbers, and the word of its category of COCO."""
    names = coco_names().by_name
    both = {name, ontology.nouns[name].other}
    return frozenset((*both, *(names[one].word for one in both if one in names))) - {""}
