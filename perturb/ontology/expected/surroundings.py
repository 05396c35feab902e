"""In which setting an image was taken, by the things that it shows, and what might be found there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from vlgate.perturb.ontology.expected.tables import SETTINGS

FIT = 0.3
"""How likely a setting must be, beside the likeliest of an image, for things that are found only there."""
_STRANGE = 0.06  # how likely a thing is in a setting that the tables do not give it, beside one that they do
_COMMON: Mapping[str, float] = MappingProxyType(
    {"living": 1.0, "kitchen": 1.0, "dining": 1.0, "street": 1.0, "garden": 1.0, "bedroom": 0.6, "office": 0.6}
)
_SELDOM = 0.25
"""How likely the other settings are before anything is seen: an elephant or a bathtub needs a reason."""
SHARE = 0.2
"""In how much of what an image may be a thing is found that a person might look for there."""
BROAD = 7
"""Settings of what may be in an image of which nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where images were taken.

    ``settings`` gives the settings in which a thing of a name is found, if they are known; ``usual`` are the things
    that nearly every image of a setting shows.

    >>> from vlgate.perturb.ontology import default_ontology
    >>> world = Surroundings(settings=default_ontology().settings)
    >>> office = world.of(("desk", "monitor", "man", "wall"))
    >>> world.fit("printer", office), world.fit("cow", office) < FIT
    (1.0, True)
    """

    settings: Callable[[str], frozenset[str]]
    usual: Mapping[str, frozenset[str]] = field(default_factory=dict)
    _places: dict[str, tuple[int, ...]] = field(init=False, repr=False, compare=False, default_factory=dict)
    _missed: dict[tuple[float, ...], frozenset[str]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def of(self, names: Collection[str]) -> tuple[float, ...]:
        """Return how likely each of ``SETTINGS`` is, beside the likeliest, in an image of things of these names.

        It is empty if the names say nothing.
        """
        likely, told = [_COMMON.get(name, _SELDOM) for name in SETTINGS], False
        for name in names:
            found = self._found(name)
            if 0 < len(found) < len(SETTINGS):
                told = True
                likely = [one if place in found else one * _STRANGE for place, one in enumerate(likely)]
                most = max(likely)
                likely = [one / most for one in likely]
        return tuple(likely) if told else ()

    def fit(self, name: str, image: tuple[float, ...]) -> float:
        """Return how well a thing of that name fits an image, from 0 to 1; 1 if it is not known where it is found."""
        found = self._found(name)
        if not image:
            return 1.0 if not found or len(found) >= BROAD else 0.0
        return max((image[place] for place in found), default=1.0)

    def share(self, name: str, image: tuple[float, ...]) -> float:
        """Return in how much of what an image may be such a thing is found, from 0 to 1; 1 if nothing is known.

        A door and a chair may be in a garden, and in most rooms: a daisy is found in a small share of these.
        """
        found = self._found(name)
        return sum(image[place] for place in found) / sum(image) if image and found else 1.0

    def missed(self, name: str, image: tuple[float, ...]) -> bool:
        """Return whether the image probably shows such a thing, annotated or not: a room's ceiling."""
        if image not in self._missed:
            likely = [setting for setting, one in zip(SETTINGS, image, strict=False) if one >= FIT]
            self._missed[image] = frozenset().union(*(self.usual.get(setting, ()) for setting in likely))
        return name in self._missed[image]

    def _found(self, name: str) -> tuple[int, ...]:
        if name not in self._places:
            settings = self.settings(name)
            self._places[name] = tuple(place for place, one in enumerate(SETTINGS) if one in settings)
        return self._places[name]
