"""Images in which something that they do not show might well be: draws from what comes together in the graphs.

What an image shows says in which setting it was taken, and a thing that is not found there is never drawn for it. This
rests on a table of the nouns of the ontology (`ontology.expected`); of any other noun only the graphs say where it is
found, and so they do if the things of most images come from several settings, as in drawn scenes.

A thing and an image without it are drawn by way of something that the graphs show together with the thing and that the
image has. So no image is searched for, and what is false is always something that was annotated beside one of the
image's objects.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import log1p, prod
from random import Random
from typing import Any

from vlgate.perturb.kept import kept
from vlgate.perturb.ontology.expectations import BROAD, FIT, SHARE, Surroundings
from vlgate.perturb.questions.chance import Weighted, drawn, pick
from vlgate.perturb.questions.corpus import Corpus
from vlgate.perturb.questions.drafts import View
from vlgate.seeds import quick_generator

TRIES = 12  # random choices before another argument is taken
FEW = 50  # images, below which nothing follows from what never comes together, so that any image will do
ALMOST = 0.06  # of how well a thing goes with an image that shows it, so that it might be in another
SOME = 100  # images, which show whether things come with what belongs to the same setting
MIXED = 0.75  # of how often things do not fit another image, from which on settings say nothing
ENOUGH = 4  # candidate images, one of which is drawn in proportion to how well the thing goes with it


class Plausible:
    """Draws images without a thing, and things that an image does not show."""

    def __init__(self, corpus: Corpus, views: Sequence[View]) -> None:
        self._corpus = corpus
        self._views = views
        self._least, self._share = (0.0, ALMOST) if len(views) >= FEW else (1e-9, 0.0)
        self._showing: dict[str, list[View]] = defaultdict(list)
        for view in views:
            for name in view.names:
                self._showing[name].append(view)
        self._where = Surroundings(settings=corpus.ontology.settings, usual=corpus.ontology.expected.usual)
        self._kept: dict[Any, Any] = {}
        self._settled = self._apart(views) < MIXED

    def _apart(self, views: Sequence[View]) -> float:
        first = views[:SOME]
        alien = quick_generator("settings").choices(views, k=len(first))  # not in turn: files may repeat in their order
        shown = [(name, [one for one in view.names if one != name]) for view in first for name in view.names]
        other = [(name, view.names) for view, far in zip(alien, first, strict=True) for name in far.names]
        own, strange = (sum(self._where.fit(a, self._where.of(b)) < FIT for a, b in each) for each in (shown, other))
        return own / max(1, strange)

    def suits(self, name: str, view: View) -> bool:
        """Return whether a thing of that name might be found where the image was taken, with what the image shows."""
        # No part of a body is looked for: with its owner it is there, and without one nobody expects it. Nor is a place
        # that is around all of an image, nor what may be found nearly anywhere, if no table says what it comes with.
        company = self._company(name)
        accompanied = company is None or not self._settled or bool(view.shown & company)
        return self._suits(name, self._image(view)) and accompanied

    @kept
    def _image(self, view: View) -> tuple[float, ...]:
        return self._where.of({thing.name for thing in view.things if thing.known})

    @kept  # many images have the same settings
    def _suits(self, name: str, image: tuple[float, ...]) -> bool:
        if not self.asked(name) or not self._settled:
            return self.asked(name)
        where = self._where
        return (
            name not in self._corpus.ontology.expected.scenes
            and not where.missed(name, image)
            and where.fit(name, image) >= FIT
            and where.share(name, image) >= SHARE
        )

    @kept
    def _company(self, name: str) -> int | None:
        """What a thing of that name comes with, as bits; None if it may be anywhere without."""
        ontology, bits = self._corpus.ontology, self._corpus.bits
        company = ontology.expected.beside(ontology.named(name))
        if company is None:
            return 0 if len(ontology.settings(name)) >= BROAD else None
        return sum(bits[one] for one in company if one in bits)

    def asked(self, name: str) -> bool:
        """Return whether anybody asks for such a thing: for no leg of an animal, and for no wall of a room."""
        expected = self._corpus.ontology.expected
        return name not in expected.body and name not in expected.unasked

    @kept
    def bonds(self, name: str) -> Mapping[str, float]:
        """How strongly other names go with ``name``, or with its hyponyms: n log(1 + lift)."""
        # ``n`` is the number of graphs with both, and the lift is how many times more often than by chance they come
        # together: a wall comes with elephants often, an enclosure much more often than by chance.
        shown, together = self._corpus.tally.graphs, self._corpus.tally.together
        kinds = [word for word in (name, *self._corpus.ontology.hyponyms(name)) if word in shown]
        joint: Counter[str] = Counter()
        for kind in kinds:
            joint.update(together[kind])
        often = sum(shown[kind] for kind in kinds) or 1
        graphs = len(self._corpus.views)
        return {
            other: count * log1p(count * graphs / (often * shown[other]))
            for other, count in joint.items()
            if other not in kinds
        }

    @kept
    def _beside(self, name: str) -> Weighted:
        return Weighted(self.bonds(name))

    def fit(self, name: str, view: View, *, besides: str = "") -> float:
        """Return how well ``name`` goes with an image: the mean bond with its objects; 0 if none was ever beside it."""
        # What is called ``besides`` does not count. If there are fewer than ``FEW`` images, it is never 0.
        bonds = self.bonds(name)
        total = sum(bonds.get(other, 0.0) for other in view.names)
        return self._least + (total - bonds.get(besides, 0.0)) / max(1, len(view.names))

    def without(self, chance: Random, *names: str, like: View, hidden: int = 0) -> View | None:
        """Draw an image with nothing of these names in which each of them might be; None if none was found."""
        # The first goes with the image not much worse than with ``like``, which shows it. ``hidden`` are further names,
        # as bits, that nothing in the image may have.
        least = self._share * self.fit(names[0], like)
        bits, found, weights = hidden, list[View](), list[float]()
        for name in names:
            bits |= self._corpus.bits[name]
        for _ in range(TRIES):
            name = pick(chance, names)
            companions = self._clear(name, self._corpus.bits[name] | hidden)
            if not companions and not self._least:
                return None
            view = pick(chance, self._views if self._least else self._showing[companions.draw(chance)])
            free = not view.might & bits and all(self.suits(name, view) for name in names)
            fits = tuple(self.fit(name, view) for name in names) if free else ()
            weight = prod(fits) if fits and fits[0] >= least else 0.0
            if weight:
                found.append(view)
                weights.append(weight * weight)
                if len(found) == ENOUGH:
                    break
        return drawn(chance, found, weights) if found else None

    def with_one(
        self, chance: Random, places: Sequence[tuple[View, int]], absent: str, like: View
    ) -> tuple[View, int] | None:
        """Draw one of the places, in an image with nothing that could be called ``absent`` but that goes with it."""
        # Something else than the thing at that place goes with it, not much worse than in ``like``, which shows both.
        bit, found, weights = self._corpus.bits[absent], list[tuple[View, int]](), list[float]()
        least = self._share * self.fit(absent, like, besides=places[0][0].things[places[0][1]].name) if places else 0.0
        for _ in range(TRIES if places else 0):
            view, number = pick(chance, places)
            name = view.things[number].name
            free = not view.might & bit and self.suits(absent, view)
            weight = self.fit(absent, view, besides=name) if free else 0.0
            if free and not least:  # the graphs show nothing else with both
                weight += ALMOST
            if weight and weight >= least:
                found.append((view, number))
                weights.append(weight * weight)
                if len(found) == ENOUGH:
                    break
        return drawn(chance, found, weights) if found else None

    def unseen(self, chance: Random, view: View) -> str | None:
        """Draw a name of something that is not in the image, but goes with what is; None if none was found."""
        besides = [self._beside(name) for name in view.names]
        for _ in range(TRIES):
            if beside := pick(chance, besides):
                name = beside.draw(chance)
                if not view.might & self._corpus.bits[name] and self.suits(name, view):
                    return name
        return None

    @kept
    def _clear(self, name: str, bits: int) -> Weighted:
        """What goes with ``name``, without whatever rules out that an image with it lacks the names in ``bits``."""
        masks = self._corpus.masks
        return Weighted(
            {
                other: bond
                for other, bond in self.bonds(name).items()
                if other in self._showing and not (masks(other).possible | masks(other).beside) & bits
            }
        )
