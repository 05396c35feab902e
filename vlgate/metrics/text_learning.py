"""What learns from texts alone: folds by image, Naive Bayes over words, and rules that compare texts."""

import re
import string
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.clusters import connected
from vlgate.metrics.stats import wilson
from vlgate.types import Ask, Case, FloatArray, Match, images_of

FOLDS = 10


def tied_images(cases: Iterable[Case]) -> dict[str, str]:
    # The images of one case stay together, and so do the regions of one photograph; see ``metrics.clusters.connected``.
    # If a quad were divided, a classifier would learn its texts with reversed truths.
    return connected([image.key for request in case.requests for image in images_of(request)] for case in cases)


def fold_of(group: str) -> int:
    return _hash(group) % FOLDS


# Folds for cross-validation in which what distinguishes true from false texts is spread evenly.
# A task may be balanced on purpose: "left" is true as often as "right". If one fold then holds more cases of "left",
# the other folds hold more of "right", and a classifier trained on them is wrong about most cases of this fold: it
# comes out below chance (Parker, Guenter and Bedo 2007, section 4). If each fold holds equal numbers of both, it is at
# chance.

_Stratum = tuple[str, str]
_FEWEST = 20
_MOST = 5_000


def stratified_folds(cases: Sequence[Case]) -> dict[str, int]:
    # Images that share a case have the same fold. The fold is a hash of the smallest key of its images. But if at least
    # 20 groups of images have the same contrast, for example between "left" and "right", and it is balanced, these are
    # dealt to the folds in turn, those with "left" true and those with "right" true alike. All other contrasts keep the
    # hash: if the truth decided their folds, tasks whose truths are random would come out above chance. So do the
    # images of more than 5,000 cases, of which chance alone makes folds that are even: at 500 cases the hash costs
    # 0.007.
    groups = tied_images(cases)
    if len(cases) > _MOST:
        return {key: fold_of(group) for key, group in groups.items()}
    contrasts: dict[str, list[_Stratum]] = {}
    for case in cases:
        key = next((image.key for asked in case.requests for image in images_of(asked)), None)
        if key is not None:
            contrasts.setdefault(groups[key], []).append(_stratum(case))
    strata: dict[str, dict[str, list[str]]] = {}
    for group, contrast in contrasts.items():
        kinds, sides = ("\0".join(part) for part in zip(*sorted(contrast), strict=True))
        strata.setdefault(kinds, {}).setdefault(sides, []).append(group)
    folds = {group: fold_of(group) for group in contrasts}
    for by_side in strata.values():
        # Two sides are so nearly equal that chance alone is an unlikely reason: to 0.1 standard deviations.
        sizes = [len(members) for members in by_side.values()]
        if len(sizes) == 2 and sum(sizes) >= _FEWEST and 100 * (sizes[0] - sizes[1]) ** 2 <= sum(sizes):
            for members in by_side.values():
                folds |= {group: index % FOLDS for index, group in enumerate(sorted(members, key=_hash))}
    return {key: folds[group] for key, group in groups.items()}


def _stratum(case: Case) -> _Stratum:
    pairs = list(zip(case.requests, case.truths, strict=True))
    texts = [(asked.text, truth is True) for asked, truth in pairs if isinstance(asked, Match)]
    true, false = (
        {word for text, truth in texts if truth is kind for word in text.lower().split()} for kind in (True, False)
    )
    only, other = " ".join(sorted(true - false)), " ".join(sorted(false - true))
    choices = ["|".join(sorted(set(asked.choices))) for asked in case.requests if isinstance(asked, Ask)]
    answers = [str(truth) for asked, truth in pairs if isinstance(asked, Ask)]
    return "\0".join([*sorted((only, other)), *choices]), "\0".join([only if only != other else "", *answers])


def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big")


# Naive Bayes over the words of short texts, cross-validated: a text is classified by a model trained on other folds.
# The model is multinomial, with add-one smoothing (Manning, Raghavan and Schuetze 2008, section 13.2). The features
# are words, punctuation marks, and pairs of neighbours including the two ends of the text, all in lower case.

IntArray = NDArray[np.int64]
_END = "\0"
_AT_ONCE, _COUNTED = 2048, 8192  # texts, so that lists and arrays stay small


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """The features of n texts: text i has the features ``ids[starts[i]:starts[i + 1]]``, each below ``size``."""

    ids: IntArray
    starts: IntArray
    size: int

    def of(self, texts: IntArray) -> tuple[IntArray, IntArray]:
        """Return the ids of the features of some texts, and the position in ``texts`` of each feature's text."""
        lengths = self.starts[texts + 1] - self.starts[texts]
        rows = np.repeat(np.arange(len(texts)), lengths)
        before = np.cumsum(lengths) - lengths
        return self.ids[np.arange(len(rows)) + np.repeat(self.starts[texts] - before, lengths)], rows


def features(texts: Sequence[str]) -> Features:
    """Return the features of texts; all at once, because one call per text would take longer than the classifier."""
    words, numbers = _tokens(texts)
    ends = words == numbers[_END]
    kept = np.stack([~ends[1:], np.ones(len(words) - 1, dtype=bool)], axis=1)
    pairs = words[:-1] * len(numbers) + words[1:]
    distinct = np.unique(pairs)  # with the inverse, it takes three times as much memory
    both = np.empty(kept.shape, dtype=np.int32)
    both[:, 0], both[:, 1] = words[1:], np.searchsorted(distinct, pairs) + len(numbers)
    sizes = np.add.reduceat(kept.sum(axis=1), np.flatnonzero(ends)[:-1])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Features(ids=both[kept], starts=starts, size=len(numbers) + len(distinct))


def _tokens(texts: Sequence[str]) -> tuple[IntArray, Mapping[str, int]]:
    """Return the words and marks of all texts as numbers, with ``_END`` around each text, and the number of each."""
    numbers, parts = {_END: 0}, [np.zeros(1, dtype=np.int64)]
    for start in range(0, len(texts), _AT_ONCE):
        some = [text.replace(_END, " ") for text in texts[start : start + _AT_ONCE]]
        whole = f" {_END} ".join([*some, ""]).lower()
        for mark in string.punctuation:
            whole = whole.replace(mark, f" {mark} ")
        tokens = whole.split()
        for token in dict.fromkeys(tokens):
            numbers.setdefault(token, len(numbers))
        parts.append(np.fromiter(map(numbers.__getitem__, tokens), dtype=np.int64, count=len(tokens)))
    return np.concatenate(parts), numbers


def log_odds(known: Features, texts: IntArray, truths: NDArray[np.bool_], folds: IntArray) -> FloatArray:
    """Return the log odds that each text is true, learnt from other folds; 0.0 if they lack true or false texts."""
    # ``texts``, ``truths`` and ``folds``, shape (n,), are the number of each instance's text, whether it is true, and
    # its fold.
    scores = np.zeros(len(texts))
    whole = [_counts(known, texts[truths == label]) for label in (False, True)]
    for fold in np.unique(folds):
        inside = folds == fold
        others = [int(np.sum(~inside & (truths == label))) for label in (False, True)]
        if not all(others):
            continue
        seen = [whole[label] - _counts(known, texts[inside & (truths == label)]) for label in (False, True)]
        false, true = (np.log(counts + 1) - np.log(counts.sum() + known.size) for counts in seen)
        ids, rows = known.of(texts[inside])
        prior = np.log(others[1] + 1) - np.log(others[0] + 1)
        scores[inside] = prior + np.bincount(rows, weights=(true - false)[ids], minlength=int(inside.sum()))
    return scores


def _counts(known: Features, texts: IntArray) -> IntArray:
    counts = np.zeros(known.size, dtype=np.int64)
    for start in range(0, len(texts), _COUNTED):
        counts += np.bincount(known.of(texts[start : start + _COUNTED])[0], minlength=known.size)
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The texts, right answers, folds and candidate answers of n questions.

    ``texts``, ``answers`` and ``folds`` have shape (n,). ``candidates`` and ``owners`` have shape (m,): candidate j
    belongs to question ``owners[j]``. Owners are in ascending order, each question has at least one candidate, and the
    candidates of a question are in ascending order.
    """

    texts: IntArray
    answers: IntArray
    folds: IntArray
    candidates: IntArray
    owners: IntArray


def likely_answers(known: Features, asked: Questions) -> IntArray:
    scores = answer_scores(known, asked)
    _, starts = np.unique(asked.owners, return_index=True)
    highest = np.maximum.reduceat(scores, starts)
    winners = np.flatnonzero(scores == highest[asked.owners])
    _, first = np.unique(asked.owners[winners], return_index=True)
    return asked.candidates[winners[first]]


def answer_scores(known: Features, asked: Questions) -> FloatArray:
    """Return the logarithm of how likely each candidate is, but for a constant for each question, shape (m,)."""
    scores = np.zeros(len(asked.owners))
    labels = int(max(asked.answers.max(), asked.candidates.max())) + 1
    ids, rows = known.of(asked.texts)
    codes, where = np.unique(asked.answers[rows] * known.size + ids, return_inverse=True)
    where = where.reshape(-1)
    for fold in np.unique(asked.folds):
        others = asked.folds != fold
        counts = np.bincount(where[others[rows]], minlength=len(codes))
        answers = np.bincount(asked.answers[others], minlength=labels)
        words = np.bincount(asked.answers[rows[others[rows]]], minlength=labels)
        inside = asked.folds[asked.owners] == fold
        candidates = asked.candidates[inside]
        texts = asked.texts[asked.owners[inside]]
        word_ids, places = known.of(texts)
        wanted = candidates[places] * known.size + word_ids
        found = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        likely = np.log(np.where(codes[found] == wanted, counts[found], 0) + 1)
        lengths = np.bincount(places, minlength=len(texts))
        smooth = np.log(answers[candidates] + 1) - lengths * np.log(words[candidates] + known.size)
        scores[inside] = smooth + np.bincount(places, weights=likely, minlength=len(texts))
    return scores


# Rules that find a text among others about the same image by comparing the texts with one another.
# Foils that are made by editing a caption have the caption in common, so it is the text that shares most words with
# the others: their medoid. A model can find it without the image. So can one that knows that it is the longest, the
# shortest, the first or the last in the alphabet, or the one that is least like the others.

RULES: Mapping[str, tuple[int, int]] = {
    "most words in common": (0, 1),
    "fewest words in common": (0, -1),
    "least edited": (1, 1),
    "most edited": (1, -1),
    "most letters in common": (2, 1),
    "fewest letters in common": (2, -1),
    "longest": (3, 1),
    "shortest": (3, -1),
    "last in the alphabet": (4, 1),
    "first in the alphabet": (4, -1),
}  # the column of ``likeness`` of which each rule prefers a high (1) or a low (-1) value
_WORD = re.compile(r"\w+")
_ALPHABET = 512  # characters of which three in a row, a text and its group are a number of 63 bits
_CONFIDENCE = 0.95
_CLEARLY = 0.02  # of the cases, or one standard error if that is more
_SMALL = 1e-12


def likeness(groups: Sequence[Collection[str]]) -> FloatArray:
    """Compare each text with the others of its group, shape (n, 5) for n texts in all groups."""
    ends = np.cumsum([0, *map(len, groups)])
    cuts = np.flatnonzero(np.diff(ends[:-1] // _AT_ONCE, prepend=-1)).tolist()
    parts = [_likeness(groups[start:end]) for start, end in pairwise([*cuts, len(groups)])]
    return np.concatenate([np.zeros((0, 5)), *parts])


def _likeness(groups: Sequence[Collection[str]]) -> FloatArray:
    # the number of its words that others have, summed over the others; the number of words that differ, negative; the
    # share of its sequences of three characters that others have; its length; its place in the alphabet
    texts = [text for some in groups for text in some]
    sizes = np.array(list(map(len, groups)))
    owners = np.repeat(np.arange(len(groups)), sizes)
    shared, words = _shared(*_words(texts), owners)
    common, letters = _shared(*_letters(texts), owners)
    differing = (sizes[owners] - 2) * words + np.bincount(owners, weights=words)[owners] - 2 * shared
    ranks = [{text: rank for rank, text in enumerate(sorted(set(some)))} for some in groups]
    places = [rank[text] for rank, some in zip(ranks, groups, strict=True) for text in some]
    return np.column_stack([shared, -differing, common / letters, list(map(len, texts)), places])


def by_rules(texts: Sequence[str], groups: Sequence[Hashable]) -> FloatArray:
    """Return what each rule says of each text among the distinct texts of its group, in -1..1, shape (n, 10)."""
    rows = compared(texts, groups)
    rows /= np.maximum(np.abs(rows).max(axis=0, initial=0.0), _SMALL)
    columns, signs = zip(*RULES.values(), strict=True)
    return np.asarray(rows[:, list(columns)] * np.array(signs), dtype=np.float64)


def compared(texts: Sequence[str], groups: Sequence[Hashable]) -> FloatArray:
    """Return the ``likeness`` of each text to the other distinct texts of its group, less its mean, shape (n, 5)."""
    members: dict[Hashable, dict[str, None]] = {}
    for text, group in zip(texts, groups, strict=True):
        members.setdefault(group, {})[text] = None
    values, sizes = likeness(list(members.values())), np.array(list(map(len, members.values())))
    owners = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.stack([np.bincount(owners, weights=column) for column in values.T], axis=1)
    values -= (sums / sizes[:, None])[owners]
    rows = {key: row for row, key in enumerate((group, text) for group, some in members.items() for text in some)}
    return values[[rows[key] for key in zip(groups, texts, strict=True)]]


def rule_above(wins: FloatArray, guess: FloatArray, known: FloatArray) -> int | None:
    # ``wins``, shape (n, rules), is what each rule gets right of each case; a tie counts what guessing gives;
    # ``known``, shape (n,), what the classifier gets right that it may replace.
    if not len(wins):
        return None
    shares = wins.mean(axis=0)
    best = int(np.argmax(shares))
    low, _ = wilson(float(shares[best]), len(wins), 1 - (1 - _CONFIDENCE) / wins.shape[1])
    gains = wins[:, best] - known
    clearly = max(_CLEARLY, float(np.sqrt((gains**2).mean() / len(gains))))
    return best if low > guess.mean() and gains.mean() > clearly else None


def several(texts: Sequence[str], groups: Sequence[Hashable]) -> NDArray[np.bool_]:
    """Return whether the group of each text has more than two texts, shape (n,): two are as like one to the other."""
    sizes = Counter(group for group, _ in set(zip(groups, texts, strict=True)))
    return np.array([sizes[group] > 2 for group in groups], dtype=np.bool_)


def _words(texts: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return the words of n texts, numbered, and the place of the text of each."""
    found = [_WORD.findall(text.casefold()) for text in texts]
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(word, len(numbers)) for some in found for word in some]
    return np.array(ids, dtype=np.int64), np.repeat(np.arange(len(texts)), list(map(len, found)))


def _letters(texts: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return the sequences of three characters of n texts, numbered, and the place of the text of each."""
    spaced = [f" {' '.join(text.casefold().split()) or ' '} " for text in texts]
    letters = np.frombuffer("".join(spaced).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    numbers = (np.bincount(letters) > 0).cumsum() - 1
    first, size = numbers[letters], int(numbers[-1]) + 1
    rows = np.repeat(np.arange(len(texts)), list(map(len, spaced)))
    inside = np.flatnonzero(rows[:-2] == rows[2:])
    ids = (first[inside] * size + first[inside + 1]) * size + first[inside + 2]
    return ids if size <= _ALPHABET else np.unique(ids, return_inverse=True)[1], rows[inside]


def _shared(ids: IntArray, rows: IntArray, owners: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return how many of a text's parts others of its group have, summed over these, and how many it has."""
    n, size, bits = len(owners), int(ids.max(initial=0)) + 1, len(owners).bit_length()
    found = np.sort((owners[rows] * size + ids) << bits | rows)  # faster than np.unique with the inverse
    found = found[np.diff(found, prepend=-1) > 0]
    starts = np.flatnonzero(np.diff(found >> bits, prepend=-1))
    numbers = np.diff(starts, append=len(found))
    own = found & (1 << bits) - 1
    shared = np.bincount(own, weights=np.repeat(numbers - 1.0, numbers), minlength=n).astype(np.float64)
    return shared, np.bincount(own, minlength=n).astype(np.float64)
