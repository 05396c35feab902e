"""The tasks about the drawn scenes."""

from collections.abc import Mapping
from types import MappingProxyType

from vlgate.sources.graphs.generated import GENERATED
from vlgate.types import Shape

_FOILS = (
    "existence plurality counting-balanced counting-small counting-adversarial relations depth action-replacement "
    "actant-swap coreference foil-it attributes object-size object-location attribute-material attribute-size "
    "attribute-state relation-action"
).split()

TASK_SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        **{f"scenes/{name}": "pair" for name in _FOILS},
        "scenes/word-swap": "quad",
        "scenes/active-passive": "active_passive_set",
        "scenes/coordination": "set",
        "scenes/relative-clause": "set",
        **{f"scenes/{test}": "questions" for test in GENERATED},
    }
)  # the shape of each task, by id

TASKS: tuple[str, ...] = tuple(TASK_SHAPES)
