"""The verbs of sets of sentences."""

from __future__ import annotations

from collections import Counter

from vlgate.analyses.runs import Cases

FEWEST = 20
"""Sets of a verb that has a row of its own; those of the others are put together (Chen 2022, §7.1.3)."""


def verbs_of(cases: Cases, fewest: int = FEWEST) -> list[str]:
    """Return the verb of each set: ``other`` if fewer than ``fewest`` sets have it, and empty if it has no tag."""
    verbs = [tags.get("verb", "") for tags in cases.tags]
    counts = Counter(verbs)
    return [verb if counts[verb] >= fewest or not verb else "other" for verb in verbs]
