"""Checks of foils one by one, and whether captions and foils say the same things equally often (VALSE, Table 5)."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2, sqrt

from vlgate.errors import NoReplyError
from vlgate.making.inputs.records import plain
from vlgate.making.kinds.kind import Inference, Item, Kind
from vlgate.making.sets.blind import contrasts, images
from vlgate.making.tools import Tools
from vlgate.perturb.foils.candidates import Candidate, Entailment, Grammaticality
from vlgate.types import FloatArray

# Whether captions and foils say the same things equally often: VALSE's Table 5 (appendix E, "Bias check").

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How often each phrase stands in captions and in foils; ``distance`` is their Jensen-Shannon distance in 0..1."""

    captions: Mapping[str, int]
    foils: Mapping[str, int]

    @property
    def distance(self) -> float:
        return jensen_shannon(self.captions, self.foils)

    @property
    def items(self) -> int:
        """How many different phrases stand in captions or foils: #Lex.it. of Table 5."""
        return len({*self.captions, *self.foils})


def jensen_shannon(captions: Mapping[str, int], foils: Mapping[str, int]) -> float:
    # Table 5 calls it a divergence, but its formula has the square root (Endres and Schindelin 2003).
    sums = sum(captions.values()), sum(foils.values())
    if not all(sums):
        raise ValueError("captions and foils must have at least one phrase each")
    total = 0.0
    for phrase in sorted({*captions, *foils}):
        shares = captions.get(phrase, 0) / sums[0], foils.get(phrase, 0) / sums[1]
        mean = sum(shares) / 2
        total += sum(share * log2(share / mean) for share in shares if share)
    return sqrt(max(0.0, total / 2))


def of_classes(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Balance:
    """Count what differs between each caption and its foil, such as (("on",), ("under",))."""
    captions: Counter[str] = Counter()
    foils: Counter[str] = Counter()
    for caption, foil in pairs:
        captions.update(caption)
        foils.update(foil)
    return Balance(captions=captions, foils=foils)


def of_words(pairs: Iterable[tuple[str, str]]) -> Balance:
    return of_classes((words(caption), words(foil)) for caption, foil in pairs)


@lru_cache(maxsize=65_536)
def words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


# Checks of single candidates: a foil must be a changed caption, grammatical, and must not follow from the caption.

LEAST_GRAMMATICAL = 0.8
"""The least score of a foil (VALSE, section 4.1)."""

LEAST_LIKELY = 0.5
"""The least likelihood of a foil in proportion to its caption, for a judge that compares them."""

LEAST_KEPT = 0.5
"""The least share of a caption's words that its foil keeps."""

EQUAL = "the foil is the caption"
REWRITTEN = f"the foil keeps less than {LEAST_KEPT:.0%} of the caption's words"
UNLIKELY = f"the foil is less than {LEAST_LIKELY} times as likely as its caption"
UNGRAMMATICAL = f"the foil's score of grammaticality is below {LEAST_GRAMMATICAL}"
SHORT = "the caption or the foil is too short for the language model"
ENTAILED = "the caption entails the foil"
NEUTRAL = "the foil does not contradict the caption"
DUPLICATE = "the same case again"
TRUE = "the foil is a caption of its image"

_FEW_WORDS = 4  # of a shorter text, such as "red car", a foil may keep nothing
_Pairs = Sequence[tuple[str, str]]
Check = Callable[[Sequence[Candidate]], list[str | None]]
"""Says of each candidate why it is dropped, or None if it stays."""


def checks(kind: Kind, tools: Tools) -> tuple[Check, ...]:
    found: list[Check] = [_each(equal)] if kind.renumbers else [_each(equal), _each(rewritten)]
    if tools.has("grammar"):
        found.append(_each(lambda pairs: ungrammatical(pairs, tools.grammar)))
    if tools.has("nli") and kind.inference != "unused":
        found.append(_each(lambda pairs: followed(pairs, tools.nli, kind.inference)))
    return tuple(found)


def equal(pairs: _Pairs) -> list[str | None]:
    """Drop foils that differ from their caption in capitals, blanks and punctuation marks at most."""
    return [EQUAL if words(true) == words(false) else None for true, false in pairs]


def rewritten(pairs: _Pairs) -> list[str | None]:
    """Drop foils that are another text instead of a changed caption; a caption of fewer than four words may change."""
    reasons: list[str | None] = []
    for caption, foil in pairs:
        before = Counter(words(caption))
        kept = (before & Counter(words(foil))).total()
        changed = before.total() >= _FEW_WORDS and kept / before.total() < LEAST_KEPT
        reasons.append(REWRITTEN if changed else None)
    return reasons


def ungrammatical(pairs: _Pairs, judge: Grammaticality) -> list[str | None]:
    # A judge may compare a text with its original instead, as the likelihood of a language model does.
    if against := getattr(judge, "against", None):
        return _compared(pairs, against)
    scores = judge.acceptability([false for _, false in pairs])
    return [UNGRAMMATICAL if score < LEAST_GRAMMATICAL else None for score in scores]


def _compared(pairs: _Pairs, against: Callable[[list[str], list[str]], FloatArray]) -> list[str | None]:
    try:
        scores = against([true for true, _ in pairs], [false for _, false in pairs])
    except NoReplyError as error:
        short = {position % len(pairs) for position in error.positions}
        left = [pair for index, pair in enumerate(pairs) if index not in short]
        if not short:
            raise
        rest = iter(_compared(left, against) if left else ())
        return [SHORT if index in short else next(rest) for index in range(len(pairs))]
    return [UNLIKELY if score < LEAST_LIKELY else None for score in scores]


def followed(pairs: _Pairs, judge: Entailment, wanted: Inference) -> list[str | None]:
    """Drop foils that their caption entails or, if ``wanted`` is "contradiction", that it does not contradict."""
    found: list[str | None] = []
    for entailment, neutral, contradiction in judge.infer(pairs):
        if entailment >= max(neutral, contradiction):
            found.append(ENTAILED)
        else:
            found.append(NEUTRAL if wanted == "contradiction" and neutral >= contradiction else None)
    return found


def repeated(items: Sequence[Item]) -> Iterator[str | None]:
    told = [[(image, *map(plain, pair)) for image, pair in _pairs_of_images(item)] for item in items]
    true = {(image, text) for pairs in told for image, text, _ in pairs}
    seen: set[tuple[object, ...]] = set()
    for item, pairs in zip(items, told, strict=True):
        key = images(item), tuple(tuple(map(plain, pair)) for pair in contrasts(item.candidate))
        if key in seen:
            yield DUPLICATE
        else:
            yield TRUE if any((image, false) in true for image, _, false in pairs) else None
        seen.add(key)


def _pairs_of_images(item: Item) -> list[tuple[str, tuple[str, str]]]:
    pairs, names = contrasts(item.candidate), images(item)
    return list(zip(names if len(names) > 1 else names * len(pairs), pairs, strict=True))


def _each(check: Callable[[_Pairs], list[str | None]]) -> Check:
    def checked(candidates: Sequence[Candidate]) -> list[str | None]:
        parts = [contrasts(candidate) for candidate in candidates]
        pairs = [pair for part in parts for pair in part]
        reasons = iter(check(pairs) if pairs else ())
        return [next((r for r in [next(reasons) for _ in part] if r is not None), None) for part in parts]

    return checked
