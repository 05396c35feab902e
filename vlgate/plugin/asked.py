"""What a session was asked for: its options, searches and time limits, and what is loaded because of them."""

from __future__ import annotations

import gc
import os
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vlgate.errors import OptionError
from vlgate.gates.thresholds import Thresholds
from vlgate.models.checkpoints.device import check_device, check_dtype
from vlgate.models.loading.registry import check, fetch, needs_images
from vlgate.plugin import parse_options
from vlgate.plugin.parse_options import LISTS, ours, typed
from vlgate.record.digests import digest
from vlgate.record.options import Options
from vlgate.record.results_folder import take_folder
from vlgate.run.planning import Plan, make_plan, read_gates

if TYPE_CHECKING:
    from vlgate.asking.batching import CallLimit
    from vlgate.asking.checks.check import Check
    from vlgate.asking.predictor import ModelPredictor
    from vlgate.models.loading.registry import LoadedModel
    from vlgate.record.comparison import FinishedRun


SHRINK = "shrink"


# How long a model may take: ``--call-timeout``, and what follows from pytest-timeout if that is in use.

_PLUGIN = ("timeout", "pytest_timeout")  # the names that pytest-timeout is registered under
_CORRECT = "allow more with --call-timeout, ask less at once with --batch-size, or correct the model"


class TimeLimits:
    def __init__(self, config: pytest.Config, worker: int | None) -> None:
        self.config = config
        self.worker = worker
        self.stderr = _standard_error()
        config.add_cleanup(lambda: os.close(self.stderr))
        self.stopped = ""

    @cached_property
    def calls(self) -> CallLimit:
        from vlgate.asking.batching import CallLimit  # a session that only collects has no calls

        calls = CallLimit(who="vlgate", stderr=self.stderr)
        if self.worker is not None:
            given: dict[str, str] = self.config.workerinput  # type: ignore[attr-defined]
            calls.who = f"vlgate, worker {given['workerid']}"
            calls.note = _note(given)
        self.config.add_cleanup(calls.close)
        return calls

    def apply(self, options: Options) -> None:
        if options.call_timeout is not None:
            from vlgate.asking.batching import Allowed

            seconds = options.call_timeout
            remedy = f"the process ends with status 1, and the run is incomplete; {_CORRECT}"
            self.calls.allowed = Allowed(seconds=lambda _: seconds, remedy=remedy)
            self.calls.start()

    def observe(self, call: pytest.CallInfo[None]) -> None:
        # An exception of a model may not even have a text
        message = str(call.excinfo.value) if call.excinfo is not None and call.excinfo.typename == "Failed" else ""
        if message.startswith("Timeout "):
            self.stopped = message

    def within(self, checks: Callable[[], tuple[Check, ...]]) -> tuple[Check, ...]:
        if self.stopped:
            from vlgate.asking.checks.check import Check

            why = f"the model was not asked again, because a test was stopped: {self.stopped}"
            return (Check(name="model", outcome="failed", why=why),)
        self.limit_calls()
        return checks()

    def limit_calls(self) -> None:
        # A worker does not know whether a test of another worker was stopped: a call of n requests has n tests' time
        config, seconds = self.config, 0.0
        if self.calls.allowed is not None or not any(map(config.pluginmanager.hasplugin, _PLUGIN)):
            return
        from vlgate.asking.batching import Allowed

        # pytest-timeout says itself if its value is not a number, or if it has no such option
        with suppress(TypeError, ValueError):
            given = config.getoption("timeout", None), os.environ.get("PYTEST_TIMEOUT"), config.getini("timeout")
            seconds = float(next((value for value in given if value not in {None, ""}), 0))
        if seconds > 0:
            remedy = f"a test may take {seconds:g} s (pytest-timeout); the process ends with status 1; {_CORRECT}"
            self.calls.allowed = Allowed(seconds=lambda n: n * seconds, remedy=remedy)


def late_call(node: Any) -> str:
    """Return which call of a worker's model was late, and remove the worker's note; empty if none was."""
    note = _note(getattr(node, "workerinput", {}))
    call = ""
    with suppress(OSError):
        call = note.read_text(encoding="utf-8")
        note.unlink()
    return call


def _note(given: dict[str, str]) -> Path:
    # A worker that is about to end says why in this file, whose name cannot be guessed
    return Path(tempfile.gettempdir()) / f"vlgate-{given.get('testrunuid')}-{given.get('workerid')}"


def _standard_error() -> int:
    try:
        return os.dup(2)
    except OSError:  # it is closed
        return os.open(os.devnull, os.O_WRONLY)


class Asked:
    """The options of one session, its plan, thresholds and model; each is read or loaded on first use."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        worker = getattr(config, "workerinput", None)
        self.worker = None if worker is None else int(str(worker["workerid"]).lstrip("gw") or 0)
        self.searches = re.search(rf"\b{SHRINK}\b", config.getoption("markexpr", "") or "") is not None
        self.limits = TimeLimits(config, self.worker)

    @property
    def collects_only(self) -> bool:
        return any(self.config.getoption(name, None) for name in LISTS)

    @property
    def requires_gates(self) -> bool:
        """Whether the suite is asked for, and a list of its tests does not do; see ``exits`` for other lists."""
        return (
            self.config.option.collectonly and parse_options.asks_for_suite(self.config) and self.options.require_gates
        )

    @cached_property
    def typed(self) -> list[str]:
        return ours(typed(self.config))

    @cached_property
    def options(self) -> Options:
        return parse_options.read(self.config)

    @cached_property
    def plan(self) -> Plan:
        return make_plan(self.options)

    @cached_property
    def digest(self) -> str:
        return digest(self.plan.tasks)

    @cached_property
    def thresholds(self) -> Thresholds:
        return read_gates(self.options)

    @cached_property
    def earlier(self) -> FinishedRun | None:
        if not isinstance(self.options.baseline, Path):
            return None
        from vlgate.record.comparison import read_earlier

        return read_earlier(self.options.baseline, f"--baseline {self.options.baseline}")

    @cached_property
    def loaded(self) -> tuple[LoadedModel, ModelPredictor]:
        from vlgate.run.cluster import closer
        from vlgate.run.loading import load_model

        self.limits.apply(self.options)
        _ = self.connected
        given = getattr(self.config, "workerinput", {"workercount": 1})
        watch = self.limits.calls.watch
        loaded = load_model(self.options, self.plan.tasks, self.worker or 0, int(given["workercount"]), watch)
        self.config.add_cleanup(closer(loaded[0]))
        self.config.add_cleanup(loaded[1].close)
        return loaded

    @cached_property
    def connected(self) -> bool:
        if self.options.ray:
            from vlgate.models.ray.connecting import connect

            self.config.add_cleanup(connect(self.options.ray))
        elif self.worker is None and parse_options.names_suite(self.config):
            fetch(self.options.model, folder=self.options.folder)
        return bool(self.options.ray)

    @cached_property
    def checked(self) -> bool:
        check_dtype(self.options.dtype)
        check_device(self.options.device)
        check(self.options.model, folder=self.options.folder)
        if self.options.ray:
            from vlgate.run.cluster import check_cluster

            number, places = self.config.getoption("numprocesses", None), self.config.getoption("tx", None)
            check_cluster(self.options, f"-n {number}" if number else "--tx" if places else "")
        if self.searches:
            if self.options.ask == "together":
                said = "with --ask=together, no changed case could be kept as one of your own; leave --ask out"
                raise OptionError(f"-m {SHRINK}: {said}")
            if find_spec("hypothesis") is None:
                said = "needs hypothesis, which is not installed; run pip install 'vlgate[shrink]'"
                raise OptionError(f"-m {SHRINK}: {said}")
        if self.options.shard is not None:
            from vlgate.run.concluding import refuse_for_a_part

            refuse_for_a_part(self.options, searches=self.searches)
        if self.options.log_to:
            from vlgate.report.ci.trackers import check_trackers

            check_trackers(self.options.log_to)
        _ = self.thresholds, self.plan
        runs = self.worker is None and not self.collects_only
        if self.worker is None and (self.thresholds.changes or self.earlier is not None):
            from vlgate.run.concluding import refuse_gates

            refuse_gates(self.plan.tasks, self.thresholds, self.options, self.earlier)
        if runs and self.options.missing_images == "fail" and needs_images(self.options.model):
            from vlgate.run.census import refuse_missing

            refuse_missing(self.plan.tasks)
        gc.freeze()  # the tasks stay to the end, so the garbage collector need not traverse them each time
        _ = runs and self.connected
        if runs:
            self.config.add_cleanup(take_folder(self.options))
        return True
