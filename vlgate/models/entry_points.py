"""Models that installed packages offer: entry points of the group ``vlgate.models``, looked up and not imported.

A package offers one by two lines in its ``pyproject.toml``::

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
    """A model by its name; ``target`` is ``package.module:callable``, ``by`` the distribution and its version."""

    name: str
    target: str
    by: str


def all_offered() -> list[Offered]:
    """All models that installed packages offer, by name; the same one twice is one."""
    found = {Offered(name=point.name, target=point.value, by=_by(point)) for point in entry_points(group=GROUP)}
    return sorted(found, key=lambda one: (one.name, one.by, one.target))


def offered(name: str, *, builtin: bool) -> Offered | None:
    """The model that a package offers under a name; None where no package does.

    Args:
        name: to look for.
        builtin: whether vlgate itself has a model of that name.

    Raises: ModelLoadError where the name is not the package's own: vlgate or another package has it too. Which of
        them replied would depend on what else is installed. Also where what it names is no ``module:callable``.
    """
    found = [one for one in all_offered() if one.name == name]
    if not found:
        return None
    packages = " and ".join(one.by for one in found)
    if builtin:
        raise ModelLoadError(
            f"model={name!r} is vlgate's own name, and {packages} offers a model of that name too; remove that "
            f"package, or have it renamed; its model is {found[0].target}"
        )
    if len(found) > 1:
        targets = " or ".join(one.target for one in found)
        raise ModelLoadError(f"model={name!r} is offered by {packages}; name the one you mean: {targets}")
    if not _TARGET.fullmatch(found[0].target):
        wrong = f"names {found[0].target!r}, which is no package.module:callable"
        raise ModelLoadError(f"model={name!r} (offered by {packages}) {wrong}; tell its authors")
    return found[0]


def _by(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown package"
