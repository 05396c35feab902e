"""The state of one session: what it was asked for, and what its tests have handed in so far."""

# A file of its own, because ``run`` and ``closing`` both need it.

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vlgate.plugin.allure_link import AllureLink
from vlgate.plugin.asked import Asked
from vlgate.plugin.collected import Collected
from vlgate.plugin.ending import Ending, ExitGuard

if TYPE_CHECKING:
    from vlgate.asking.predictor import Pace
    from vlgate.plugin.progress import Estimate, Progress
    from vlgate.probes.shrink.record import Shrunk
    from vlgate.record.model_card import ModelCard
    from vlgate.record.results import RunResult
    from vlgate.types import Predictor


class SessionState(Asked):
    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        self.collected = Collected()
        self.shrunk: dict[str, Shrunk] = {}
        self.cards: list[ModelCard] = []
        self.result: RunResult | None = None
        self.progress: Progress | None = None
        self.announcing = False
        self.searched = 0  # how many cases are searched for the smallest change that breaks them
        self.costs_said = False  # what the controls and the searches cost
        self.pace: Pace | None = None  # of the model, until a report has taken it to the user's process
        self.estimate: Estimate | None = None
        self.ending = Ending()
        self.exits = ExitGuard(config.pluginmanager)
        self.refusal = 0  # the exit status of a run that did not pass
        self.offered = False  # whether tests of the suite were collected, before -k and others deselect some
        self.predictor: Predictor | None = None  # what the fixture 'model' gives the tests
        self.allure = AllureLink(config) if config.getoption("allure_report_dir", None) else None
