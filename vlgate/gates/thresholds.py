"""Reading ``thresholds.toml``: every key, task and metric is checked before a model is loaded."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from vlgate.errors import ThresholdsError, UnknownTaskError, nearest
from vlgate.gates.allowed import read_allowed
from vlgate.gates.decide import NO_TASK
from vlgate.gates.keys import COMMON, KEYS
from vlgate.metrics.names import NAMES
from vlgate.types import Gate, Shape

_LONGEST = 500  # letters of a task's name or pattern
_MOST_BYTES = 1_000_000
_TOP = tuple(key.name for key in KEYS if "top level" in key.sections)
_DEFAULTS = tuple(key.name for key in KEYS if "[defaults]" in key.sections)
_RULE = {kind: tuple(key.name for key in KEYS if f"[{kind}]" in key.sections) for kind in ("gate", "limit")}
_USUAL = {key.name: key.default for key in KEYS if key.sections == COMMON}
_Kind = Literal["gate", "limit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """A thresholds file: its rules, which are gates and limits whose task may be a pattern, and the tasks it requires.

    ``allowed`` holds the reason per check of the model that may be suspect.
    """

    file: Path
    rules: tuple[Gate, ...]
    require: tuple[str, ...]
    allowed: Mapping[str, str] = field(default_factory=dict)


def read_thresholds(file: Path, tasks: Mapping[str, Shape]) -> Thresholds:
    """Read and check a thresholds file.

    Args:
        file: a TOML file of schema 1.
        tasks: the shape of every task that any source can make, by id.

    Returns: the rules, in the file's order.
    Raises: ThresholdsError, which names the file, the key and the nearest valid one.
    """
    try:
        size = file.stat().st_size
        if size > _MOST_BYTES:  # the parser's time grows with the square of a key's length
            remedy = f"write at most {_MOST_BYTES:,}"
            raise ThresholdsError(f"{file}: holds {size:,} bytes; {remedy}")
        if not file.is_file():  # reading a pipe would block for ever
            raise ThresholdsError(f"{file}: is not a regular file; name another file with --thresholds")
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{file}: cannot be read ({error.strerror}); name another file with --thresholds"
        raise ThresholdsError(message) from None
    except UnicodeDecodeError as error:
        raise ThresholdsError(f"{file}: is not UTF-8 ({error}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ThresholdsError(f"{file}: is not valid TOML ({error}); correct that line") from None
    except RecursionError:
        raise ThresholdsError(f"{file}: is nested too deeply; write each gate as a table of its own") from None
    except ValueError as error:  # a number of more than 4,300 digits
        raise ThresholdsError(f"{file}: holds a number that cannot be read ({error}); shorten it") from None
    return checked_thresholds(file, content, tasks)


def checked_thresholds(file: Path, content: Mapping[str, object], tasks: Mapping[str, Shape]) -> Thresholds:
    """Check the content of a thresholds file; see ``read_thresholds``."""
    rules = [content.get("gate"), content.get("limit")]
    longest = max((name for tables in rules if isinstance(tables, dict) for name in tables), key=len, default="")
    if len(longest) > _LONGEST:  # matching a pattern takes the square of its length
        raise ThresholdsError(f"{file}: the task {longest[:40]!r}... has {len(longest):,} letters; name a task")
    return _Parser(file=file, tasks=tasks).read(dict(content))


def expand(
    thresholds: Thresholds, tasks: Mapping[str, Shape], model: str = ""
) -> tuple[list[Gate], list[tuple[Gate, str]]]:
    """Make one gate per rule and task of the run, if the rule matches the task and the task has the rule's metric.

    If several rules match the same task and metric, an exact task id wins over a pattern. Two patterns that match the
    same task and metric are an error in the file, unless a rule names the task by its id.

    Args:
        thresholds: the rules.
        tasks: the shape of each task of the run, by id.
        model: what ``--model`` names, with or without ``?options``.

    Returns: the gates and limits, in the order of the rules and tasks, and the rules that match no task of the run or
        are about another model, each with the reason.
    """
    found: dict[tuple[str, str, str], tuple[bool, Gate]] = {}
    idle = []
    name = model.partition("?")[0]
    for rule in thresholds.rules:
        if rule.model and not fnmatchcase(name, rule.model):
            idle.append((rule, f"it is about the model {rule.model}"))
            continue
        matched = [
            task for task, shape in tasks.items() if fnmatchcase(task, rule.task) and rule.metric in NAMES[shape]
        ]
        if not matched:
            idle.append((rule, NO_TASK))
        for task in matched:
            exact = task == rule.task
            before = found.get((rule.kind, task, rule.metric))
            if before is None or exact or not before[0]:
                found[rule.kind, task, rule.metric] = (exact, replace(rule, task=task))
    return [gate for _, gate in found.values()], idle


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parser:
    file: Path
    tasks: Mapping[str, Shape]

    def read(self, content: dict[str, object]) -> Thresholds:
        """Read the whole file."""
        self.known("top level", content, _TOP)
        if content.get("schema") != 1:
            raise self.wrong("schema", f"is {content.get('schema')!r}", "write schema = 1")
        defaults = self.section("defaults", content.get("defaults", {}))
        self.known("[defaults]", defaults, _DEFAULTS)
        self.judged_by("[defaults]", defaults)
        kinds: tuple[_Kind, ...] = ("gate", "limit")
        rules = [
            self.rule(kind, task, metric, keys, defaults)
            for kind in kinds
            for task, metrics in self.section(kind, content.get(kind, {})).items()
            for metric, keys in self.section(f'{kind}."{task}"', metrics).items()
        ]
        self.not_twice(rules)
        allowed = read_allowed(self.section("checks", content.get("checks", {})), self.wrong)
        return Thresholds(file=self.file, rules=tuple(rules), require=self.require(defaults), allowed=allowed)

    def not_twice(self, rules: Sequence[Gate]) -> None:
        """Raise an error if two patterns match a task and metric that no rule names exactly."""
        exact = {(rule.kind, rule.model, rule.task, rule.metric) for rule in rules}
        found: dict[tuple[str, str, str, str], Gate] = {}
        for rule in rules:
            where = f'{rule.kind}."{rule.task}".{rule.metric}'
            for task in self.matched(rule.task, where):
                key = (rule.kind, rule.model, task, rule.metric)
                if key in exact or rule.metric not in NAMES[self.tasks[task]]:
                    continue
                other = found.setdefault(key, rule)
                if other is not rule:
                    problem = f"the pattern {other.task!r} {rule.kind}s {rule.metric} of {task!r}, too"
                    remedy = f'narrow one of them, or write [{rule.kind}."{task}".{rule.metric}]'
                    raise self.wrong(where, problem, remedy)

    def require(self, defaults: Mapping[str, object]) -> tuple[str, ...]:
        """Read the patterns of the tasks that a full run must have."""
        patterns = defaults.get("require", [])
        if not isinstance(patterns, list):
            raise self.wrong("defaults.require", f"is {patterns!r}", 'write a list of patterns, ["valse/*"]')
        for pattern in patterns:
            self.matched(str(pattern), "defaults.require")
        return tuple(map(str, patterns))

    def rule(self, kind: _Kind, task: str, metric: str, keys: object, defaults: Mapping[str, object]) -> Gate:
        """Read one gate or limit, whose task may be a pattern."""
        where = f'{kind}."{task}".{metric}'
        given = self.section(where, keys)
        self.known(where, given, _RULE[kind])
        names = {name for id_ in self.matched(task, where) for name in NAMES[self.tasks[id_]]}
        if metric not in names:
            raise self.wrong(where, f"{metric!r} is not a metric of these tasks", nearest(metric, sorted(names)))
        low, high = (self.fraction(where, given, end) for end in ("min", "max"))
        if kind == "limit" and high is None:
            raise self.wrong(where, "has no max", "write the value that the model is known not to exceed, max = 0.60")
        if low is None and high is None:
            raise self.wrong(where, "has neither min nor max", "write, for example, min = 0.50")
        if low is not None and high is not None and low > high:
            raise self.wrong(where, f"min = {low:g} is above max = {high:g}, so no value can pass", "exchange them")
        basis, confidence, cases, skipped = self.judged_by(where, {**defaults, **given})
        return Gate(
            task=task,
            metric=metric,
            min=low,
            max=high,
            basis=basis,
            confidence=confidence,
            min_cases=cases,
            max_skipped=skipped,
            why=str(given.get("why", "")),
            kind=kind,
            model=self.text(where, given, "model"),
        )

    def judged_by(self, where: str, keys: Mapping[str, object]) -> tuple[Literal["lower", "value"], float, int, float]:
        """Read a gate's basis, confidence, smallest number of cases and largest share of skipped ones."""
        basis, confidence, cases, _ = (keys.get(key, usual) for key, usual in _USUAL.items())
        if basis not in ("lower", "value"):  # a tuple, because a TOML list is not hashable
            raise self.wrong(where, f"basis = {basis!r}", 'write "lower" (the interval\'s end) or "value"')
        if not isinstance(confidence, float) or not 0.5 <= confidence < 1.0:
            raise self.wrong(
                where, f"confidence = {confidence!r}", "write a number of at least 0.5 and below 1, as 0.95"
            )
        if isinstance(cases, bool) or not isinstance(cases, int) or cases < 1:
            raise self.wrong(where, f"min_cases = {cases!r}", "write a whole number above 0")
        skipped = self.fraction(where, {"max_skipped": 0.05, **keys}, "max_skipped")
        return "value" if basis == "value" else "lower", confidence, cases, skipped or 0.0

    def fraction(self, where: str, keys: Mapping[str, object], name: str) -> float | None:
        """Read a number from 0 to 1, None if the key is absent."""
        value = keys.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self.wrong(where, f"{name} = {value!r}", "write a fraction from 0 to 1, as 0.60")
        return float(value)

    def text(self, where: str, keys: Mapping[str, object], name: str) -> str:
        """Read a string, empty if the key is absent."""
        value = keys.get(name, "")
        if not isinstance(value, str):
            raise self.wrong(where, f"{name} = {value!r}", f'write a string, {name} = "..."')
        return value

    def matched(self, pattern: str, where: str) -> list[str]:
        """Return the tasks that a pattern matches; there is at least one."""
        found = [task for task in self.tasks if fnmatchcase(task, pattern)]
        if not found:
            problem = self.wrong(where, f"no task matches {pattern!r}", nearest(pattern, sorted(self.tasks)))
            raise UnknownTaskError(str(problem), pattern)
        return found

    def section(self, where: str, value: object) -> dict[str, object]:
        """Return a value that must be a TOML table."""
        if not isinstance(value, dict):
            raise self.wrong(where, f"is {value!r}, not a TOML table", 'write [gate."valse/existence".acc_r]')
        return value

    def known(self, where: str, keys: Mapping[str, object], allowed: Collection[str]) -> None:
        """Raise an error for a key that is not allowed."""
        for key in keys:
            if key not in allowed:
                raise self.wrong(where, f"unknown key {key!r}", nearest(key, list(allowed)))

    def wrong(self, where: str, problem: str, remedy: str) -> ThresholdsError:
        """Return an error that names the file, the key, the problem and the remedy."""
        return ThresholdsError(f"{self.file}: {where}: {problem}; {remedy}")
