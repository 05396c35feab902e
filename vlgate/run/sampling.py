"""Which cases of its tasks a run asks: the part of one machine (--shard), or a first look (--quick)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from heapq import heapify, heapreplace

from vlgate.errors import OptionError
from vlgate.metrics.measures import GROUPED
from vlgate.record.options import QUICK_CASES, Shard
from vlgate.seeds import generator
from vlgate.types import UNDRAWN, Case, Task, images_of

# The parts of a run for ``--shard I/N``: which cases each of N machines asks.
#
# The parts are the same in every process, and for any order of the patterns of ``--suite``. They share no case, and
# together they hold all cases of the plan. The cases of one image stay together unless that costs balance.

IMAGE = 1
"""The cost of decoding an image, in requests."""
FINEST = 20
"""An image whose cases cost more than a twentieth of a part is shared by several parts, which then all decode it."""

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    places: Sequence[Place]
    cost: int
    rank: bytes


def part_of(tasks: Sequence[Task], shard: Shard) -> dict[str, tuple[int, ...]]:
    return parts_of(tasks, shard.of)[shard.number - 1]


def parts_of(tasks: Sequence[Task], of: int) -> list[dict[str, tuple[int, ...]]]:
    # The cases of an image are a group. Groups go from the most costly to the cheapest, each to the part with the least
    # cost so far (Graham's rule, 1969), so no part costs more than the mean and one group. Groups of equal cost are
    # dealt task by task in the order of a hash, so each part has about its share of each task.
    cases = sum(len(task.cases) for task in tasks)
    if cases < of:
        raise OptionError(f"--shard: {cases:,} cases make at most {cases:,} parts; ask for fewer parts than {of:,}")
    groups = _groups(tasks, of)
    loads = [(0, number) for number in range(of)]
    heapify(loads)
    parts: list[dict[str, list[int]]] = [{task.id: [] for task in tasks} for _ in range(of)]
    for group in sorted(groups, key=lambda group: (-group.cost, group.places[0][0], group.rank)):
        load, number = loads[0]
        heapreplace(loads, (load + group.cost, number))
        for task, position in group.places:
            parts[number][tasks[task].id].append(position)
    return [{task: tuple(sorted(places)) for task, places in part.items()} for part in parts]


def costs(tasks: Sequence[Task], parts: Sequence[Mapping[str, Sequence[int]]]) -> list[int]:
    totals = []
    for part in parts:
        kept = [task.cases[place] for task in tasks for place in part[task.id]]
        images = {image_of(case) for case in kept} - {""}
        totals.append(sum(len(case.requests) for case in kept) + IMAGE * len(images))
    return totals


def image_of(case: Case) -> str:
    return next((image.key for image in images_of(case.requests[0])), "")


def _groups(tasks: Sequence[Task], of: int) -> list[_Group]:
    by_image: dict[str, list[Place]] = {}
    for number, task in enumerate(tasks):
        for position, case in enumerate(task.cases):
            by_image.setdefault(image_of(case), []).append((number, position))
    whole = {task.id: range(len(task.cases)) for task in tasks}
    most = costs(tasks, [whole])[0] / (of * FINEST)
    groups = [group for image, places in by_image.items() for group in _cut(tasks, places, most if image else 0)]
    if len(groups) >= of:
        return groups
    return [group for places in by_image.values() for group in _cut(tasks, places, 0)]


def _cut(tasks: Sequence[Task], places: Sequence[Place], most: float) -> Iterator[_Group]:
    start, requests = 0, 0
    for end, (task, position) in enumerate(places):
        more = len(tasks[task].cases[position].requests)
        if end > start and requests + more + IMAGE > most:
            yield _group(tasks, places[start:end], requests)
            start, requests = end, 0
        requests += more
    yield _group(tasks, places[start:], requests)


def _group(tasks: Sequence[Task], places: Sequence[Place], requests: int) -> _Group:
    number, position = places[0]
    case = tasks[number].cases[position]
    image = image_of(case)
    name = f"{image} {tasks[number].id} {case.id}".encode(errors="surrogatepass")
    rank = blake2b(name, digest_size=8).digest()
    return _Group(places=places, cost=requests + IMAGE * bool(image), rank=rank)


# ``--quick``: a first look at a model, from a small sample of each task that decides no gate.

KEPT = 10
"""A tag with more values than this has its share in the sample, but not a case for each of its values."""

_Part = tuple[str, str]


def quick_sample(task: Task, name: str, most: int = QUICK_CASES) -> Task:
    """Draw at most ``most`` cases of a task, in which each slice has its share of the cases, and at least one case."""
    # The cases are sorted by their tags, and single questions by their truth too, and every (n / most)-th one is drawn
    # from a random start (Kish 1965, section 4.1). A slice without a case then gets one, in place of a case of slices
    # with several, if its tag has at most KEPT values; so cases of rare slices are likelier than others.
    n = len(task.cases)
    if n <= most:
        return task
    random = generator(name)
    order = random.permutation(n).tolist()
    values: dict[str, set[str]] = {}
    for case in task.cases:
        for tag, value in case.tags.items():
            if GROUPED.get(tag) != "all":
                values.setdefault(tag, set()).add(value)
    tags = sorted(values, key=lambda tag: (len(values[tag]), tag))
    single = task.shape == "single"
    strata = [
        (*(case.tags.get(tag, "") for tag in tags), *(map(str, case.truths) if single else ())) for case in task.cases
    ]
    spread = sorted(order, key=lambda place: strata[place])
    start = random.random()
    chosen = [spread[min(n - 1, int((start + step) * n / most))] for step in range(most)]
    kept = sorted(_completed(chosen, order, task.cases))
    left_out = {**task.left_out, f"{UNDRAWN}quick": n - most}
    return replace(task, cases=tuple(task.cases[place] for place in kept), left_out=left_out)


def _completed(chosen: Sequence[int], order: Sequence[int], cases: Sequence[Case]) -> set[int]:
    completed = list(chosen)
    slices: dict[_Part, list[int]] = {}
    for place in order:
        for part in _parts(cases[place]):
            slices.setdefault(part, []).append(place)
    values = Counter(tag for tag, _ in slices)
    for part in sorted(slices, key=lambda part: (len(slices[part]), part)):
        if values[part[0]] > KEPT:
            continue
        counts = Counter(part for place in completed for part in _parts(cases[place]))
        if counts[part]:
            continue
        spare = next((place for place in completed if all(counts[one] > 1 for one in _parts(cases[place]))), None)
        if spare is not None:
            completed[completed.index(spare)] = slices[part][0]
    return set(completed)


def _parts(case: Case) -> list[_Part]:
    return [(tag, value) for tag, value in case.tags.items() if tag not in GROUPED]
