"""Reads ``thresholds.toml``: every key, task and metric is checked before a model is loaded, every error listed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from vlgate.errors import ThresholdsError, UnknownTaskError, nearest
from vlgate.gates.must_hold import MustHold, read_must_hold
from vlgate.gates.records import COMMON, KEYS, Correction, Gate, GateKind
from vlgate.metrics.measures import GROUPED
from vlgate.metrics.names import CONTROLLED, DIFFERENCES, applies
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.variants import how_it_differs
from vlgate.types import Shape

if TYPE_CHECKING:
    from vlgate.gates.acuity import AcuityGate


def why_no_gate(metric: str, tasks: Mapping[str, Shape]) -> tuple[str, str] | None:
    # A metric of a variant, such as ``accuracy@release``, is there to reproduce a published figure. It may count a tie
    # or an unread answer as right, so that a model that does not look reaches it: it decides no gate.
    own = {name for shape in tasks.values() for name in SHAPES[shape].metrics}
    if metric in {*own, *GROUPED, *CONTROLLED}:
        return None
    said = next(filter(None, (how_it_differs(metric, task) for task in tasks)), "")
    if said:
        name = metric.partition("@")[0]
        problem = f"{metric} is {name} by another definition, for published figures, and decides no gate ({said})"
        return problem, f"name {name}, which a gate may judge"
    remedy = nearest(metric, [*sorted(own), *CONTROLLED])
    if re.sub("[^a-z]", "", metric.lower()) in _EVERYDAY:
        usual = dict.fromkeys(SHAPES[shape].headline for shape in tasks.values())
        remedy = f"write {' or '.join(usual)}, the share of right cases; the metrics are {', '.join(sorted(own))}"
    return f"{metric!r} is not a metric of these tasks", remedy


FIRST_WORD = "first_word"
"""The check that yes and no together have half of the probability of the first word in most replies of a task."""
CHECKS = ("batch_invariance", "determinism", FIRST_WORD, "polarity")
"""The checks whose suspect outcome makes a run, or the gates of a task, inconclusive."""
_EVERYDAY = frozenset("acc accuracy meanaccuracy pairwise pairwiseaccuracy score exactmatch".split())
_UNQUOTED = re.compile(r"""\s*\[*\s*(?:(gate|limit)\s*\.\s*)?"?([^\s="'\]]+/[^\s="'\]]*?)"?(?:\.([a-z]\w*))?\s*[\]=]""")
_LONGEST = 500  # letters of a task's name or pattern
_MOST_BYTES = 1_000_000
_TOP = tuple(key.name for key in KEYS if "top level" in key.sections)
_DEFAULTS = tuple(key.name for key in KEYS if "[defaults]" in key.sections)
_RULE = {kind: tuple(key.name for key in KEYS if f"[{kind}]" in key.sections) for kind in ("gate", "limit")}
_USUAL = {key.name: key.default for key in KEYS if key.sections == COMMON}
_Kind = Literal["gate", "limit"]
_GATE = 'write [gate."valse/existence".acc_r]'
_TABLES = {"acuity": "write [acuity.noun] with max = 32", "checks": "write [checks]", "defaults": "write [defaults]"}
NO_BOUND = "keeps to it, so nothing is judged"
_NOT_MEANS = frozenset({"auroc", "min_pc_pf"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """A thresholds file: its rules, gates and limits whose task may be a pattern, and the tasks it requires."""

    # ``required`` has the bounds of [defaults] on what is left out of a required task. ``changes`` are the rules that
    # compare with an earlier run. ``allowed`` holds the reason per check of the model that may be suspect, ``digest``
    # the SHA-256 of the file's bytes, empty if there is no file.

    file: Path
    rules: tuple[Gate, ...]
    require: tuple[str, ...]
    required: Gate = field(default=Gate(task="*", metric="required"))
    allowed: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[Gate, ...] = ()
    must_hold: MustHold | None = None
    fail_correction: Correction = "none"
    acuity: tuple[AcuityGate, ...] = ()
    digest: str = ""


def read_thresholds(file: Path, tasks: Mapping[str, Shape]) -> Thresholds:
    given, content = toml_of(file)
    return replace(checked_thresholds(file, content, tasks), digest=sha256(given).hexdigest())


def toml_of(file: Path) -> tuple[bytes, dict[str, object]]:
    try:
        size = file.stat().st_size
        if size > _MOST_BYTES:  # the parser's time grows with the square of a key's length
            remedy = f"write at most {_MOST_BYTES:,}"
            raise ThresholdsError(f"{file}: holds {size:,} bytes; {remedy}")
        if not file.is_file():  # reading a pipe would block for ever
            raise ThresholdsError(f"{file}: is not a regular file; name another file with --thresholds")
        given = file.read_bytes()
        content = tomllib.loads(given.decode("utf-8-sig"))  # Windows' editors begin a file with a mark
    except OSError as error:
        raise ThresholdsError(
            f"{file}: cannot be read ({error.strerror}); name another file with --thresholds"
        ) from None
    except UnicodeDecodeError as error:
        raise ThresholdsError(f"{file}: is not UTF-8 ({error}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        task = _UNQUOTED.match(given.decode("utf-8-sig").splitlines()[int(line[1]) - 1]) if line else None
        quoted = f'quote the task: [{task[1] or "gate"}."{task[2]}".{task[3] or "acc_r"}]' if task else ""
        remedy = quoted or "correct that line"
        raise ThresholdsError(f"{file}: is not valid TOML ({error}); {remedy}") from None
    except RecursionError:
        raise ThresholdsError(f"{file}: is nested too deeply; write each gate as a table of its own") from None
    except ValueError as error:  # a number of more than 4,300 digits
        raise ThresholdsError(f"{file}: holds a number that cannot be read ({error}); shorten it") from None
    if _too_wide(content):
        raise ThresholdsError(f"{file}: holds an integer of more than 64 bits, which TOML does not have; shorten it")
    return given, content


def _too_wide(value: object) -> bool:
    if isinstance(value, int):
        return value.bit_length() > 63
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(_too_wide, inner))


def checked_thresholds(file: Path, content: Mapping[str, object], tasks: Mapping[str, Shape]) -> Thresholds:
    rules = [content.get("gate"), content.get("limit")]
    longest = max((name for tables in rules if isinstance(tables, dict) for name in tables), key=len, default="")
    if len(longest) > _LONGEST:  # matching a pattern takes the square of its length
        raise ThresholdsError(f"{file}: the task {longest[:40]!r}... has {len(longest):,} letters; name a task")
    return _Parser(file=file, tasks=tasks).read(dict(content))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parser:
    file: Path
    tasks: Mapping[str, Shape]

    def read(self, content: dict[str, object]) -> Thresholds:
        self.known("top level", content, _TOP)
        if type(content.get("schema")) is not int or content["schema"] != 1:  # true and 1.0 equal 1
            raise self.wrong("schema", f"is {content.get('schema')!r}", "write schema = 1")
        defaults = self.section("defaults", content.get("defaults", {}))
        self.known("[defaults]", defaults, _DEFAULTS)
        judged = self.judged_by("[defaults]", defaults)
        kinds: tuple[_Kind, ...] = ("gate", "limit")
        rules = [
            rule
            for kind in kinds
            for task, metrics in self.section(kind, content.get(kind, {})).items()
            for metric, keys in self.section(f'{kind}."{task}"', metrics).items()
            for rule in self.of_table(kind, task, metric, keys, defaults)
        ]
        self.not_twice(rules)
        correction = defaults.get("fail_correction", "none")
        if correction not in get_args(Correction):
            raise self.wrong("[defaults]", f"fail_correction = {correction!r}", 'write "none", "holm" or "bh"')
        must_hold = self.text("[defaults]", defaults, "must_hold")
        patterns = defaults.get("require", [])
        if not isinstance(patterns, list):
            raise self.wrong("defaults.require", f"is {patterns!r}", 'write a list of patterns, ["valse/*"]')
        for pattern in patterns:
            self.matched(str(pattern), "defaults.require")
        return Thresholds(
            file=self.file,
            rules=tuple(rule for rule in rules if not rule.compares),
            changes=tuple(rule for rule in rules if rule.compares),
            require=tuple(map(str, patterns)),
            required=Gate(task="*", metric="required", **judged),
            allowed=self.allowed(self.section("checks", content.get("checks", {}))),
            fail_correction=cast("Correction", correction),
            must_hold=self.held(must_hold),
            acuity=self.acuity(content["acuity"]) if "acuity" in content else (),
        )

    def acuity(self, given: object) -> tuple[AcuityGate, ...]:
        from vlgate.gates.acuity import acuity_gate  # the only gates that need the faculties

        return tuple(acuity_gate(name, keys, self.wrong) for name, keys in self.section("acuity", given).items())

    def not_twice(self, rules: Sequence[Gate]) -> None:
        exact = {(rule.kind, rule.model, rule.task, rule.metric) for rule in rules}
        found: dict[tuple[str, str, str, str], Gate] = {}
        for rule in rules:
            where = f'{rule.kind}."{rule.task}".{rule.metric}'
            for task in self.matched(rule.task, where):
                key = (rule.kind, rule.model, task, rule.metric)
                if key in exact or not applies(rule.metric, self.tasks[task]):
                    continue
                other = found.setdefault(key, rule)
                if other is not rule:
                    problem = f"the pattern {other.task!r} {rule.kind}s {rule.metric} of {task!r}, too"
                    remedy = f'narrow one of them, or write [{rule.kind}."{task}".{rule.metric}]'
                    raise self.wrong(where, problem, remedy)

    def allowed(self, section: Mapping[str, object]) -> dict[str, str]:
        allowed = {}
        for name, given in section.items():
            where = f"checks.{name}"
            if name not in CHECKS:
                raise self.wrong("[checks]", f"unknown check {name!r}", nearest(name, CHECKS))
            if not isinstance(given, dict):
                raise self.wrong(where, f"is {given!r}, not a TOML table", 'write { allow = true, why = "..." }')
            for key in given:
                if key not in ("allow", "why"):
                    raise self.wrong(where, f"unknown key {key!r}", nearest(key, ("allow", "why")))
            allow, why = given.get("allow", False), given.get("why", "")
            if not isinstance(allow, bool):
                raise self.wrong(where, f"allow = {allow!r}", "write true or false")
            if not isinstance(why, str) or (allow and not why.strip()):
                raise self.wrong(where, "is allowed without a why", 'say why this is acceptable: why = "..."')
            if allow:
                allowed[name] = why
        return allowed

    def of_table(self, kind: _Kind, task: str, metric: str, keys: object, defaults: Mapping[str, object]) -> list[Gate]:
        where = f'{kind}."{task}".{metric}'
        given = self.section(where, keys)
        self.known(where, given, _RULE[kind])
        wrong = why_no_gate(metric, {id_: self.tasks[id_] for id_ in self.matched(task, where)})
        if wrong is not None:
            raise self.wrong(where, *wrong)
        judged = self.judged_by(where, {**defaults, **given})
        churn = self.fraction(where, {"expected_churn": 0.05, **defaults, **given}, "expected_churn") or 0.0
        why, model = str(given.get("why", "")), self.text(where, given, "model")
        rule = Gate(task=task, metric=metric, why=why, kind=kind, model=model, expected_churn=churn, **judged)
        changes = self.changes(where, given, metric)
        gates = [replace(rule, kind=name, max=most) for name, most in changes.items()]
        if gates and not {"min", "max"} & given.keys():
            return gates
        low, high = self.bounds(where, given, -1.0 if metric in DIFFERENCES else 0.0)
        return [replace(rule, min=low, max=high), *gates]

    def bounds(self, where: str, given: Mapping[str, object], least: float) -> tuple[float | None, float | None]:
        low, high = (self.fraction(where, given, end, least) for end in ("min", "max"))
        if where.startswith("limit.") and high is None:
            raise self.wrong(where, "has no max", "write the value that the model is known not to exceed, max = 0.60")
        if low is None and high is None:
            raise self.wrong(where, "has neither min nor max", "write, for example, min = 0.50")
        if low is not None and high is not None and low > high:
            raise self.wrong(where, f"min = {low:g} is above max = {high:g}, so no value can pass", "exchange them")
        if (low is None or low <= least) and (high is None or high >= 1):
            bounds = " and ".join(f"{end} = {given[end]!r}" for end in ("min", "max") if end in given)
            all_of_it = "it" if {"max_drop", "max_broken", "max_churn"} & given.keys() else "this table"
            remedy = f"write a min above {least:g}" if low is not None else "write a max below 1"
            raise self.wrong(where, f"{bounds}: every model {NO_BOUND}", f"{remedy}, or leave {all_of_it} out")
        return low, high

    def changes(self, where: str, given: Mapping[str, object], metric: str) -> dict[GateKind, float]:
        found: dict[GateKind, float] = {}
        kinds: tuple[GateKind, ...] = ("max_drop", "max_churn")
        for kind in kinds:
            share = self.fraction(where, given, kind)
            if share == 1:
                problem = f"{kind} = {given[kind]!r}: every model {NO_BOUND}"
                raise self.wrong(where, problem, f"write a {kind} below 1, or leave it out")
            if share is not None:
                found[kind] = share
        if "max_broken" in given:
            most = given["max_broken"]  # a number of cases, or a share of them
            counted = isinstance(most, int) and not isinstance(most, bool) and most >= 0
            if not counted and not (isinstance(most, float) and 0 <= most < 1):
                remedy = "write a whole number of cases, as 2, or a share of them below 1, as 0.05"
                raise self.wrong(where, f"max_broken = {most!r}", remedy)
            found["max_broken"] = cast("float", most)
        if found and metric in CONTROLLED:
            problem = f"{next(iter(found))} compares the cases of two runs, and {metric} is a figure of the control"
            raise self.wrong(where, f"{problem} {CONTROLLED[metric]}", "write min or max")
        if found and metric in _NOT_MEANS:
            raise self.wrong(where, f"{next(iter(found))} needs a mean over cases", f"{metric} is none; name acc_r")
        return found

    def held(self, name: str) -> MustHold | None:
        if not name:
            return None
        held = read_must_hold(self.file.parent / name)
        for task in held.cases:
            if task not in self.tasks:
                remedy = nearest(task, sorted(self.tasks))
                raise UnknownTaskError(f"{held.file}: no task is named {task!r}; {remedy}", task)
        return held

    def judged_by(self, where: str, keys: Mapping[str, object]) -> dict[str, Any]:
        judged = {key: keys.get(key, usual) for key, usual in _USUAL.items()}
        basis, confidence, cases = (judged[key] for key in ("basis", "confidence", "min_cases"))
        if basis not in ("lower", "value"):  # a tuple, because a TOML list is not hashable
            raise self.wrong(where, f"basis = {basis!r}", 'write "lower" (the interval\'s end) or "value"')
        if not isinstance(confidence, float) or not 0.5 <= confidence < 1.0:
            remedy = "write a number of at least 0.5 and below 1, as 0.95"
            raise self.wrong(where, f"confidence = {confidence!r}", remedy)
        if isinstance(cases, bool) or not isinstance(cases, int) or cases < 1:
            raise self.wrong(where, f"min_cases = {cases!r}", "write a whole number above 0")
        return judged | {name: self.fraction(where, judged, name) for name in ("max_skipped", "max_disputed")}

    def fraction(self, where: str, keys: Mapping[str, object], name: str, least: float = 0.0) -> float | None:
        value = keys.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= 1:
            remedy = f"write a {'difference' if least else 'fraction'} from {least:g} to 1, as 0.60"
            raise self.wrong(where, f"{name} = {value!r}", remedy)
        return float(value)

    def text(self, where: str, keys: Mapping[str, object], name: str) -> str:
        value = keys.get(name, "")
        if not isinstance(value, str):
            raise self.wrong(where, f"{name} = {value!r}", f'write a string, {name} = "..."')
        return value

    def matched(self, pattern: str, where: str) -> list[str]:
        found = [task for task in self.tasks if fnmatchcase(task, pattern)]
        if not found:
            problem = self.wrong(where, f"no task matches {pattern!r}", nearest(pattern, sorted(self.tasks)))
            raise UnknownTaskError(str(problem), pattern)
        return found

    def section(self, where: str, value: object) -> dict[str, object]:
        if not isinstance(value, dict):
            raise self.wrong(where, f"is {value!r}, not a TOML table", _TABLES.get(where, _GATE))
        return value

    def known(self, where: str, keys: Mapping[str, object], allowed: Collection[str]) -> None:
        for key in keys:
            if key not in allowed:
                belongs = next((" or ".join(one.sections) for one in KEYS if one.name == key), None)
                remedy = f"it belongs into {belongs}" if belongs else nearest(key, list(allowed))
                remedy = f'write [gate."{key}".METRIC]' if "/" in key and allowed is _TOP else remedy
                raise self.wrong(where, f"unknown key {key!r}", remedy)

    def wrong(self, where: str, problem: str, remedy: str) -> ThresholdsError:
        return ThresholdsError(f"{self.file}: {where}: {problem}; {remedy}")


def thresholds_errors(file: Path, tasks: Mapping[str, Shape]) -> list[str]:
    try:
        read_thresholds(file, tasks)
    except ThresholdsError as error:
        whole = str(error)
    else:
        return []
    try:
        _, content = toml_of(file)
    except ThresholdsError:
        return [whole]
    errors: dict[str, None] = {}
    for part in _parts(content):
        try:
            checked_thresholds(file, part, tasks)
        except ThresholdsError as error:
            errors[str(error)] = None
    return list(errors) or [whole]


def _parts(content: Mapping[str, object]) -> Iterator[dict[str, object]]:
    yield {"schema": content.get("schema")}
    for section, value in content.items():
        if section == "schema":
            continue
        if not isinstance(value, dict):
            yield {"schema": 1, section: value}
            continue
        for name, inner in value.items():
            one = inner if isinstance(inner, dict) and section in {"gate", "limit"} else {name: inner}
            for key, keys in one.items():
                alone = {name: {key: keys}} if one is inner else {name: inner}
                yield {"schema": 1, section: alone}
