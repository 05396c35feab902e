"""The records that the templates of report.html are filled with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from vlgate.report.abilities import Ability
from vlgate.report.controls import ControlTable
from vlgate.report.difference import Piece
from vlgate.report.page.analysed import Analyses
from vlgate.report.remarks import PriorSplit

# The records of the section that says why cases were missed.


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """A picture with the method that drew it, and how often that method is true, one sentence per measured model."""

    source: str
    method: str
    about: str
    rates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """An explained case: the sentence, the maps of interventions, those of attention, and the effects of words.

    ``anchor`` is empty if the page does not show the case itself.
    """

    task: str
    case: str
    anchor: str
    texts: tuple[str, ...]
    says: str
    maps: tuple[Map, ...]
    attention: tuple[Map, ...]
    words: tuple[tuple[str, str, float, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whys:
    """The explained cases of a page, of ``all`` that the folder has, and what is to know about attention."""

    shown: tuple[Why, ...] = ()
    all: int = 0
    attention: str = ""


# The records of the section that shows the smallest changes that break the model.


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A request of a found case before and after the change: its image, its text with choices, and the reply.

    A ``picture`` is a data URI; empty if the image cannot be shown. ``changed`` is whether the text is another one.
    """

    truth: str
    picture: str
    text: str
    reply: str
    changed_picture: str
    changed_text: str
    changed_reply: str

    @property
    def changed(self) -> bool:
        """Whether the change replaced the text."""
        return self.text != self.changed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A case with the smallest change that was found: what it is, its size, and the margins before and after."""

    task: str
    case: str
    says: str
    why: str
    cause: str
    size: str
    margins: str
    seed: str
    requests: tuple[Said, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Founds:
    """The finds of a page, of ``all`` that the run has, and their causes with the number of each."""

    shown: tuple[Found, ...] = ()
    all: int = 0
    causes: tuple[str, ...] = ()


# The records that the template of ``report.html`` is filled with.


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
    neither right nor wrong by itself. ``before`` is the reply of the baseline; empty if it is unknown.
    """

    picture: str
    pieces: tuple[Piece, ...]
    truth: str
    score: float | None = None
    place: float = 0.0
    answer: str | None = None
    right: bool | None = None
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A case as the page shows it.

    ``overlaid`` is true if its second image is a perturbation of its first. ``thumb`` is a small image of a worst case.
    ``change`` says what became of it since the baseline, ``age`` for how many releases it has been missed, and
    ``before`` how the baseline judged it; they are empty if that is unknown.
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
    change: str = ""
    age: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A row of a table of figures; ``name`` is a metric or a slice, ``shown`` counts the cards of a slice."""

    name: str
    value: float
    low: float
    high: float
    n: int
    chance: float | None = None
    blind: float | None = None
    shown: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A task: what it asks, its figures, what is to know about its data, and its missed cases.

    ``words`` are what the page can be filtered by. ``baseline`` is the value of the headline metric in the earlier run.
    ``beside`` sets its figures beside published ones, in sentences. ``cards`` begin with the worst cases; ``missed``
    counts all.
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
    beside: tuple[str, ...]
    baseline: float | None
    health: tuple[str, ...]
    judged: int
    missed: int
    example: Card | None
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A gate or a known limit with its decision.

    ``compares`` is true if value and interval are those of a difference from the baseline, and ``counts`` are then its
    broken and fixed cases. ``warning`` says what reaches it without the image. ``anchor`` is empty if its task is not
    on the page.
    """

    gate: str
    outcome: str
    threshold: str
    value: str
    interval: str
    n: str
    counts: str
    compares: bool
    why: str
    reason: str
    warning: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTask:
    """What became of the cases of a task since the baseline: ``unchanged`` are those that were right and still are.

    ``difference`` is that of the headline metric with its interval; empty if there is none.
    """

    task: str
    anchor: str
    n: int
    broken: int
    fixed: tuple[str, ...]
    still_wrong: int
    unchanged: int
    difference: str
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The comparison of a run with its baseline.

    ``cards`` are some of the newly broken cases: the worst one of each task, then the second one of each, and so on.
    ``tasks`` are those in which a verdict changed, with the most newly broken cases first; ``same`` counts the others.
    ``notes`` say what else differs, and what is not shown.
    """

    baseline: str
    model: str
    broken: int
    fixed: int
    still_wrong: int
    unchanged: int
    churned: int
    n: int
    cards: tuple[Card, ...]
    tasks: tuple[ChangedTask, ...]
    same: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """May this release ship? ``tone`` is ``yes``, ``no`` or ``open``."""

    tone: str
    sentence: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """All that ``report.html`` shows; ``marks`` says what the charts have beside the figures of the model."""

    model: str
    answer: Answer
    counts: str
    changes: Changes | None
    abilities: Mapping[str, tuple[Section, ...]]
    charts: tuple[tuple[str, Markup], ...]
    radar: Markup
    marks: frozenset[str]
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
    priors: tuple[PriorSplit, ...] = ()
    whys: Whys = field(default_factory=Whys)
    founds: Founds = field(default_factory=Founds)
    analyses: Analyses = field(default_factory=Analyses)
    controls: tuple[ControlTable, ...] = ()
