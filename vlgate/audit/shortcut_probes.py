"""The probes of shortcuts: words and their pairs, the form of a text, and a language model of trigrams."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from math import log1p

import numpy as np

from vlgate.audit.blind_baseline import NUMBERS
from vlgate.audit.choices import BoolArray, Choices, Findings, centred
from vlgate.metrics.text_learning import IntArray, Questions, answer_scores, compared, features, log_odds, several
from vlgate.types import FloatArray


def word_features(found: Choices) -> Findings:
    """Return the log odds that each candidate is right, by the text-only baseline's naive Bayes, shape (m, 1)."""
    learnt = _words_of_answers(found) if found.questions else _words_of_texts(found)
    every = learnt(np.ones(len(found.cases), dtype=np.bool_))

    def without(fold: int) -> FloatArray:
        kept = found.folds != fold
        scores = every.copy()
        scores[kept[found.owners]] = learnt(kept)
        return scores[:, None]

    return without, np.array([True])


def _words_of_texts(choices: Choices) -> Callable[[BoolArray], FloatArray]:
    numbers = {text: number for number, text in enumerate(dict.fromkeys(choices.texts))}
    texts = np.array([numbers[text] for text in choices.texts], dtype=np.int64)
    known, folds = features(list(numbers)), choices.folds[choices.owners]

    def learnt(kept: BoolArray) -> FloatArray:
        rows = kept[choices.owners]
        return log_odds(known, texts[rows], choices.true[rows], folds[rows])

    return learnt


def _words_of_answers(choices: Choices) -> Callable[[BoolArray], FloatArray]:
    labels = {text: number for number, text in enumerate(sorted(set(choices.texts)))}
    numbers = {text: number for number, text in enumerate(dict.fromkeys(choices.questions))}
    candidates = np.array([labels[text] for text in choices.texts], dtype=np.int64)
    texts = np.array([numbers[text] for text in choices.questions], dtype=np.int64)
    known, answers = features(list(numbers)), candidates[choices.true]

    def learnt(kept: BoolArray) -> FloatArray:
        rows = kept[choices.owners]
        asked = Questions(
            texts=texts[kept],
            answers=answers[kept],
            folds=choices.folds[kept],
            candidates=candidates[rows],
            owners=(np.cumsum(kept) - 1)[choices.owners[rows]],
        )
        return answer_scores(known, asked)

    return learnt


# The probe ``form``: how long a text is, how rare its words are, its numbers, negations and slips of grammar.
# These are the marks that filters of foils look for (VALSE, appendix E; SugarCrepe, section 3): a foil that is longer,
# rarer, negated or ungrammatical is found without the image. So is a caption if the other texts about its image are
# edits of it: each candidate is also compared with these.

_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_MARK = re.compile(r"[^\w\s]")
_SLIP = re.compile(r"\b(?:a [aeiou]|an [^aeiouh\W\d])", re.IGNORECASE)
_NEGATED = frozenset({"no", "not", "none", "nobody", "nothing", "never", "neither", "nor", "without", "cannot"})
_COMPARED = [0, 1, 2, 4]  # without the length, which is a mark of its own


def form_features(found: Choices) -> Findings:
    """Return the marks of each candidate, and of each whether it is above the mean of its choice."""
    # Words are counted in all texts of the task, whether they are true or false, so no mark depends on a truth.
    own = _form_of_answers(found) if found.questions else _form_of_texts(found.texts)
    values = np.concatenate([own, _beside(found)], axis=1)
    marks = np.concatenate([values, np.sign(centred(values, found))], axis=1)
    return (lambda _: marks), None


def _beside(choices: Choices) -> FloatArray:
    """How like each candidate is to the others of its case, and to those about its image in all cases."""
    # Two texts are as like one to the other, so these are 0 if there are no more.
    numbers = range(len(choices.cases)) if choices.questions else choices.cases.tolist()
    cases = [(numbers[owner], choices.images[owner]) for owner in choices.owners.tolist()]
    groupings: list[Sequence[Hashable]] = [cases]
    images = [image for _, image in cases]
    if not choices.questions and len(set(images)) != len(set(cases)):
        groupings.append(images)
    columns = [
        np.where(several(choices.texts, groups)[:, None], compared(choices.texts, groups)[:, _COMPARED], 0.0)
        for groups in groupings
    ]
    return np.concatenate(columns, axis=1)


def _form_of_texts(texts: Sequence[str]) -> FloatArray:
    words = {text: _WORD.findall(text.lower()) for text in dict.fromkeys(texts)}
    counts = Counter(word for text in texts for word in words[text])
    marks = {text: _marks(text, word, counts) for text, word in words.items()}
    return np.array([marks[text] for text in texts], dtype=np.float64)


def _marks(text: str, words: Sequence[str], counts: Counter[str]) -> tuple[float, ...]:
    common = [log1p(counts[word]) for word in words] or [0.0]
    numbers = [
        NUMBERS[word] if word in NUMBERS else float(word) for word in words if word in NUMBERS or word[0].isdecimal()
    ]
    return (
        len(text),
        len(words),
        sum(map(len, words)) / max(1, len(words)),
        min(common),
        sum(common) / len(common),
        len(words) - len(set(words)),
        sum(map(_is_negated, words)),
        len(numbers),
        log1p(max(numbers, default=0.0)),
        min(numbers, default=0.0) == 0.0,
        len(_MARK.findall(text)),
        len(_SLIP.findall(text)),
        text != text.strip() or "  " in text,
        text[:1].isupper(),
    )


def _is_negated(word: str) -> bool:
    return word in _NEGATED or word.endswith("n't")


def _form_of_answers(choices: Choices) -> FloatArray:
    offered = Counter(choices.texts)
    ends = [*choices.starts[1:].tolist(), len(choices.texts)]
    rows = []
    for text, start, end in zip(choices.questions, choices.starts.tolist(), ends, strict=True):
        question = text.lower()
        words = _WORD.findall(question)
        for index in range(start, end):
            marks = _answer_marks(choices.texts[index], question, words)
            rows.append((*marks, float(index == start), float(index == end - 1), log1p(offered[choices.texts[index]])))
    return np.array(rows, dtype=np.float64)


def _answer_marks(answer: str, question: str, words: Sequence[str]) -> tuple[float, ...]:
    """The marks of an answer: those of "yes" also by what the question says, because its form may give it away."""
    yes = float(answer == "yes") - float(answer == "no")
    at = -1 if yes else question.find(answer)
    return (
        yes,
        yes * any(map(_is_negated, words)),
        yes * len(words),
        yes * ("or" in words),
        yes * ("and" in words or "both" in words),
        yes * ("any" in words or "anything" in words),
        yes * len(_SLIP.findall(question)),
        len(answer),
        float(at >= 0),
        at / max(1, len(question)),
    )


# A language model of words, trained on the true texts of the other folds: trigrams, interpolated with fixed weights.
# The probability of a word is a mean of those after the two words, the one word and no word before it (Jelinek and
# Mercer 1980), so that every text has one. It needs no weights from elsewhere.

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*|[^\w\s]")
_WEIGHTS = (0.5, 0.3, 0.2)  # of trigrams, bigrams and single words
_BEGIN, _END = 0, 1


def ngram_features(found: Choices) -> Findings:
    """Return the mean log-probability of each candidate's words, weighed by its length, shape (m, 2)."""
    # The features are the mean times 1 more than the number of words above that of the shortest text, and below that of
    # the longest. Sums of them with weights of at least 0 are the scores of means and sums of log-probabilities that,
    # of two texts of a length, never prefer the less likely one: it is unlikely elsewhere because it is true here.
    texts = Trigrams(found.whole())
    folds = found.folds[found.owners]
    longer, shorter = texts.lengths - texts.lengths.min() + 1, texts.lengths.max() - texts.lengths + 1

    def without(fold: int) -> FloatArray:
        means = texts.mean_logs(found.true & (folds != fold), folds)
        return np.stack([means * longer, means * shorter], axis=1)

    return without, np.array([True, True])


class Trigrams:
    """The words of m texts, numbered; ``lengths``, shape (m,), counts the words of each text and its end."""

    def __init__(self, texts: Sequence[str]) -> None:
        known: dict[str, int] = {}
        numbers: list[int] = []
        owners: list[int] = []  # -1 at the two beginnings before each text
        for row, text in enumerate(texts):
            own = [known.setdefault(word, len(known) + 2) for word in _TOKEN.findall(text.lower())]
            numbers += [_BEGIN, _BEGIN, *own, _END]
            owners += [-1, -1, *[row] * (len(own) + 1)]
        words, rows, self._size = np.array(numbers, dtype=np.int64), np.array(owners, dtype=np.int64), len(known) + 2
        inside = rows[2:] >= 0
        pairs = _numbered(words[:-1] * self._size + words[1:])
        ends = [words[2:], pairs[1:], _numbered(pairs[:-1] * self._size + words[2:])]
        contexts = [np.zeros_like(words[2:]), words[1:-1], pairs[:-1]]
        self._keys = [keys[inside] for keys in (*ends, *contexts)]
        self._rows = rows[2:][inside]
        self.lengths = np.bincount(self._rows, minlength=len(texts)).astype(np.float64)

    def mean_logs(self, trained: BoolArray, folds: IntArray) -> FloatArray:
        """Return the mean log-probability of the words of each text, its end included, shape (m,)."""
        # A text is scored by the counts of the other folds, as far as they are ``trained`` on; all of shape (m,).
        kept, place = trained[self._rows], folds[self._rows]
        whole = [_counts(keys, kept) for keys in self._keys]
        logs = np.zeros(len(self._rows))
        for fold in np.unique(folds):
            here = place == fold
            counts = [
                (total - _counts(keys, kept & here))[keys[here]] for total, keys in zip(whole, self._keys, strict=True)
            ]
            logs[here] = _interpolated(list(zip(counts[:3], counts[3:], strict=True)), self._size)
        return np.bincount(self._rows, weights=logs, minlength=len(self.lengths)) / self.lengths


def _interpolated(likely: Sequence[tuple[IntArray, IntArray]], size: int) -> FloatArray:
    (single, total), *longer = likely
    lower = (single + 1) / (total + size)
    result = _WEIGHTS[2] * lower
    for weight, (count, context) in zip((_WEIGHTS[1], _WEIGHTS[0]), longer, strict=True):
        lower = np.where(context > 0, count / np.maximum(context, 1), lower)
        result = result + weight * lower
    return np.asarray(np.log(result), dtype=np.float64)


def _numbered(keys: IntArray) -> IntArray:
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _counts(keys: IntArray, kept: BoolArray) -> IntArray:
    return np.bincount(keys[kept], minlength=int(keys.max()) + 1)
