"""Choose among candidates so that classes are balanced, and no word is more frequent in foils than in captions."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from math import inf
from typing import TypeVar

import numpy as np

from vlgate.errors import OptionError
from vlgate.perturb.foils.candidates import Foil
from vlgate.seeds import generator, quick_generator

# Choose among candidates so that their classes are balanced, as VALSE does.
# All functions take the classes of candidates and return the positions of those to keep, in ascending order; arguments
# and seed decide the result. Nothing here knows what a class is: a number, a preposition, a verb, "yes".

T = TypeVar("T", bound=Hashable)
ENOUGH = 30
"""The cases that a gate needs by default."""


def capped(classes: Sequence[T], cap: int, *, seed: int) -> tuple[int, ...]:
    if cap < 1:
        raise ValueError(f"cap={cap!r} must be at least 1")
    room, kept = dict.fromkeys(classes, cap), []
    for index in _shuffled(len(classes), f"{seed}/capped"):
        if room[classes[index]]:
            room[classes[index]] -= 1
            kept.append(index)
    return tuple(sorted(kept))


def spread(options: Sequence[Sequence[T]], *, seed: int) -> Mapping[int, T]:
    """Choose a foil's class for each caption so that the foils' classes are as even as their options allow."""
    # Counting-adversarial gives its captions foils of 0 to 3 so. Candidates without options are left out.
    random = quick_generator(f"{seed}/spread")
    used: Counter[T] = Counter()
    chosen: dict[int, T] = {}
    for index in sorted(_shuffled(len(options), f"{seed}/spread order"), key=lambda one: len(options[one])):
        if options[index]:
            least = min(used[option] for option in options[index])
            chosen[index] = random.choice([option for option in options[index] if used[option] == least])
            used[chosen[index]] += 1
    return dict(sorted(chosen.items()))


def _shuffled(count: int, name: str) -> list[int]:
    indexes = list(range(count))
    quick_generator(name).shuffle(indexes)
    return indexes


Row = Mapping[int, float]
"""The coefficients of a linear constraint, by the position of what may be chosen."""


def most(likes: Sequence[float], at_most: Sequence[tuple[Row, float]], zero: Sequence[Row]) -> tuple[int, ...]:
    """Choose as many things as the constraints let, each whole or not at all; ``likes`` of 0 to 1 decide ties."""
    # A linear programme, and a whole one over what it uses (HiGHS, Huangfu and Hall 2018): within 1 % of the most for
    # 40,000 candidates, in seconds.
    if not likes:
        return ()
    rows = [*(row for row, _ in at_most), *zero]
    sums = [*((-inf, limit) for _, limit in at_most), *((0, 0) for _ in zero)]
    costs = [-1 - like / 1000 for like in likes]
    used = [place for place, part in enumerate(_solved(costs, rows, sums, whole=False)) if part > _NO_PART]
    if not used:
        return ()
    at = {place: number for number, place in enumerate(used)}
    rows = [{at[place]: value for place, value in row.items() if place in at} for row in rows]
    chosen = _solved([costs[place] for place in used], rows, sums, whole=True)
    return tuple(place for place, part in zip(used, chosen, strict=True) if part > 0.5)


_OPTIONS = {"mip_rel_gap": 0.005, "mip_max_nodes": 200}  # not a time limit: the machine's speed must not decide


def _solved(
    costs: Sequence[float], rows: Sequence[Row], sums: Sequence[tuple[float, float]], *, whole: bool
) -> Sequence[float]:
    """Return the variables from 0 to 1 at least cost; each row is the weights of a sum within the limits of its own."""
    begins = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    places = np.fromiter(chain.from_iterable(rows), dtype=np.int32)
    values = np.fromiter(chain.from_iterable(row.values() for row in rows), dtype=np.float64)
    low, high = np.array(sums, dtype=np.float64).reshape(-1, 2).T
    try:
        import highspy as highs
    except ImportError as error:
        raise OptionError(f"a balanced set needs {error.name}, which is not installed; pip install highspy") from None
    solver, model = highs._Highs(), highs.HighsLp()  # type: ignore[attr-defined]  # noqa: SLF001  # Highs tells its version
    for name, value in {"output_flag": False, **(_OPTIONS if whole else {})}.items():
        solver.setOptionValue(name, value)
    model.num_col_ = model.a_matrix_.num_col_ = len(costs)
    model.num_row_ = model.a_matrix_.num_row_ = len(rows)
    model.a_matrix_.format_ = highs.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = begins, places, values
    model.col_cost_, model.col_lower_, model.col_upper_ = np.array(costs), np.zeros(len(costs)), np.ones(len(costs))
    model.row_lower_, model.row_upper_ = low, high
    model.integrality_ = [highs.HighsVarType.kInteger] * len(costs) if whole else []
    solver.passModel(model)
    solver.run()
    feasible = solver.getInfo().primal_solution_status == highs.SolutionStatus.kSolutionStatusFeasible
    return list(solver.getSolution().col_value) if feasible else [0.0] * len(costs)


_NO_PART = 1e-9
_UNEVEN = 0.05  # by which share of its texts a pair of words may be more often true than false, or the reverse,
_FEW = 2  # and by how many texts more, so that rare pairs do not decide
_COMMON = 30  # the captions that must have a pair of words before it counts
_ENOUGH_TO_TELL = 100  # with fewer cases, a share cannot be told from chance
_LIKELIER = {1: 0.02, -1: 0.1}  # the share of cases by which captions, or foils, may be the likelier texts more often


def exchange(foil: Foil) -> tuple[str, str]:
    """What a caption has and what its foil has instead: the classes, with the quantifiers of a plurality foil."""
    before, _, after = foil.tags.get("quantifiers", "/").partition("/")
    return f"{before} {foil.classes[0]}".strip(), f"{after} {foil.classes[1]}".strip()


def exchanged(
    foils: Sequence[Foil], sources: Sequence[Hashable], seed: int, leads: Sequence[float] = (), *, rings: bool = False
) -> tuple[int, ...]:
    """Select as many foils as can be balanced, one of each source, by their positions in ascending order.

    Each exchange, p for q, is made as often as q for p (VALSE, A.4), rare ones first. With ``rings``, each class
    replaces others as often as others replace it (A.5): "ride" by "push", "push" by "pull" and "pull" by "ride".
    ``leads`` say by how much each caption is the likelier text: about half of the selected captions are. Pairs of
    neighbouring words are about as often in captions as in foils.
    """
    if len(foils) != len(sources):
        raise ValueError(f"len(foils)={len(foils)} and len(sources)={len(sources)} must be equal")
    flows: dict[Hashable, dict[int, float]] = defaultdict(dict)
    exchanges = [exchange(foil) for foil in foils]
    for index, (one, other) in enumerate(exchanges):
        if rings:
            flows[one][index], flows[other][index] = 1, -1
        else:
            flows[min(one, other), max(one, other)][index] = 1 if one < other else -1
    rare = Counter(exchanges)
    random = generator(f"{seed}/exchanged").random(len(foils))
    likes = [(draw + 1 / rare[one]) / 2 for draw, one in zip(random, exchanges, strict=True)]
    once, zero = one_of_each(sources), list(flows.values())
    chosen = most(likes, [*once, *half_likelier(leads), *_pairs_of_words(foils, sources)], zero)
    if len(chosen) >= _ENOUGH_TO_TELL:
        return chosen
    # of so few, plausibility tells little: it costs neither a case that a gate needs nor more than half of them
    plain = most(likes, once, zero)
    return chosen if len(chosen) >= ENOUGH and 2 * len(chosen) >= len(plain) else plain


def one_of_each(sources: Sequence[Hashable]) -> list[tuple[Row, float]]:
    rows: dict[Hashable, dict[int, float]] = defaultdict(dict)
    for index, source in enumerate(sources):
        rows[source][index] = 1
    return [(row, 1) for row in rows.values()]


def half_likelier(leads: Sequence[float]) -> list[tuple[Row, float]]:
    """The constraints that the caption is the likelier text in 45 to 51 of 100; none without any lead."""
    if not any(leads):
        return []
    signs = np.sign(leads).tolist()
    return [({n: way * sign - slack for n, sign in enumerate(signs)}, 0) for way, slack in _LIKELIER.items()]


def _pairs_of_words(foils: Sequence[Foil], sources: Sequence[Hashable]) -> Iterator[tuple[Row, float]]:
    # A classifier of single words and pairs of neighbours, such as the blind baseline, learns these.
    # Only what stands between the words that a foil and its caption begin and end with can be uneven. The pairs keep
    # the order in which they appear, which decides between equally good choices.
    words = {text: re.findall(r"[\w']+", text.lower()) for foil in foils for text in (foil.caption, foil.foil)}
    surplus: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for index, foil in enumerate(foils):
        for pair, value in _differences(words[foil.caption], words[foil.foil]).items():
            surplus[pair][index] = value
    common = {pair for pair, row in surplus.items() if len(row) >= _COMMON}
    for pair in dict.fromkeys(pair for some in words.values() for pair in pairwise(some) if pair in common):
        row = surplus[pair]
        if len({sources[index] for index in row}) >= _COMMON:
            for way in (1, -1):
                yield {index: way * value - _UNEVEN * abs(value) for index, value in row.items()}, _FEW


def _differences(caption: Sequence[str], foil: Sequence[str]) -> dict[tuple[str, str], float]:
    fewest = min(len(caption), len(foil))
    start = next((at for at in range(fewest) if caption[at] != foil[at]), fewest)
    end = next((at for at in range(fewest - start) if caption[-1 - at] != foil[-1 - at]), fewest - start)
    surplus: dict[tuple[str, str], float] = {}
    for words, sign in ((caption, 1), (foil, -1)):
        for pair in pairwise(words[max(start - 1, 0) : len(words) - max(end - 1, 0)]):
            surplus[pair] = surplus.get(pair, 0) + sign
    return {pair: value for pair, value in surplus.items() if value}
