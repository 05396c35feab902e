"""Read the folder of a finished run: ``metrics.json`` and ``environment.json``, checked before they are used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from vlgate.errors import OptionError
from vlgate.recorded.form import faults

SCHEMA = 2
"""The version of the format of ``metrics.json`` that is written and read."""
METRICS, CASES, ENVIRONMENT = "metrics.json", "cases.parquet", "environment.json"
VERDICT, ANALYSES, CONTROLS = "verdict.json", "analyses.json", "controls.json"
JOURNAL = "journal.jsonl"
AGAIN = "run it again with this version"
SHRUNK = "shrunk.jsonl"
NAME_ANOTHER = "name the results folder of a run that ended"
_FORM = Path(__file__).parents[1] / "report" / "metrics.schema.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """A run that ended, or was cut short, as its folder tells it.

    Attributes:
        folder: its results folder.
        named: how the user named the folder, such as ``--baseline before``; messages begin with it.
        figures: the content of ``metrics.json``.
        environment: the content of ``environment.json``; empty if the file is not there.
    """

    folder: Path
    named: str
    figures: Mapping[str, Any] = field(repr=False)
    environment: Mapping[str, Any] = field(repr=False)

    @property
    def model(self) -> str:
        """The name of the model with its weights."""
        return titled(self.figures["model"]["name"], self.figures["model"]["weights"])

    @property
    def incomplete(self) -> str:
        """What the run lacks; empty if it is complete."""
        return "" if self.figures["complete"] else str(self.figures.get("why") or "it did not come to its end")

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the run; empty if they are unknown."""
        found = self.environment.get("options")
        return found if isinstance(found, dict) else {}

    @property
    def version(self) -> str:
        """The version of vlgate; empty if it is unknown."""
        packages = self.environment.get("packages")
        return str(packages.get("vlgate", "")) if isinstance(packages, dict) else ""

    def wrong(self, problem: str, remedy: str = AGAIN) -> OptionError:
        """Return an error that names the folder as the user did, the problem and the remedy."""
        return OptionError(f"{self.named}: {problem}; {remedy}")


def titled(name: str, weights: str) -> str:
    """Return the name of a model with its weights, as ``--model`` takes it.

    >>> titled("lxmert", "unc-nlp/lxmert"), titled("oracle", "")
    ('lxmert:unc-nlp/lxmert', 'oracle')
    """
    return f"{name}:{weights}" if weights else name


def read_run(folder: Path, named: str, sections: frozenset[str] | None = None) -> RecordedRun:
    """Read the figures and the environment of a run.

    Args:
        folder: its results folder.
        named: how the user named the folder, such as ``--baseline before``; messages begin with it.
        sections: the keys of ``metrics.json`` that are needed; None for all of them.

    Returns: the run, which may be incomplete.
    Raises: OptionError if a file is missing, cannot be read or is damaged, or if it has another format; the message
        names the file, the key and the remedy.
    """
    figures = content_of(folder / METRICS, named)
    if figures.get("schema") != SCHEMA:
        raise OptionError(f"{named}: {METRICS} has schema {figures.get('schema')!r}, expected {SCHEMA}; {AGAIN}")
    form = _form()
    wanted = sections or frozenset(form["required"])
    required = [key for key in form["required"] if key in wanted or key in {"schema", "complete"}]
    parts = {key: value for key, value in figures.items() if key in wanted}
    parts |= {key: figures[key] for key in ("schema", "complete") if key in figures}
    fault = next(faults(parts, {**form, "required": required}, form, ""), None)
    if fault is not None:
        raise OptionError(f"{named}: {METRICS} is damaged: {fault}; {AGAIN}")
    file = folder / ENVIRONMENT
    environment = content_of(file, named) if file.exists() else {}
    return RecordedRun(folder=folder, named=named, figures=figures, environment=environment)


def refuse_incomplete(run: RecordedRun) -> None:
    """Refuse a run that did not come to its end.

    Raises: OptionError, which says what the run lacks.
    """
    if run.incomplete:
        raise run.wrong(f"the run is incomplete ({run.incomplete})", "name one that came to its end")


@lru_cache(maxsize=1)
def _form() -> dict[str, Any]:
    """The JSON Schema of ``metrics.json``."""
    content: dict[str, Any] = json.loads(_FORM.read_text(encoding="utf-8"))
    return content


def content_of(file: Path, named: str) -> dict[str, Any]:
    """Return the object that a JSON file of a run holds.

    Raises: OptionError if it is missing, cannot be read or is not a JSON object; its message begins with ``named``.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise OptionError(f"{named}: {_without(file)}; {NAME_ANOTHER}") from None
    except OSError as error:
        raise OptionError(f"{named}: {file.name} cannot be read ({error.strerror}); name another folder") from None
    except (ValueError, RecursionError):
        raise OptionError(f"{named}: {file.name} is not JSON; {NAME_ANOTHER}") from None
    if not isinstance(content, dict):
        raise OptionError(f"{named}: {file.name} is not a JSON object; {NAME_ANOTHER}")
    return content


def _without(file: Path) -> str:
    """Why a file of a run is not there."""
    if not file.parent.is_dir():
        return "is a file, not a folder" if file.parent.exists() else "does not exist"
    if (file.parent / JOURNAL).exists():
        return f"holds no {file.name}, because the run did not end"
    searched = f", because the run only searched for smallest changes, which are in {SHRUNK}"
    return f"holds no {file.name}{searched if (file.parent / SHRUNK).exists() else ''}"
