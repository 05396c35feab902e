"""The section ``[checks]`` of ``thresholds.toml``: suspect checks of a model that a run may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vlgate.errors import ThresholdsError, nearest

FIRST_WORD = "first_word"
"""The check that yes and no together have half of the probability of the first word in most replies of a task."""
CHECKS = ("batch_invariance", "determinism", FIRST_WORD, "polarity")
"""The checks whose suspect outcome makes a run, or the gates of a task, inconclusive."""


def read_allowed(section: Mapping[str, object], wrong: Callable[[str, str, str], ThresholdsError]) -> dict[str, str]:
    """Read which checks may be suspect.

    Args:
        section: the table ``[checks]``: for each check, a table with ``allow`` and ``why``.
        wrong: makes the error from the place, the problem and the remedy.

    Returns: the reason per allowed check.
    Raises: ThresholdsError if a check or key is unknown, or if a check is allowed without a reason.
    """
    allowed = {}
    for name, given in section.items():
        where = f"checks.{name}"
        if name not in CHECKS:
            raise wrong("[checks]", f"unknown check {name!r}", nearest(name, CHECKS))
        if not isinstance(given, dict):
            raise wrong(where, f"is {given!r}, not a TOML table", 'write { allow = true, why = "..." }')
        for key in given:
            if key not in ("allow", "why"):
                raise wrong(where, f"unknown key {key!r}", nearest(key, ("allow", "why")))
        allow, why = given.get("allow", False), given.get("why", "")
        if not isinstance(allow, bool):
            raise wrong(where, f"allow = {allow!r}", "write true or false")
        if not isinstance(why, str) or (allow and not why.strip()):
            raise wrong(where, "is allowed without a why", 'say why this is acceptable: why = "..."')
        if allow:
            allowed[name] = why
    return allowed
