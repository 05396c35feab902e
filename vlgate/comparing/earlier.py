"""Read an earlier run from its results folder, to compare another one with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.comparing.cases import JudgedCases, digest_of
from vlgate.errors import OptionError
from vlgate.types import Ties

SCHEMA = 2
METRICS, CASES, ENVIRONMENT = "metrics.json", "cases.parquet", "environment.json"
_COLUMNS = ("task", "case", "state", "images", "texts", "truths", "answers")
_NO_FACTS = frozenset({*_COLUMNS, "right", "scores", "tags", "origin", "why"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """An earlier run: its model, what it was asked for, and its cases by task.

    ``version`` is that of vlgate, empty if it is unknown.
    """

    folder: Path
    model: str
    fingerprint: str
    seed: int
    ties: Ties
    version: str
    tasks: Mapping[str, JudgedCases] = field(repr=False)


def read_earlier(folder: Path, option: str = "--baseline") -> EarlierRun:
    """Read a complete run.

    Args:
        folder: its results folder.
        option: what named the folder, for the messages.

    Raises: OptionError if the folder holds no run, an incomplete one or one of another format, or if a file cannot be
        read; the message names the file and the remedy.
    """
    where = f"{option} {folder}"
    content = _json(folder / METRICS, where)
    if content.get("schema") != SCHEMA:
        raise OptionError(
            f"{where}: {METRICS} has schema {content.get('schema')!r}, expected {SCHEMA}; run again with this version"
        )
    if content.get("complete") is not True:
        raise OptionError(f"{where}: the run is incomplete ({content.get('why')}); name one that came to its end")
    try:
        model, run = content["model"], content["run"]
        named = f"{model['name']}:{model['weights']}" if model["weights"] else str(model["name"])
        return EarlierRun(
            folder=folder,
            model=named,
            fingerprint=str(model["fingerprint"]),
            seed=int(run["seed"]),
            ties=run["ties"],
            version=_version(folder / ENVIRONMENT),
            tasks=_tasks(folder / CASES, where),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise OptionError(f"{where}: {METRICS} lacks or garbles {error}; run it again with this version") from None


def _json(file: Path, where: str) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise OptionError(f"{where}: holds no {file.name}; name the results folder of a run that ended") from None
    except OSError as error:
        raise OptionError(f"{where}: {file.name} cannot be read ({error.strerror}); name another folder") from None
    except (ValueError, RecursionError):
        raise OptionError(f"{where}: {file.name} is not JSON; name the results folder of a run that ended") from None
    if not isinstance(content, dict):
        raise OptionError(f"{where}: {file.name} is not a JSON object; name the results folder of a run that ended")
    return content


def _version(file: Path) -> str:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return str(content["packages"]["vlgate"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _tasks(file: Path, where: str) -> dict[str, JudgedCases]:
    import pyarrow as pa
    from pyarrow.parquet import read_table

    try:
        with file.open("rb") as stream:  # pyarrow would take a name with a colon for an address
            table = read_table(stream)
    except FileNotFoundError:
        raise OptionError(f"{where}: holds no {file.name}; name the results folder of a run that ended") from None
    except (OSError, pa.ArrowException) as error:
        raise OptionError(f"{where}: {file.name} cannot be read ({str(error)[:80]}); run it again") from None
    if lacking := [name for name in _COLUMNS if name not in table.column_names]:
        raise OptionError(f"{where}: {file.name} lacks the column {lacking[0]!r}; run it again with this version")
    columns = {name: table.column(name).to_pylist() for name in _COLUMNS}
    facts = {
        name: table.column(name).to_numpy(zero_copy_only=False).astype(np.float64)
        for name in table.column_names
        if name not in _NO_FACTS
    }
    rows: dict[str, list[int]] = {}
    for row, task in enumerate(columns["task"]):
        rows.setdefault(task, []).append(row)
    return {task: _one(columns, facts, found) for task, found in rows.items()}


def _one(columns: Mapping[str, list[Any]], facts: Mapping[str, Any], rows: list[int]) -> JudgedCases:
    judged = [row for row in rows if columns["state"][row] == "judged"]
    kept = {name: values[judged] for name, values in facts.items()}
    return JudgedCases(
        ids=tuple(columns["case"][row] for row in judged),
        asked=tuple(digest_of(columns["images"][row], columns["texts"][row], columns["truths"][row]) for row in judged),
        images=tuple(columns["images"][row][0] or columns["case"][row] for row in judged),
        facts={name: values for name, values in kept.items() if not np.isnan(values).all()},
        answers=tuple(tuple(columns["answers"][row]) for row in judged),
        unjudged=tuple(columns["case"][row] for row in rows if columns["state"][row] != "judged"),
    )
