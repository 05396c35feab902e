"""What a kind of data set is, and the kinds by name: a kind is a row of ``kinds.toml`` and its functions."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vlgate.errors import UnknownNameError
from vlgate.perturb.foils.balance import exchanged
from vlgate.perturb.foils.candidates import Candidate, Foil, Perturbed
from vlgate.types import Shape

if TYPE_CHECKING:
    from vlgate.making.tools import Tools


InputName = Literal["captions", "answers", "dialogs", "frames", "interactions", "graphs"]
"""The inputs; their records are in ``inputs/records.py``, and ``SceneGraph``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What one input gave: ``origin`` is its file and record, ``image`` the name of its image."""

    # A ``Swap`` names its own two images. ``extra`` has the fields that only the benchmark's own format has, one
    # mapping of JSON values for each candidate, or is empty.

    image: str
    origin: str
    found: Perturbed
    extra: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    id: str
    image: str
    origin: str
    candidate: Candidate
    extra: Mapping[str, Any] = field(default_factory=dict)
    lead: float | None = None
    """By how much the true text is likelier than the false one, in nats a word; None if a text is not scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    inputs: Sequence[Any]
    tools: Tools
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    items: tuple[Item, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    note: str = ""


Inference = Literal["contradiction", "not entailment", "unused"]
"""What a model of inference must say of a caption and its foil, if one is given (VALSE, section 4.3)."""

MakeSome = Callable[[Sequence[Any]], Iterable[Made]]
"""Makes candidates from some of the inputs, one ``Made`` for each input or, if it combines them, for each finding."""

Start = Callable[[Work], MakeSome]
"""Prepares what a kind needs of the inputs as a whole, and returns the function that makes candidates of a block."""

Select = Callable[[Sequence[Item], int], Selected]
"""Balances the items of a whole set; the second argument is the seed."""

Release = Callable[[Sequence[Item]], Mapping[str, str]]
"""Writes the items in the benchmark's own format: the content of each file by its path in a data folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of data set.

    ``sentence`` says in one sentence what it makes. The tools in ``needs`` must be there; those in ``uses`` are used
    if their option is given. If ``whole`` is true, the inputs are one block, because candidates combine inputs that
    stand anywhere. ``select`` runs on all candidates that passed the checks, before the blind baseline is balanced.
    ``inference`` says which foils stay if --nli is given: VALSE keeps contradictions only for plurality and relations,
    and does not ask for actions. ``permuted`` says that caption and foil have the same words by construction, and
    ``renumbers`` that they differ in number, so that few words may stay: "There is 1 dog", "There are 2 dogs".
    ``tells`` says what text alone tells by design, if it does.
    A kind without ``release`` has no benchmark's format, and one without ``start`` is made by functions of its own, as
    ``questions`` is.
    """

    name: str
    sentence: str
    takes: tuple[InputName, ...]
    shape: Shape = "pair"
    start: Start | None = None
    release: Release | None = None
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    select: Select | None = None
    whole: bool = False
    inference: Inference = "not entailment"
    permuted: bool = False
    renumbers: bool = False
    tells: str = ""

    @property
    def tools(self) -> tuple[str, ...]:
        checking: tuple[str, ...] = () if self.start is None else ("grammar", "lm")
        inference: tuple[str, ...] = () if self.start is None or self.inference == "unused" else ("nli",)
        return tuple(dict.fromkeys((*self.needs, *self.uses, *inference, *checking)))


UNPAIRED = "a word of it is false more often than true"
"""The reason for which a candidate is dropped by a balance of classes."""


def both_ways(
    items: Sequence[Item],
    seed: int,
    *,
    rings: bool = False,
    source: Callable[[Item], Hashable] = lambda item: item.origin,
) -> Selected:
    """Keep one foil of a source, each word as often in captions as in foils, and half of the captions likelier.

    With ``rings``, a word need not be replaced by those that it replaces.
    """
    foils = [item.candidate for item in items if isinstance(item.candidate, Foil)]
    leads = [item.lead or 0.0 for item in items]
    chosen = exchanged(foils, [source(item) for item in items], seed, leads, rings=rings)
    return Selected(
        items=tuple(items[place] for place in chosen), dropped=+Counter({UNPAIRED: len(items) - len(chosen)})
    )


# The kinds by name. A kind is a row of ``kinds.toml`` and its functions in a module of this folder.

_TABLE: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8")
)
KINDS = tuple(_TABLE)


def kind_of(
    name: str, start: Start | None = None, release: Release | None = None, select: Select | None = None
) -> Kind:
    row: dict[str, Any] = {
        field: tuple(value) if isinstance(value, list) else value for field, value in _TABLE[name].items()
    }
    del row["module"]
    return Kind(name=name, start=start, release=release, select=select, **row)


def kind(name: str) -> Kind:
    if name not in _TABLE:
        raise UnknownNameError("kind", name, KINDS)
    module = import_module(f"vlgate.making.kinds.{_TABLE[name]['module']}")
    record: Kind = getattr(module, name.upper().replace("-", "_"))
    return record
