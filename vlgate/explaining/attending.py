"""Maps of what a model attends to, for models that offer them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from vlgate.errors import described
from vlgate.explaining.changes import images_of
from vlgate.explaining.protocols import Attends, RollsOut
from vlgate.explaining.record import Attended
from vlgate.types import Case, Match


def attended_in(cases: Sequence[Case], model: object) -> tuple[tuple[tuple[Attended, ...], ...], str]:
    """Return what a model attends to in the pairs of each case; nothing for a model that offers no maps, or questions.

    Args:
        cases: n cases.
        model: the model.

    Returns: n tuples, each with one map per method and different pair of the case, in the order of its requests; and
        why there are none, if the model raised. That must not cost the interventions, which are worth more.
    """
    pairs = [tuple(dict.fromkeys(one for one in case.requests if isinstance(one, Match))) for case in cases]
    asked = list(dict.fromkeys(pair for some in pairs for pair in some))
    found: dict[Match, list[Attended]] = {pair: [] for pair in asked}
    problems = []
    for name, ask in _asked_of(model):
        maps, problem = _maps(name, ask, asked)
        problems += [problem] if problem else []
        for pair, one in maps.items():
            found[pair].append(one)
    return tuple(
        tuple(replace(one, image=images_of(case).index(pair.image)) for pair in some for one in found[pair])
        for case, some in zip(cases, pairs, strict=True)
    ), "; ".join(problems)


def _asked_of(model: object) -> Iterator[tuple[str, Callable[[Sequence[Match]], Sequence[Attended]]]]:
    """The maps that a model offers, by the name of the method."""
    if isinstance(model, Attends):
        yield "attended", model.attended
    if isinstance(model, RollsOut):
        yield "attention_rollout", model.attention_rollout


def _maps(
    name: str, ask: Callable[[Sequence[Match]], Sequence[Attended]], pairs: Sequence[Match]
) -> tuple[dict[Match, Attended], str]:
    """The map of each pair, and why there is none."""
    if not pairs:
        return {}, ""
    try:
        maps = ask(pairs)
    except Exception as error:  # noqa: BLE001  # a foreign model may raise anything
        return {}, f"{name}() of the model raised {described(error)}"
    if maps and len(maps) != len(pairs):
        return {}, f"{name}() of the model returned {len(maps)} maps for {len(pairs)} pairs; return one per pair"
    return dict(zip(pairs, maps, strict=True)) if maps else {}, ""
