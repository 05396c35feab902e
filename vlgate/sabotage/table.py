"""All sabotages by name: the model, what is broken, and the gates that the intact model passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from vlgate.models.embedded.spoilt import SPOILT
from vlgate.models.embedded.tiny import CLIP
from vlgate.models.reference.defects import SAYS
from vlgate.sensitivity.claims import claims

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Sabotage:
    """A broken model as ``--model`` takes it, what is broken in a sentence, and what is expected to show it.

    ``thresholds`` is the file of the gates, None for the shipped ones. ``claimed`` are the tasks that claim to catch
    the defect; empty if nothing is claimed.
    """

    model: str
    says: str
    thresholds: Path | None
    claimed: frozenset[str] = frozenset()


def sabotages() -> Mapping[str, Sabotage]:
    """Return all sabotages by name: defects of the reading oracle, then those of weights.

    A defect that no drawn task claims to catch is left out, because the default suite cannot show it.

    >>> sabotages()["colour-blind"].model, sabotages()["tiny-clip/tokens"].model
    ('defect:colour-blind', 'spoilt:tiny-clip/tokens')
    """
    known = claims()
    found = {}
    for name, says in SAYS.items():
        claimed = frozenset(task for task in known.needs if known.claimed(task, name))
        if claimed:
            gates = _HERE / "reader.toml"
            found[name] = Sabotage(model=f"defect:{name}", says=says, thresholds=gates, claimed=claimed)
    for name, spoilt in SPOILT.items():
        own = _HERE / f"{CLIP}.toml" if spoilt.model == CLIP else None
        found[name] = Sabotage(model=f"spoilt:{name}", says=spoilt.says, thresholds=own)
    return MappingProxyType(found)
