"""Shortcuts: how many cases of a task are solved by rules and a classifier that use the texts only.

"The shorter text is right" reaches 99 % on SugarCrepe's add_obj, "the larger number is right" 100 % on VALSE's
adversarial counting. A model's score on such a task does not show that the model uses the image.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from vlgate.audit.choices import plain
from vlgate.audit.flaws import text_pairs
from vlgate.metrics.stats import wilson
from vlgate.metrics.text_learning import (
    FOLDS,
    RULES,
    by_rules,
    features,
    likeness,
    log_odds,
    several,
    stratified_folds,
    tied_images,
)
from vlgate.perturb.text.rewriting import NUMBER_WORDS
from vlgate.seeds import generator
from vlgate.types import Ask, Case, FloatArray, Task, text_of

SOLVED = 0.75
"""Half-way from chance to certainty: a probe above it is right in half of the cases that chance gets wrong."""
NUMBERS: Mapping[str, float] = {word: float(number) for number, word in enumerate(NUMBER_WORDS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The share of ``n`` comparisons that a text-only rule gets right; None if it could not be run (see ``note``)."""

    # ``chance`` is the share that guessing gets right. A value below it is an accident of training if the rule is
    # ``learnt``, while the opposite of a fixed rule is a rule, too.

    name: str
    value: float | None
    n: int
    note: str = ""
    chance: float = 0.5
    learnt: bool = False

    @property
    def shown(self) -> float | None:
        """The value for reports: at least chance for a rule that is learnt, which can also guess."""
        return max(self.value, self.chance) if self.learnt and self.value is not None else self.value


def probe(task: Task, limit: int = 20_000) -> tuple[Probe, ...]:
    """Try the shortcuts on a task, on at most ``limit`` cases; the draw depends on the id of the task only."""
    # For texts, ``value`` is the share of pairs (true text, false text of the same image) that the rule ranks
    # correctly. A tie counts 1/2, unlike in ``acc_r``: a rule without a preference, and every rule in a quad, has 0.5.
    # For questions it is the share of correct answers. Single statements and questions are compared with one another:
    # the true ones, or those whose answer is yes, with the others. A task without images has no probes.
    cases = task.cases
    if len(cases) > limit:
        rows = generator(f"probes:{task.id}").choice(len(cases), size=limit, replace=False)
        cases = tuple(cases[row] for row in np.sort(rows))
    if task.shape == "single":
        return _single_probes(cases) if cases else ()
    if any(isinstance(request, Ask) for case in cases[:1] for request in case.requests):
        return _question_probes(cases)
    pairs = list(text_pairs(cases, task.shape))
    if not pairs:
        return ()
    sides = [true.text for *_, true, _ in pairs], [false.text for *_, false in pairs]
    images = [true.image.key for *_, true, _ in pairs]
    of_cases = [(true.image.key, cases[row].id) for row, _, true, _ in pairs]
    return (*_text_probes(*sides), *_comparing_probes(*sides, of_cases, images), _classifier(*sides, images, cases))


def solved(probes: Sequence[Probe], threshold: float = SOLVED) -> Probe | None:
    """Return the probe that solves a task, None if none does; a score on such a task does not show that a model sees.

    >>> solved([Probe(name="shorter text", value=0.98, n=2062)]).name
    'shorter text'
    """
    run = [probe for probe in probes if probe.value is not None and probe.n > 0]
    best = max(run, key=lambda probe: probe.value or 0.0, default=None)
    if best is None or best.value is None:
        return None
    # 95 % for all probes together (Bonferroni), because the best of several probes is taken.
    low, _ = wilson(best.value, best.n, 1 - 0.05 / len(run))
    return best if low > threshold else None


def _text_probes(trues: Sequence[str], falses: Sequence[str]) -> Iterator[Probe]:
    n = len(trues)
    yield Probe(name="constant", value=0.5, n=n, note="all comparisons are ties")
    for names, measure, note in (
        (("longer text", "shorter text"), len, "by characters"),
        (("larger number", "smaller number"), _number, "a tie if a text has no number"),
    ):
        true, false = (np.array([float(measure(text)) for text in side]) for side in (trues, falses))
        share = _ranked(true, false)
        yield Probe(name=names[0], value=share, n=n, note=note)
        yield Probe(name=names[1], value=1 - share, n=n, note=note)


def _comparing_probes(
    true: Sequence[str], false: Sequence[str], cases: Sequence[Hashable], images: Sequence[Hashable]
) -> Iterator[Probe]:
    both, n = [*true, *false], len(true)
    for of_pairs, which in ((cases, "of its case"), (images, "about its image")):
        groups = [*of_pairs, *of_pairs]
        more = several(both, groups)
        if not more.any():
            continue
        values = np.where(more[:, None], by_rules(both, groups), 0.0)
        for column, name in enumerate(RULES):
            if name not in {"longest", "shortest"}:
                yield Probe(name=f"{name}, {which}", value=_ranked(values[:n, column], values[n:, column]), n=n)
        if len(set(cases)) == len(set(images)):
            return


def _ranked(true: FloatArray, false: FloatArray) -> float:
    """The share of true texts above false ones; a tie, and a comparison with NaN, counts 1/2."""
    return float(np.mean(0.5 + (true > false) / 2 - (true < false) / 2))


def _number(text: str) -> float:
    """The largest number of a text, in digits or in words up to twenty; NaN if it has none."""
    words = re.findall(r"\d+(?:\.\d+)?|[a-z]+", text.lower())
    return max(
        (NUMBERS[word] if word in NUMBERS else float(word) for word in words if word in NUMBERS or word[0] < "a"),
        default=np.nan,
    )


def pair_margins(
    true: Sequence[str], false: Sequence[str], images: Sequence[str], cases: Sequence[Case]
) -> FloatArray | None:
    """Return by how much each of n true texts is more likely true than its false one, in log odds, shape (n,)."""
    # Cross-validated, with all texts of an image in one fold; None if there are fewer images than folds.
    groups = tied_images(cases)
    if len({groups[image] for image in images}) < FOLDS:
        return None
    folds, n = stratified_folds(cases), len(true)
    rows = np.array([folds[image] for image in images] * 2)
    scores = log_odds(features([*true, *false]), np.arange(2 * n), np.repeat([True, False], n), rows)
    return np.asarray(scores[:n] - scores[n:], dtype=np.float64)


def _classifier(true: Sequence[str], false: Sequence[str], images: Sequence[str], cases: Sequence[Case]) -> Probe:
    name, n = "text classifier", len(true)
    surer = pair_margins(true, false, images, cases)
    if surer is None:
        groups = tied_images(cases)
        count = len({groups[image] for image in images})
        return Probe(name=name, value=None, n=n, note=f"not run: it needs {FOLDS} images, and there are {count}")
    return Probe(name=name, value=_ranked(surer, np.zeros(n)), n=n, note=f"{FOLDS}-fold, by image", learnt=True)


def _question_probes(cases: Sequence[Case]) -> tuple[Probe, ...]:
    groups = tied_images(cases)
    asked = [
        _Asked(
            choices=[plain(choice) for choice in request.choices],
            truth=plain(str(truth)),
            group=groups[request.image.key],
        )
        for case in cases
        for request, truth in zip(case.requests, case.truths, strict=True)
        if isinstance(request, Ask)
    ]
    if not asked:
        return ()
    answers = {one.truth for one in asked}
    offered = [one.choices for one in asked]
    rules: dict[str, list[str | None]] = {
        "always yes": ["yes" if "yes" in (choices or answers) else None for choices in offered],
        "first choice": [choices[0] if choices else None for choices in offered],
        "last choice": [choices[-1] if choices else None for choices in offered],
        "longest choice": [_by_length(choices, 1) for choices in offered],
        "shortest choice": [_by_length(choices, -1) for choices in offered],
    }
    if any(len(choices) > 2 for choices in offered):
        rules |= _by_likeness(offered)
    n, chance = len(asked), float(np.mean([1 / len(choices or answers) for choices in offered]))
    probes = []
    for name, replies in rules.items():
        if all(reply is None for reply in replies):
            note = "not run: no question offers such an answer"
            probes.append(Probe(name=name, value=None, n=n, note=note, chance=chance))
        else:  # a question that the rule does not apply to is a miss
            right = sum(reply == one.truth for reply, one in zip(replies, asked, strict=True))
            probes.append(Probe(name=name, value=right / n, n=n, chance=chance))
    common, note = _most_common(asked), "of the other images; a tie counts as guessing among the tied"
    return (*probes, Probe(name="most common answer", value=common, n=n, note=note, chance=chance, learnt=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    choices: Sequence[str]
    truth: str
    group: str


def _most_common(asked: Sequence[_Asked]) -> float:
    counts, own = Counter(one.truth for one in asked), defaultdict[str, Counter[str]](Counter)
    for one in asked:
        own[one.group][one.truth] += 1
    ranked, right = [answer for answer, _ in counts.most_common()], 0.0
    for one in asked:
        here, most, tied = own[one.group], -1, set[str]()
        for answer in sorted(set(one.choices), key=counts.__getitem__, reverse=True) or ranked:
            if counts[answer] < most:
                break
            left = counts[answer] - here[answer]
            tied = {answer} if left > most else {*tied, answer} if left == most else tied
            most = max(most, left)
        right += (one.truth in tied) / len(tied)
    return right / len(asked)


def _by_length(choices: Sequence[str], sign: int) -> str | None:
    return None if set(choices) == {"yes", "no"} else _only(choices, [sign * len(choice) for choice in choices])


def _by_likeness(offered: Sequence[Sequence[str]]) -> dict[str, list[str | None]]:
    """The only choice of each question that is most or least like the others; None for fewer than three."""
    # Words in common decide, then, among equals, the number of words that differ, then letters in common.
    several = [choices if len(choices) > 2 else () for choices in offered]
    alike = likeness(list(filter(None, several)))[:, :3]
    found: dict[str, list[str | None]] = {}
    for which, sign in (("most", 1), ("least", -1)):
        rows = iter(map(tuple, (sign * alike).tolist()))
        found[f"choice {which} like the others"] = [_only(some, list(islice(rows, len(some)))) for some in several]
    return found


def _only(choices: Sequence[str], values: Sequence[int] | Sequence[tuple[float, ...]]) -> str | None:
    best = max(values, default=None)
    return choices[values.index(best)] if best is not None and values.count(best) == 1 else None


def _single_probes(cases: Sequence[Case]) -> tuple[Probe, ...]:
    truths = np.array([case.truths[0] is True or plain(str(case.truths[0])) == "yes" for case in cases])
    lengths = np.array([float(len(text_of(case.requests[0]))) for case in cases])
    true, false, n = lengths[truths], np.sort(lengths[~truths]), len(cases)
    alike = (Probe(name="always yes", value=true.size / n, n=n), Probe(name="always no", value=false.size / n, n=n))
    fewer, note = int(min(true.size, false.size)), "not run: all truths are the same"
    shares: tuple[float | None, float | None] = (None, None)
    if fewer:
        longer = float((np.searchsorted(false, true, "left") + np.searchsorted(false, true, "right")).mean())
        longer /= 2 * false.size
        shares, note = (longer, 1 - longer), "by characters: how often a true one is above a false one"
    named = zip(("longer text", "shorter text"), shares, strict=True)
    return (*alike, *(Probe(name=name, value=share, n=fewer, note=note) for name, share in named))
