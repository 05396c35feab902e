"""The records that the template of ``report.html`` is filled with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from vlgate.report.abilities import Ability
from vlgate.report.difference import Piece
from vlgate.report.page.why_records import Whys


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image as a data URI; ``source`` is empty if it cannot be shown, and ``problem`` says why."""

    key: str
    source: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A request of a case with its reply.

    ``pieces`` are the parts of its text; those that the text beside it lacks are marked. ``place`` is the place of the
    score between the lowest and the highest one of the task, in 0..100. ``right`` is None for a text, whose score is
    neither right nor wrong by itself.
    """

    picture: str
    pieces: tuple[Piece, ...]
    truth: str
    score: float | None = None
    place: float = 0.0
    answer: str | None = None
    right: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A case as the page shows it.

    ``overlaid`` is true if its second image is a perturbation of its first. ``thumb`` is a small image of a worst case.
    """

    anchor: str
    task: str
    case: str
    state: str
    lines: tuple[Line, ...]
    pictures: tuple[Picture, ...]
    thumb: Picture | None
    overlaid: bool
    why: str
    tags: Mapping[str, str]
    origin: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A row of a table of figures; ``name`` is a metric or a slice."""

    name: str
    value: float
    low: float
    high: float
    n: int
    chance: float | None = None
    blind: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A task: what it asks, its figures, what is to know about its data, and its missed cases.

    ``words`` are what the page can be filtered by. ``cards`` begin with the worst cases; ``missed`` counts all.
    """

    task: str
    anchor: str
    capability: str
    question: str
    ability: Ability | None
    words: tuple[str, ...]
    headline: str
    metrics: tuple[Figure, ...]
    slices: tuple[Figure, ...]
    published: tuple[tuple[str, float], ...]
    health: tuple[str, ...]
    judged: int
    missed: int
    example: Card | None
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A gate or a known limit with its decision.

    ``warning`` says what reaches it without the image. ``anchor`` is empty if its task is not on the page.
    """

    gate: str
    outcome: str
    threshold: str
    value: str
    interval: str
    n: str
    why: str
    reason: str
    warning: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """May this release ship? ``tone`` is ``yes``, ``no`` or ``open``."""

    tone: str
    sentence: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """All that ``report.html`` shows; ``people`` is true if the chart has figures of people."""

    model: str
    answer: Answer
    counts: str
    abilities: Mapping[str, tuple[Section, ...]]
    charts: tuple[tuple[str, Markup], ...]
    people: bool
    gates: tuple[Decided, ...]
    limits: tuple[Decided, ...]
    idle: tuple[tuple[str, tuple[str, ...]], ...]
    checks: tuple[str, ...]
    remarks: tuple[str, ...]
    sections: tuple[Section, ...]
    capabilities: tuple[str, ...]
    tags: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, str]
    left_out: tuple[str, ...]
    whys: Whys = field(default_factory=Whys)
