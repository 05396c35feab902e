"""Maps of what a model attends to, for models that offer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vlgate.errors import described
from vlgate.explaining.changes import images_of
from vlgate.explaining.protocols import Attends
from vlgate.explaining.record import Attended
from vlgate.types import Case, Match


def attended_in(cases: Sequence[Case], model: object) -> tuple[tuple[tuple[Attended, ...], ...], str]:
    """Return what a model attends to in the pairs of each case; nothing for a model that offers no maps, or questions.

    Args:
        cases: n cases.
        model: the model.

    Returns: n tuples, each with one map per different pair of the case, in the order of its requests; and why there are
        none, if the model raised. That must not cost the interventions, which are worth more.
    """
    pairs = [tuple(dict.fromkeys(one for one in case.requests if isinstance(one, Match))) for case in cases]
    asked = list(dict.fromkeys(pair for some in pairs for pair in some))
    nothing: tuple[tuple[Attended, ...], ...] = ((),) * len(cases)
    if not asked or not isinstance(model, Attends):
        return nothing, ""
    try:
        maps = model.attended(asked)
    except Exception as error:  # noqa: BLE001  # a foreign model may raise anything
        return nothing, f"attended() of the model raised {described(error)}"
    if not maps:
        return nothing, ""
    if len(maps) != len(asked):
        return nothing, f"attended() of the model returned {len(maps)} maps for {len(asked)} pairs; return one per pair"
    found = dict(zip(asked, maps, strict=True))
    return tuple(
        tuple(replace(found[pair], image=images_of(case).index(pair.image)) for pair in some)
        for case, some in zip(cases, pairs, strict=True)
    ), ""
