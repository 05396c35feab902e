"""Maps of what a model attends to, for models that offer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vlgate.errors import VlgateError
from vlgate.explaining.changes import images_of
from vlgate.explaining.protocols import Attends
from vlgate.explaining.record import Attended
from vlgate.types import Case, Match


def attended_in(cases: Sequence[Case], model: object) -> tuple[tuple[Attended, ...], ...]:
    """Return what a model attends to in the pairs of each case; empty for a model that offers no maps, and questions.

    Args:
        cases: n cases.
        model: the model.

    Returns: n tuples, each with one map per different pair of the case, in the order of its requests.
    """
    pairs = {case.id: tuple(dict.fromkeys(one for one in case.requests if isinstance(one, Match))) for case in cases}
    asked = list(dict.fromkeys(pair for some in pairs.values() for pair in some))
    if not asked or not isinstance(model, Attends):
        return ((),) * len(cases)
    try:
        found = dict(zip(asked, model.attended(asked), strict=True))
    except VlgateError:  # an image that the model cannot see; its requests say why
        return ((),) * len(cases)
    return tuple(
        tuple(replace(found[pair], image=images_of(case).index(pair.image)) for pair in pairs[case.id])
        for case in cases
    )
