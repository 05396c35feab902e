"""The records that pass through vlgate, and the protocols of models; docs/concepts.md explains the words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

FloatArray = NDArray[np.float64]
Capability = Literal["invariance", "directional", "foil", "compositional"]
Shape = str
"""The name of a shape of case, a row of ``vlgate.metrics.shapes.SHAPES``."""
Ties = Literal["strict", "half", "credit"]
State = Literal["judged", "unscored", "skipped"]

CAPABILITIES: tuple[Capability, ...] = ("invariance", "directional", "foil", "compositional")
TIED = "<tied>"
"""What an answerer returns if its best choices have exactly the same score. It counts as no answer, so it is a miss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyImage:
    """An image with a stable key, decoded only when a model asks for it.

    ``key`` is the name that the benchmark's own file uses (``v7w_2371044.jpg``), with ``#`` and the perturbation's
    name if there is one (``2357834#blur6``). A model gets a key of 16 digits instead, equal for equal images in one
    process, and no path, unless it has an attribute ``image_names = True``. ``load()`` decodes the image: it returns an
    upright PIL image in mode RGB of at least 1 x 1 pixels, or raises ImageError, which names the image, the file and
    the remedy. ``where`` is the path of the file. Two images are equal if their keys and paths are equal.
    """

    key: str
    load: Callable[[], Image] = field(compare=False, repr=False)
    where: str = ""

    def __hash__(self) -> int:
        """Hash the key only, because a run hashes each image about ten times."""
        return hash(self.key)

    @property
    def is_there(self) -> bool:
        """Whether the image, or the one that it is a perturbation of, has a file; the file is not opened."""
        return bool(self.where) and not self.where.startswith("#")  # "#" begins the name of a perturbation


Recipe = tuple[object, ...]
"""What an image is made of: strings, numbers, None, recipes, and ``FileContent``."""


class FileContent(str):  # noqa: SLOT000  # it has no attributes
    """The path of a file whose content a recipe stands for; a string, because a run has up to a million of them."""


@runtime_checkable
class Traced(Protocol):
    """A ``load`` of an image that tells what its pixels depend on, so that they are known again without decoding."""

    def recipe(self) -> Recipe | None:
        """Return what the pixels depend on: images with equal recipes and equal files are equal. None if unknown."""


def recipe_of(image: LazyImage) -> Recipe | None:
    """Return what the pixels of an image depend on; None if only decoding can tell."""
    return image.load.recipe() if isinstance(image.load, Traced) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """How well does ``text`` fit ``image``? The reply is a score; a higher score means a better fit."""

    image: LazyImage
    text: str

    def __hash__(self) -> int:
        """Hash the image's key and the text, which are equal if two requests are equal."""
        return hash((self.image.key, self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is the answer to ``question`` about ``image``? If there are ``choices``, the answer is one of them.

    ``aliases`` are what a reply may call each choice as well: its letter, or the text of a choice that is a letter.
    """

    image: LazyImage
    question: str
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """How surprising is ``text``? The reply is its perplexity; a lower one means a more plausible text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """What is the answer to ``question`` about several ``images`` at once? The first image comes first in the prompt.

    If there are ``choices``, the answer is one of them. ``--ask=together`` makes such requests of cases with several
    images; see ``Comparer``.
    """

    images: tuple[LazyImage, ...]
    question: str
    choices: tuple[str, ...] = ()


Request = Match | Ask | Read | Compare


_new = object.__new__  # the constructors of frozen dataclasses take twice as long
_set_image, _set_text = (Match.__dict__[name].__set__ for name in ("image", "text"))


def match_of(image: LazyImage, text: str) -> Match:
    """Return ``Match(image=image, text=text)``, in half the time."""
    match: Match = _new(Match)
    _set_image(match, image)
    _set_text(match, text)
    return match


class Matches(Sequence[Match]):
    """Texts about one image as requests, each made when it is looked at; they equal a tuple of the same requests.

    The two of a case take 170 bytes less than a tuple of two requests, and a run has up to a million cases.
    """

    __slots__ = ("_texts", "image")

    def __init__(self, image: LazyImage, texts: Sequence[str]) -> None:
        """Take one or more texts, none of which holds a character 0."""
        self.image = image
        self._texts = "\0".join(texts)

    def __iter__(self) -> Iterator[Match]:
        image = self.image
        for text in self._texts.split("\0"):  # as ``match_of`` does, without a call for each
            match: Match = _new(Match)
            _set_image(match, image)
            _set_text(match, text)
            yield match

    def __len__(self) -> int:
        return self._texts.count("\0") + 1

    @overload
    def __getitem__(self, place: int) -> Match: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Match]: ...
    def __getitem__(self, place: int | slice) -> Match | Sequence[Match]:
        if isinstance(place, slice):
            return tuple(self)[place]
        return match_of(self.image, self._texts.split("\0")[place])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Matches):
            return self._texts == other._texts and self.image == other.image
        return tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self.named))

    def __repr__(self) -> str:
        return repr(tuple(self))

    @property
    def named(self) -> list[tuple[str, str]]:
        """The key of the image and the text of each request, which have the hash of the request."""
        key = self.image.key
        return [(key, text) for text in self._texts.split("\0")]


def images_of(request: Request) -> tuple[LazyImage, ...]:
    """Return the images of a request, in their order; none for a text alone."""
    if isinstance(request, Match):  # the most frequent kind, and a run asks this about 20 times for each case
        return (request.image,)
    if isinstance(request, Compare):
        return request.images
    return () if isinstance(request, Read) else (request.image,)


def with_images(request: Request, change: Callable[[LazyImage], LazyImage]) -> Request:
    """Return a request with each of its images changed."""
    if isinstance(request, Compare):
        return replace(request, images=tuple(map(change, request.images)))
    return request if isinstance(request, Read) else replace(request, image=change(request.image))


def text_of(request: Request) -> str:
    """Return the text of a request, or its question."""
    if isinstance(request, Match):
        return request.text
    return request.text if isinstance(request, Read) else request.question


_NOTHING: Mapping[str, Any] = {}  # shared by all cases without tags


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The requests that are judged together.

    ``truths`` holds one entry per request: for a ``Match`` whether the text is true of the image, for a question the
    right answer. ``tags`` name the slices of the case (``{"provenance": "zero_to_something"}``), or its group for a
    metric over groups. ``file`` and ``record`` say where it was read; a record that is a number is a line.

    The task's shape fixes the order of the requests; ``roles`` in ``vlgate.metrics.shapes`` names them. A ``pair`` has
    (image, caption), (image, foil); a ``quad`` (image_0, caption_0), (image_0, caption_1), (image_1, caption_0),
    (image_1, caption_1); ``questions`` the original and the perturbed one.

    A case that is asked with its images together has the requests that ``vlgate.run.together`` describes.
    """

    id: str
    requests: Sequence[Request]
    truths: tuple[bool | str, ...]
    tags: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    file: str = ""
    record: str | int = ""

    @property
    def origin(self) -> str:
        """Its file and record, in words."""
        if isinstance(self.record, int):
            return f"{self.file}, record on line {self.record}"
        return f"{self.file}, record {self.record}" if self.record else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedCase(Case):
    """A case with ``named``: the boxes (x, y, w, h) of all that its texts name, in pixels, by the key of the image."""

    named: Mapping[str, tuple[tuple[float, ...], ...]]


UNREADABLE = "record that cannot be read"
"""The reason in ``Task.left_out`` for records that are lost; a gate counts them as skipped cases."""

UNDRAWN = "beyond --"
"""How the reasons in ``Task.left_out`` begin for cases that ``--limit`` and ``--quick`` did not draw."""


def undrawn(left_out: Mapping[str, int]) -> int:
    """Return how many cases of a task were not drawn, from its ``left_out``."""
    return sum(count for reason, count in left_out.items() if reason.startswith(UNDRAWN))


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """All cases of one benchmark and phenomenon.

    ``id`` is stable (``valse/existence``). ``left_out`` counts the records that did not become cases, by reason, and
    ``corrected`` the cases with truths that a dispute changed. ``note`` tells what a reader must know: a missing file.
    """

    id: str
    capability: Capability
    shape: Shape
    cases: tuple[Case, ...] = field(repr=False)
    left_out: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    corrected: int = 0

    @property
    def benchmark(self) -> str:
        """The part of the id before the first slash."""
        return self.id.partition("/")[0]

    @property
    def together(self) -> bool:
        """Whether its cases are asked with their images together."""
        return bool(self.cases) and any(isinstance(request, Compare) for request in self.cases[0].requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Some cases of one task, given by their positions in it: what one pytest item runs.

    ``ties`` says what an exact tie of two scores counts: ``strict`` 0, ``half`` 1/2, ``credit`` 1.
    """

    task: Task
    positions: Sequence[int] = field(repr=False)
    ties: Ties = "strict"

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases themselves, in the order of ``positions``."""
        return tuple(self.task.cases[position] for position in self.positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A model's reply to one request.

    ``score`` is the match score or the perplexity. ``answer`` is the reply to a question, None if the model's best
    choices tie. ``accepted`` is the model's own yes or no, None if it gives none. ``problem`` says why there is no
    reply. ``skipped`` marks a request that was left out on purpose (``--missing-images skip``). ``cut`` marks a request
    whose text the model did not read to the end. ``neither`` marks a score of yes or no whose answer probably begins
    with another word.
    """

    request: Request
    score: float | None = None
    answer: str | None = None
    accepted: bool | None = None
    problem: str | None = None
    skipped: bool = False
    cut: bool = False
    neither: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judged case: its facts, whether the case as a whole is right, and a sentence that says why.

    A fact is what the case contributes to the metric of the same name, in 0..1: 1 if it holds, 0 if it does not, and a
    value between for the average of two outcomes or for a tie that counts 1/2. ``tied`` is the only fact that is not a
    metric. ``state`` is ``judged``, ``unscored`` (a reply is missing) or ``skipped`` (left out on purpose); only a
    judged case has facts. ``predictions`` holds one reply per request of the case.
    """

    case: Case
    predictions: tuple[Prediction, ...]
    state: State
    right: bool
    facts: Mapping[str, float]
    why: str


class Predictor(Protocol):
    """A model as a test sees it: requests in, predictions out."""

    def predict(self, requests: Iterable[Request]) -> Mapping[Request, Prediction]:
        """Return one prediction per distinct request; a prediction without a reply says why there is none."""


class Ledger(Protocol):
    """The object that a test gives its verdicts to."""

    def record(self, verdicts: Sequence[Verdict]) -> None:
        """Keep the verdicts; fail the test if a case could not be scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number in 0..1 over ``n`` cases, with its two-sided interval.

    ``deff`` is the design effect: ``n`` cases are worth ``n / deff`` independent ones, as those of an image are alike.
    ``rarer`` counts the cases of the rarer truth, if the number compares the two truths; such a metric is known no
    better than these cases allow.
    """

    value: float
    low: float
    high: float
    n: int
    deff: float = 1.0
    rarer: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The difference of a metric between two runs on the same ``n`` cases, later minus earlier, with its interval.

    ``broken`` and ``fixed`` count the cases whose value is lower or higher in the later run; ``deff``: see ``Metric``.
    """

    value: float
    low: float
    high: float
    n: int
    broken: int
    fixed: int
    deff: float = 1.0


@runtime_checkable
class Matcher(Protocol):
    """A model that scores (image, text) pairs together."""

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Return scores of shape (n,); a higher score means a better fit."""


@runtime_checkable
class DualEncoder(Protocol):
    """A model that encodes images and texts separately; the score of a pair is the dot product of its two rows."""

    def encode_images(self, images: Sequence[LazyImage]) -> FloatArray:
        """Return features of shape (n, d); normalise them if the score should be a cosine."""

    def encode_texts(self, texts: Sequence[str]) -> FloatArray:
        """Return features of shape (n, d); normalise them if the score should be a cosine."""


@runtime_checkable
class Answerer(Protocol):
    """A model that answers questions about images."""

    def answer(self, questions: Sequence[Ask]) -> Sequence[str]:
        """Return n answers. If a question has choices, its answer is one of them, or ``TIED``."""


@runtime_checkable
class Comparer(Protocol):
    """A model that answers questions about several images in one prompt."""

    def compare(self, questions: Sequence[Compare]) -> Sequence[str]:
        """Return n answers. If a question has choices, its answer is one of them, or ``TIED``."""


@runtime_checkable
class LanguageModel(Protocol):
    """A model that measures how surprising a text is."""

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        """Return perplexities of shape (n,), each above 0; a lower one means a more plausible text."""


@runtime_checkable
class Classifier(Protocol):
    """A matcher that also says yes or no to each pair, in addition to its score."""

    def accepts(self, pairs: Sequence[Match]) -> FloatArray:
        """Return an array of shape (n,): 1.0 for yes, 0.0 for no, NaN if the model does not say."""


@runtime_checkable
class TextKeys(Protocol):
    """A model that tells which texts are the same to it, so that they tie exactly in whatever batch they stand."""

    def text_keys(self, texts: Sequence[str]) -> Sequence[Hashable]:
        """Return n keys; two texts have equal keys if the model reads the same tokens of them."""


@runtime_checkable
class Prepared(Protocol):
    """A reference model that must see the tasks before it replies, such as an answer key or a text-only baseline."""

    def prepare(self, tasks: Sequence[Task]) -> None:
        """Take what the model needs from all tasks of the run."""


Box = tuple[float, float, float, float]
"""Left, top, right and bottom, each in 0..1 of the image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attended:
    """A map of what a model attends to in one request.

    ``boxes`` are parts of the image with a weight each, in 0..1 of the largest. ``text`` is the text, and ``aligned``
    the share of each of ``words`` that goes to each box, if the method aligns words with regions.
    """

    method: str
    image: int
    text: str
    boxes: tuple[Box, ...]
    weights: tuple[float, ...]
    words: tuple[str, ...] = ()
    aligned: tuple[tuple[float, ...], ...] = ()


@runtime_checkable
class Boxed(Protocol):
    """A model that sees an image as boxes, such as one on the regions of a detector."""

    def boxes(self, images: Sequence[LazyImage]) -> Sequence[FloatArray]:
        """Return the boxes of each image, shape (n, 4): left, top, right and bottom, each in 0..1."""


@runtime_checkable
class Attends(Protocol):
    """A model that tells what it attends to."""

    def attended(self, pairs: Sequence[Match]) -> Sequence[Attended]:
        """Return a map for each pair; its ``image`` is 0."""


@runtime_checkable
class RollsOut(Protocol):
    """A transformer that tells what it attends to through all of its layers."""

    def attention_rollout(self, pairs: Sequence[Match]) -> Sequence[Attended]:
        """Return a map for each pair, or none at all; its ``image`` is 0."""
