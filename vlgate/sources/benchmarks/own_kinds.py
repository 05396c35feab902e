"""The kinds of a user's own cases: the fields of a line, and what they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from vlgate.errors import nearest
from vlgate.sources.benchmarks import own_matches as matches
from vlgate.sources.benchmarks import own_questions as questions
from vlgate.sources.benchmarks.own_questions import Asked, Find
from vlgate.sources.reading.records import Record
from vlgate.types import Capability, Shape

ANYWHERE = ("task", "id", "tags")
"""The fields that a line of every kind may have."""
_BOX = ("box", "named")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseKind:
    """A kind of case: the shape and capability of its task, the fields of a line, and what turns a line into requests.

    ``needed`` are the fields that a line must have, ``allowed`` those that it may have. ``ask`` returns the requests
    and the truths of a line.
    """

    shape: Shape
    capability: Capability
    needed: tuple[str, ...]
    ask: Callable[[Record, Find], Asked]
    allowed: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields that a line can have."""
        return (*ANYWHERE, *self.needed, *self.allowed)

    @property
    def remedy(self) -> str:
        """The remedy of an error in a line of this kind: the fields that it must and may have."""
        may = ", ".join((*ANYWHERE[1:], *self.allowed))
        return f"write a line with the fields task, {', '.join(self.needed)}, and perhaps {may}"


_KINDS: Mapping[str, CaseKind] = MappingProxyType(
    {
        "foil": CaseKind(
            shape="pair", capability="foil", needed=("image", "caption", "foil"), ask=matches.pair, allowed=_BOX
        ),
        "foils": CaseKind(
            shape="choice", capability="foil", needed=("image", "caption", "foils"), ask=matches.choice, allowed=_BOX
        ),
        "other_images": CaseKind(
            shape="image_choice",
            capability="foil",
            needed=("image", "other_images", "caption"),
            ask=matches.image_choice,
        ),
        "statement": CaseKind(
            shape="single",
            capability="foil",
            needed=("image", "statement", "is_true"),
            ask=matches.statement,
            allowed=_BOX,
        ),
        "captions": CaseKind(shape="quad", capability="compositional", needed=("images", "captions"), ask=matches.quad),
        "true": CaseKind(
            shape="set",
            capability="compositional",
            needed=("image", "true", "false"),
            ask=matches.sentence_set,
            allowed=_BOX,
        ),
        "questions": CaseKind(
            shape="question_quad",
            capability="compositional",
            needed=("images", "questions", "answers"),
            ask=questions.crossed,
            allowed=("choices",),
        ),
    },
)
"""The kinds of case, each by the field that no other kind has."""
_TWO_TRUE = CaseKind(
    shape="two_true", capability="foil", needed=("image", "true", "false"), ask=matches.two_true, allowed=_BOX
)
_TWINS = CaseKind(
    shape="twin_questions",
    capability="directional",
    needed=("image", "twin", "question", "answer", "prior"),
    ask=questions.twins,
    allowed=("choices",),
)
_SINGLE = CaseKind(
    shape="single", capability="foil", needed=("image", "question", "answer"), ask=questions.single, allowed=_BOX
)
_ASKED = ("image", "question", "answer", "perturbed", "perturbed_answer", "kind")
_PAIRS: Mapping[str, CaseKind] = MappingProxyType(
    {
        "invariance": CaseKind(
            shape="questions",
            capability="invariance",
            needed=_ASKED,
            ask=questions.question_pair,
            allowed=("choices", "perturbed_image"),
        ),
        "directional": CaseKind(
            shape="questions",
            capability="directional",
            needed=_ASKED,
            ask=questions.question_pair,
            allowed=("choices", "perturbed_image"),
        ),
    },
)
_EVERY = (*_KINDS.values(), _TWO_TRUE, *_PAIRS.values(), _TWINS, _SINGLE)


def kind_of(record: Record) -> CaseKind:
    """Return the kind of case of a line.

    Raises: DataError if the line has the fields of no kind, or of several kinds.
    """
    marks = [mark for mark in (*_KINDS, "question") if mark in record.fields]
    if "prior" in record.fields and not marks:
        return _TWINS
    if len(marks) != 1 or ("prior" in record.fields and marks != ["question"]):
        raise record.error(_no_kind(record))
    if marks == ["question"]:
        return _of_question(record)
    if marks == ["true"] and type(record.fields.get("false")) is str:
        return _TWO_TRUE
    return _KINDS[marks[0]]


def _of_question(record: Record) -> CaseKind:
    if "prior" in record.fields:
        return _TWINS
    if not {"perturbed", "perturbed_answer", "perturbed_image", "kind"} & set(record.fields):
        return _SINGLE
    if record.text("kind") not in _PAIRS:
        record.reject("kind", " or ".join(map(repr, _PAIRS)))
    return _PAIRS[record.text("kind")]


def _no_kind(record: Record) -> str:
    """Say which fields each kind of case has; before that, which field is probably misspelled."""
    known = dict.fromkeys(field for kind in _EVERY for field in kind.fields)
    misspelled = (field for field in record.fields if field not in known and get_close_matches(field, known))
    hint = next((f"field {field!r} is unknown ({nearest(field, known)}); " for field in misspelled), "")
    kinds = "; ".join(dict.fromkeys(", ".join(kind.needed) for kind in _EVERY))
    return f"{hint}expected the fields of one kind of case ({kinds}), not {', '.join(record.fields)}"
