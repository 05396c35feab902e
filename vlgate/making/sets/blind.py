"""What text alone solves of a set, and the dropping of cases until it is not above chance."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isnan

import numpy as np

from vlgate.audit.blind_baseline import pair_margins
from vlgate.audit.shortcut_probes import Trigrams
from vlgate.audit.shortcuts import PROBES, Shortcuts, mean_logs, shortcuts
from vlgate.images.files import missing_image
from vlgate.making.inputs.records import plain
from vlgate.making.kinds.kind import Item
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.text_learning import FOLDS, fold_of
from vlgate.perturb.foils.candidates import Candidate, Foil, SentenceSet, TextModel
from vlgate.sources.reading.source import QUAD_TRUTHS, quad_requests, texts_about
from vlgate.types import Case, FloatArray, Metric, Shape, Task


def contrasts(one: Candidate) -> tuple[tuple[str, str], ...]:
    if isinstance(one, Foil):
        return ((one.caption, one.foil),)
    if isinstance(one, SentenceSet):
        return tuple(zip(one.true, one.false, strict=True))
    return one.captions, (one.captions[1], one.captions[0])


def images(item: Item) -> tuple[str, ...]:
    return (item.image,) if isinstance(item.candidate, Foil | SentenceSet) else item.candidate.images


def as_task(items: Sequence[Item], name: str, shape: Shape) -> Task:
    cases = []
    truths: tuple[bool, ...]
    for item in items:
        one, shown = item.candidate, [missing_image(image, ()) for image in images(item)]
        if isinstance(one, Foil):
            requests, truths = texts_about(shown[0], (one.caption, one.foil)), (True, False)
        elif isinstance(one, SentenceSet):
            requests, truths = texts_about(shown[0], (*one.true, *one.false)), (True, True, False, False)
        else:
            requests, truths = quad_requests(shown, one.captions), QUAD_TRUTHS
        cases.append(Case(id=item.id, requests=requests, truths=truths))
    return Task(id=name, capability="foil" if shape == "pair" else "compositional", shape=shape, cases=tuple(cases))


# The blind baseline of a set, and the dropping of foils that it finds by their texts alone.
# The baseline is the text classifier that runs show beside each task (``vlgate.audit.blind_baseline``): naive Bayes
# over words and pairs of neighbours, with folds by image. A set that it solves says little about a model that sees,
# because the model may do the same (VALSE, section 4.1; Zellers et al. 2018, "Swag", filter in the same way).

NEAR = 0.05
"""How far above chance the blind baseline may be."""

FEWEST = 100
"""The fewest cases that are left: of fewer, the baseline cannot be told from chance."""

FOUND = "found by its text alone"
IMPLAUSIBLE = "its true text is the likelier one"

_ROUNDS = 30
_STEP = 0.2  # the largest share that is dropped before the classifier learns again
CHANCE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Blind:
    """The share of pairs of a true and a false text that the classifier ranks correctly, of ``n``; ties count 1/2."""

    value: float
    n: int

    @property
    def near(self) -> bool:
        return self.value <= CHANCE + NEAR


def blind(items: Sequence[Item], shape: Shape) -> Blind | None:
    """Return the blind baseline of a set; None if it has images for fewer than ten folds."""
    margins = _margins(items, shape)
    return None if margins is None else _measured(margins)


def near_chance(items: Sequence[Item], shape: Shape) -> tuple[list[Item], int]:
    """Drop the items that the blind baseline, learnt anew each round, finds most surely, until it is near chance."""
    return _dropped(items, lambda left: _margins(left, shape))


def as_likely(items: Sequence[Item], _shape: Shape) -> tuple[list[Item], int]:
    return _dropped(items, leads)


def _dropped(
    items: Sequence[Item], margins_of: Callable[[Sequence[Item]], FloatArray | None]
) -> tuple[list[Item], int]:
    # If the share is not near chance before fewer than ``FEWEST`` items are left, all stay: dropping would cost cases
    # and prove nothing.
    left = list(items)
    for _ in range(_ROUNDS):
        margins = margins_of(left)
        if margins is None:
            break
        if (now := _measured(margins)).near:
            return left, len(items) - len(left)
        # (right - d) / (n - d) = chance + NEAR, for d items that are told from their text
        aim = ceil((now.value - CHANCE - NEAR) / (1 - CHANCE - NEAR) * len(left))
        drop = min(aim, ceil(_STEP * len(left)), len(left) - FEWEST)
        worst = [index for index in np.argsort(-margins.min(axis=1), kind="stable") if margins[index].min() > 0]
        if drop <= 0 or not worst:
            break
        dropped = set(worst[:drop])
        left = [item for index, item in enumerate(left) if index not in dropped]
    return list(items), 0


def leads(items: Sequence[Item]) -> FloatArray | None:
    """By how much each true text is the likelier one, shape (n, 1), 0 if it is not scored; None if none is scored."""
    if all(item.lead is None for item in items):
        return None
    return np.array([[item.lead or 0.0] for item in items])


def likelier(items: Sequence[Item]) -> Blind | None:
    margins = leads([item for item in items if item.lead is not None])
    return None if margins is None else _measured(margins)


def scored(items: Sequence[Item], captions: Sequence[tuple[str, str]], lm: TextModel | None) -> list[Item]:
    """Return the items with the ``lead`` of their true text over their false one, by a language model of captions.

    Without ``lm`` it is one of trigrams (Jelinek and Mercer 1980) of the ``captions`` (image, text), or of the true
    texts of the items if there are none, in ten folds by image, so that it knows no caption of the item's own image.
    """
    if not items:
        return []
    pairs = [pair for item in items for pair in contrasts(item.candidate)]
    owners = [images(item)[0] for item in items for _ in contrasts(item.candidate)]
    texts = [true for true, _ in pairs] + [false for _, false in pairs]
    if lm is None:
        seen = Counter(text for _, text in {(image, plain(text)) for image, text in captions})
        known = [(image, text) for image, text in captions if seen[plain(text)] == 1]  # another would vouch for it
        known = known or list(zip(owners, texts, strict=False))
        folds = {image: fold_of(image) for image in {image for image, _ in known}.union(owners)}
        if len({image for image, _ in known}) < FOLDS:
            return list(items)
        trained = [(folds[image], text) for image, text in known]
        asked = [(folds[image], text) for image, text in zip(owners * 2, texts, strict=True)]
        once = set(trained)  # each text is scored once in its fold
        every = [*trained, *dict.fromkeys(key for key in asked if key not in once)]
        rows = {key: row for row, key in enumerate(every)}
        fold, each = zip(*every, strict=True)
        logs = Trigrams(each).mean_logs(np.arange(len(every)) < len(trained), np.array(fold))
        logs = logs[[rows[key] for key in asked]]
    else:
        logs = mean_logs(texts, lm)
    means = logs[: len(pairs)] - logs[len(pairs) :]
    if lm is None:  # between the mean, as of a perplexity, and the sum, which prefers the shorter text
        words = np.array([len(text.split()) for text in texts])
        sums = logs[: len(pairs)] * words[: len(pairs)] - logs[len(pairs) :] * words[len(pairs) :]
        means = (means + 2 * sums / words.reshape(2, -1).mean(axis=0)) / 3
    leads = np.round(means, 9).reshape(len(items), -1).mean(axis=1).tolist()  # less is rounding, and a tie
    return [replace(item, lead=None if isnan(lead) else lead) for item, lead in zip(items, leads, strict=True)]


def _measured(margins: FloatArray) -> Blind:
    return Blind(value=float(np.mean(0.5 + np.sign(margins) / 2)), n=int(margins.size))


def _margins(items: Sequence[Item], shape: Shape) -> FloatArray | None:
    """Return by how much each true text is more likely true than its false one, in log odds, of shape (n, pairs)."""
    pairs = [pair for item in items for pair in contrasts(item.candidate)]
    shown = [images(item)[0] for item in items for _ in contrasts(item.candidate)]
    cases = as_task(items, "made/set", shape).cases
    found = pair_margins([true for true, _ in pairs], [false for _, false in pairs], shown, cases)
    return None if found is None else found.reshape(len(items), -1)


# Pruning: cases are dropped that the probes of ``vlgate.shortcuts`` solve, until text alone is not above chance.
# It goes further than the filter of ``blind``, which every set passes through: three probes instead of one, and not
# above chance instead of near it. Each round drops the cases that a probe solves most surely, as AFLite does (Le Bras
# et al. 2020, "Adversarial filters of dataset biases"), and the probes learn again from the cases that are left.

PRUNED = "solved by its text alone (--prune-shortcuts)"

_PRUNING_ROUNDS = 60
_PRUNING_STEP = 0.1  # the largest share that is dropped before the probes learn again


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What each probe gets right of a set; ``chance`` is what guessing gives. Empty if the probes cannot be run."""

    probes: Mapping[str, Metric]
    chance: float

    @property
    def above(self) -> dict[str, Metric]:
        """The probes that are above chance: so is their whole interval."""
        return {name: metric for name, metric in self.probes.items() if metric.low > self.chance}

    @property
    def why(self) -> str:
        if not self.probes:
            return "not measured: fewer than ten images"
        if self.above:
            return f"above chance, by {', '.join(self.above)}"
        below = [name for name, metric in self.probes.items() if metric.high < self.chance]
        tail = f", and that of {', '.join(below)} is below it" if below else ""
        return f"not above chance: the interval of no probe is above it{tail}"


def reached(items: Sequence[Item], shape: Shape) -> Reached:
    return _reached(shortcuts(as_task(items, "made/set", shape)), shape)


def pruned(items: Sequence[Item], shape: Shape) -> tuple[list[Item], int]:
    left = list(items)
    for _ in range(_PRUNING_ROUNDS):
        solved = shortcuts(as_task(left, "made/set", shape))
        now = _reached(solved, shape)
        if not now.above:
            return left, len(items) - len(left)
        worst, metric = max(now.above.items(), key=lambda probe: probe[1].value)
        beyond = ceil((metric.value - now.chance) / (1 - now.chance) * len(left))  # what it solves beyond guessing
        number = min(beyond, ceil(_PRUNING_STEP * len(left)))
        if number > len(left) - FEWEST:
            break
        scores = solved.scores[:, PROBES.index(worst)]
        surest = set(np.argsort(-scores, kind="stable")[:number].tolist())
        left = [item for index, item in enumerate(left) if index not in surest]
    return list(items), 0


def _reached(found: Shortcuts, shape: Shape) -> Reached:
    probes = {name: metric for name in PROBES if (metric := found.reached(name)) is not None}
    return Reached(probes=probes, chance=SHAPES[shape].chance[SHAPES[shape].headline])
