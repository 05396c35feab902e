"""What a session was asked for: the options, and what is read and loaded because of them."""

from __future__ import annotations

import gc
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vlgate.errors import ThresholdsError, UnknownTaskError
from vlgate.gates.thresholds import Thresholds, read_thresholds
from vlgate.models.checkpoints.device import check_device, check_dtype
from vlgate.models.loading.registry import check, needs_images
from vlgate.plugin.options import given
from vlgate.plugin.options.arguments import LISTS, ours, typed
from vlgate.plugin.searches import check_searches, searches_wanted
from vlgate.plugin.time_limits import TimeLimits
from vlgate.recorded.folder import JOURNAL
from vlgate.report.results_folder import take_folder
from vlgate.run.digest import digest
from vlgate.run.options import Options
from vlgate.run.planning import Plan, known_tasks, make_plan, no_folder

if TYPE_CHECKING:
    from vlgate.comparing.earlier import EarlierRun
    from vlgate.inference.predictor import ModelPredictor
    from vlgate.models.loading.registry import LoadedModel
    from vlgate.report.journal import Journal


class Asked:
    """The options of one session, its plan, thresholds and model; each is read or loaded on first use."""

    def __init__(self, config: pytest.Config) -> None:
        """Keep the configuration; ``worker`` is the number of the xdist worker, None in the process of the user."""
        self.config = config
        worker = getattr(config, "workerinput", None)
        self.worker = None if worker is None else int(str(worker["workerid"]).lstrip("gw") or 0)
        self.searches = searches_wanted(config)
        self.limits = TimeLimits(config, self.worker)

    @property
    def collects_only(self) -> bool:
        """Whether the tests, or their fixtures, are only listed."""
        return any(self.config.getoption(name, None) for name in LISTS)

    @property
    def requires_gates(self) -> bool:
        """Whether the suite is asked for, and a list of its tests does not do; see ``exits`` for other lists."""
        return self.config.option.collectonly and given.asks_for_suite(self.config) and self.options.require_gates

    @cached_property
    def typed(self) -> list[str]:
        """The options of vlgate on the command line, as the words of a command."""
        return ours(typed(self.config))

    @cached_property
    def options(self) -> Options:
        """The options of the user."""
        return given.read(self.config)

    @cached_property
    def plan(self) -> Plan:
        """The tasks and batches, which are the same in every process."""
        return make_plan(self.options)

    @cached_property
    def journal(self) -> Journal:
        """The journal of the replies that came so far."""
        from vlgate.report.journal import Journal

        journal = Journal(self.options.results / JOURNAL, self.options.model)
        self.config.add_cleanup(lambda: journal.close(remove=False))
        return journal

    @cached_property
    def digest(self) -> str:
        """The digest of the plan, which the rows of a worker carry."""
        return digest(self.plan.tasks)

    @cached_property
    def thresholds(self) -> Thresholds:
        """The gates."""
        known = known_tasks(self.options)  # first: a wrong --data or --suite makes the user's own tasks unknown
        if self.options.thresholds is None:
            return Thresholds(file=Path("thresholds.toml"), rules=(), require=())
        try:
            return read_thresholds(self.options.thresholds, known)
        except UnknownTaskError as error:
            raise ThresholdsError(f"{error}{no_folder(self.options, error.task)}") from None

    @cached_property
    def earlier(self) -> EarlierRun | None:
        """The run to compare with; None if none is named, or if this is the first."""
        if not isinstance(self.options.baseline, Path):
            return None
        from vlgate.comparing.earlier import read_earlier

        return read_earlier(self.options.baseline, f"--baseline {self.options.baseline}")

    @cached_property
    def loaded(self) -> tuple[LoadedModel, ModelPredictor]:
        """The model, loaded on first use."""
        from vlgate.run.asking.on_cluster import closer
        from vlgate.run.loading import load_model

        self.limits.apply(self.options)
        _ = self.connected
        given = getattr(self.config, "workerinput", {"workercount": 1})
        watch = self.limits.calls.watch
        found = load_model(self.options, self.plan.tasks, self.worker or 0, int(given["workercount"]), watch)
        self.config.add_cleanup(closer(found[0]))
        self.config.add_cleanup(found[1].caller.close)
        return found

    @cached_property
    def connected(self) -> bool:
        """Whether the run is scored by a Ray cluster, to which this process is connected from now to its end."""
        if self.options.ray:
            from vlgate.cluster.connecting import connect

            self.config.add_cleanup(connect(self.options.ray))
        return bool(self.options.ray)

    @cached_property
    def checked(self) -> bool:
        """Check everything that can be checked without loading the model, and take the results folder.

        Raises: VlgateError if an option, a file or the model's name cannot be used.
        """
        check_dtype(self.options.dtype)
        check_device(self.options.device)
        check(self.options.model, folder=self.options.folder)
        if self.options.ray:
            from vlgate.run.asking.on_cluster import check_cluster

            check_cluster(self.options, self._workers())
        if self.searches:
            check_searches(self.options)
        if self.options.shard is not None:
            from vlgate.run.parts.part import refuse_for_a_part

            refuse_for_a_part(self.options, searches=self.searches)
        if self.options.log_to:
            from vlgate.report.trackers.tracked import check_trackers

            check_trackers(self.options.log_to)
        _ = self.thresholds, self.plan
        runs = self.worker is None and not self.collects_only
        if self.worker is None:
            self._check_gates()
        if runs and self.options.missing_images == "fail" and needs_images(self.options.model):
            from vlgate.run.census import refuse_missing

            refuse_missing(self.plan.tasks)
        gc.freeze()  # the tasks stay to the end, so the garbage collector need not traverse them each time
        _ = runs and self.connected
        if runs:
            self.config.add_cleanup(take_folder(self.options))
        return True

    def _workers(self) -> str:
        """The option that asks xdist for workers, as the user wrote it; empty if none does."""
        number, places = self.config.getoption("numprocesses", None), self.config.getoption("tx", None)
        return f"-n {number}" if number else "--tx" if places else ""

    def _check_gates(self) -> None:
        """Check what the gates on an earlier run need; their modules are loaded only for these."""
        if self.thresholds.changes:
            from vlgate.comparing.changes import refuse_blunt

            cases = {task.id: (task.shape, len(task.cases)) for task in self.plan.tasks}
            refuse_blunt(self.thresholds, cases, quick=self.options.quick)
        if self.earlier is not None:
            from vlgate.comparing.pairing import refuse_unlike

            refuse_unlike(self.earlier, self.plan.tasks, self.options.ties)
