"""The records that travel through vlgate, and the protocols that models meet; the words are in ARCHITECTURE.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

FloatArray = NDArray[np.float64]
Capability = Literal["invariance", "directional", "foil", "compositional"]
Shape = Literal["pair", "quad", "set", "voices", "questions"]
Ties = Literal["strict", "half", "credit"]
State = Literal["judged", "unscored", "skipped"]
Outcome = Literal["pass", "fail", "inconclusive", "not run"]

CAPABILITIES: tuple[Capability, ...] = ("invariance", "directional", "foil", "compositional")
TIED = "<tied>"
"""What an answerer returns where its best choices score exactly the same: an answer to nothing, so a miss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image with a stable key, decoded only when a model asks for it.

    ``key`` is the name that the benchmark's own file uses (``v7w_2371044.jpg``), with ``#`` and the perturbation's
    name where there is one (``2357834#blur6``). Two pictures are equal when their keys and ``where`` are.
    ``load`` returns an 8-bit RGB image and raises a ``PictureError`` that names ``key`` where it cannot.
    """

    key: str
    load: Callable[[], Image] = field(compare=False, repr=False)
    where: str = ""

    def __hash__(self) -> int:
        """By key: a run hashes each picture some ten times."""
        return hash(self.key)

    def image(self) -> Image:
        """Decode the picture.

        Returns: a PIL image in mode RGB, upright, of at least 1 x 1 pixels.
        Raises: PictureError, which names the picture, the file and the remedy.
        """
        return self.load()


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """How well does ``text`` fit ``picture``? The reply is a score; higher fits better."""

    picture: Picture
    text: str

    def __hash__(self) -> int:
        """Of the picture's key and the text, which are equal where two requests are."""
        return hash((self.picture.key, self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is the answer to ``question`` about ``picture``, among ``choices`` where there are any?"""

    picture: Picture
    question: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """How surprising is ``text``? The reply is its perplexity; lower is more plausible."""

    text: str


Request = Match | Ask | Read


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The requests that are judged together.

    ``truths`` holds one entry a request: for a ``Match`` whether the text is true of the picture, for an ``Ask`` the
    right answer. ``tags`` name the slices that the case belongs to (``{"provenance": "zero_to_something"}``).
    ``origin`` says where the case was read, for error messages (``existence.json, record existence_visual7w_1``).

    The order of the requests is fixed by the table's shape:

    - ``pair``: (picture, caption), (picture, foil);
    - ``quad``: (image_0, caption_0), (image_0, caption_1), (image_1, caption_0), (image_1, caption_1);
    - ``set``: (picture, true_1), (picture, true_2), (picture, false_1), (picture, false_2);
    - ``voices``: the same, where the two sentences that are true, and the two that are false, are active and passive;
    - ``questions``: original question, perturbed question.
    """

    id: str
    requests: tuple[Request, ...]
    truths: tuple[bool | str, ...]
    tags: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All cases of one benchmark and phenomenon.

    ``id`` is stable (``valse/existence``). ``left_out`` counts the records that were read and are no cases, by reason;
    ``note`` says what a reader of the figures must know, such as that some of the table's files are not there.
    """

    id: str
    capability: Capability
    shape: Shape
    cases: tuple[Case, ...] = field(repr=False)
    left_out: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    @property
    def benchmark(self) -> str:
        """The part of the id before the first slash."""
        return self.id.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a source, ``read(reading: Reading) -> Iterable[Table]``, is asked for; it reads no table that is not wanted.

    ``shared`` holds what the sources of one reading have in common: the folders that were listed. ``pairs`` is how many
    questions a table made from scene graphs has; None: as many as in the paper.
    """

    folders: tuple[Path, ...]
    seed: int
    wanted: Callable[[str], bool]
    protocols: frozenset[str] = frozenset()
    pairs: int | None = 1000
    shared: dict[str, object] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Some cases of one table, by their positions in it: what one pytest item runs.

    ``ties`` says what an exact tie of two scores counts: ``strict`` nothing, ``half`` one half, ``credit`` one.
    """

    table: Table
    positions: tuple[int, ...] = field(repr=False)
    ties: Ties = "strict"

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases themselves, in the order of ``positions``."""
        return tuple(self.table.cases[position] for position in self.positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A model's reply to one request.

    ``score`` is the match score or the perplexity, ``answer`` the reply to a question (None where the model cannot
    tell its best choices apart), ``accepted`` the model's own yes or no where it gives one. ``problem`` says why there
    is no reply; ``skipped`` marks a request that was left out on purpose (``--missing-images skip``), and ``cut`` one
    of whose text the model did not read the end.
    """

    request: Request
    score: float | None = None
    answer: str | None = None
    accepted: bool | None = None
    problem: str | None = None
    skipped: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judged case: named booleans, whether the case as a whole is right, and a sentence why.

    ``state`` is ``judged``, ``unscored`` (a reply is missing) or ``skipped`` (left out on purpose); only a judged
    case has facts. ``predictions`` holds the replies, one a request of the case.
    """

    case: Case
    predictions: tuple[Prediction, ...]
    state: State
    right: bool
    facts: Mapping[str, bool]
    why: str


class Predictor(Protocol):
    """A model as a test meets it: requests in, predictions out."""

    def predict(self, requests: Iterable[Request]) -> Mapping[Request, Prediction]:
        """Reply to each distinct request, or say why there is no reply."""


class Ledger(Protocol):
    """Where a test's verdicts go."""

    def record(self, verdicts: Sequence[Verdict]) -> None:
        """Keep the verdicts; fail the test where a case could not be scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number in 0..1 over ``n`` cases, with its two-sided interval."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A threshold on one metric of one table: the unfavourable end of the interval (or the value) must reach it."""

    table: str
    metric: str
    min: float | None = None
    max: float | None = None
    basis: Literal["lower", "value"] = "lower"
    confidence: float = 0.95
    min_cases: int = 30
    why: str = ""

    @property
    def id(self) -> str:
        """``table:metric``, the name that reports use."""
        return f"{self.table}:{self.metric}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a gate decided, with a sentence why. ``metric`` is None where there was nothing to judge."""

    gate: Gate
    outcome: Outcome
    why: str
    metric: Metric | None = None


@runtime_checkable
class Matcher(Protocol):
    """A model that scores (picture, text) pairs together."""

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Return scores of shape (n,); higher fits better."""


@runtime_checkable
class DualEncoder(Protocol):
    """A model that encodes pictures and texts apart; a pair's score is the dot product of its two rows."""

    def encode_images(self, images: Sequence[Picture]) -> FloatArray:
        """Return features of shape (n, d), normalised where the score is to be a cosine."""

    def encode_texts(self, texts: Sequence[str]) -> FloatArray:
        """Return features of shape (n, d), normalised where the score is to be a cosine."""


@runtime_checkable
class Answerer(Protocol):
    """A model that answers questions about pictures."""

    def answer(self, questions: Sequence[Ask]) -> Sequence[str]:
        """Return n answers, each one of the question's choices where it has any, or ``TIED``."""


@runtime_checkable
class Reader(Protocol):
    """A model that knows how surprising a text is."""

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        """Return perplexities of shape (n,), each above 0; lower is more plausible."""


@runtime_checkable
class Classifier(Protocol):
    """A matcher that also says yes or no itself, apart from its score."""

    def accepts(self, pairs: Sequence[Match]) -> FloatArray:
        """Return 1.0 for yes, 0.0 for no and NaN for no opinion, of shape (n,)."""


@runtime_checkable
class Prepared(Protocol):
    """A reference model that must see the tables before it replies: an answer key, or a text-only baseline."""

    def prepare(self, tables: Sequence[Table]) -> None:
        """Take what is needed from the tables of the whole run."""
