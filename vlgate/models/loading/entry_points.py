"""Find models that installed packages offer as entry points of the group ``vlgate.models``, without importing them.

A package offers a model by two lines in its ``pyproject.toml``::

    [project.entry-points."vlgate.models"]
    my-model = "my_package.vlgate_adapter:build"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from vlgate.errors import ModelLoadError

GROUP = "vlgate.models"
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A model that a package offers: ``target`` is ``package.module:callable``, ``by`` the package and its version."""

    name: str
    target: str
    by: str


def all_offered() -> list[Offered]:
    """Return all models that installed packages offer, sorted by name, without duplicates."""
    found = {Offered(name=point.name, target=point.value, by=_by(point)) for point in entry_points(group=GROUP)}
    return sorted(found, key=lambda one: (one.name, one.by, one.target))


def offered(name: str, *, builtin: bool) -> Offered | None:
    """Return the model that a package offers under a name; None if no package does.

    Args:
        name: the name to look for.
        builtin: whether vlgate itself has a model of that name.

    Raises: ModelLoadError if vlgate or a second package has a model of that name (which of them replied would depend
        on what is installed), or if the entry point is not a ``package.module:callable``.
    """
    found = [one for one in all_offered() if one.name == name]
    if not found:
        return None
    packages = " and ".join(one.by for one in found)
    if builtin:
        raise ModelLoadError(
            f"model={name!r} is a model of vlgate, and {packages} offers a model of that name too; uninstall that "
            f"package, ask its authors for another name, or name its model in full: {found[0].target}"
        )
    if len(found) > 1:
        targets = " or ".join(one.target for one in found)
        raise ModelLoadError(f"model={name!r} is offered by {packages}; name one of them in full: {targets}")
    if not _TARGET.fullmatch(found[0].target):
        wrong = f"its entry point is {found[0].target!r}, expected package.module:callable"
        raise ModelLoadError(f"model={name!r} (offered by {packages}): {wrong}; tell its authors")
    return found[0]


def _by(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown package"
