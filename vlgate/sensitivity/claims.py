"""Reads ``claims.toml``: which faculties each task needs, and the defects that break each faculty."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import UnknownNameError
from vlgate.models.reference.defects import SAYS

FILE = Path(__file__).with_name("claims.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """``faculties`` maps a defect to the faculty that it breaks, ``needs`` a task to the faculties that it needs.

    ``some`` are the faculties that few cases of a task need: it may catch their defects or not.
    """

    faculties: Mapping[str, str]
    needs: Mapping[str, frozenset[str]]
    some: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def claimed(self, task: str, defect: str) -> bool | None:
        """Return whether a task claims to catch a defect; None if it claims neither this nor the opposite.

        >>> claims().claimed("scenes/counting-small", "count-blind"), claims().claimed("mine/all", "count-blind")
        (True, None)
        """
        faculty = self.faculties[defect]
        if task not in self.needs or faculty in self.some.get(task, ()):
            return None
        return faculty in self.needs[task]


def claims(file: Path = FILE) -> Claims:
    """Read a file of claims; by default that of the drawn tasks.

    Raises: UnknownNameError for a defect or a faculty that does not exist; ValueError for a defect that breaks two
        faculties or none.
    """
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    faculties: dict[str, str] = {}
    for faculty, defects in content["faculties"].items():
        for defect in defects:
            _known("defect", defect, SAYS)
            if defect in faculties:
                raise ValueError(f"{file.name}: {defect!r} breaks {faculties[defect]!r} and {faculty!r}; keep one")
            faculties[defect] = faculty
    if missing := sorted(SAYS.keys() - faculties.keys()):
        raise ValueError(f"{file.name}: no faculty names the defect {missing[0]!r}; add it to one of [faculties]")
    every = content["every"]["needs"]
    needs = {
        task: frozenset((*every, *more)) - {*content["but"].get(task, ())} for task, more in content["needs"].items()
    }
    some = {task: frozenset(names) for task, names in content["some"].items()}
    for name in {name for names in (*needs.values(), *some.values()) for name in names}:
        _known("faculty", name, content["faculties"])
    return Claims(faculties=MappingProxyType(faculties), needs=MappingProxyType(needs), some=MappingProxyType(some))


def _known(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise UnknownNameError(what, name, known)
