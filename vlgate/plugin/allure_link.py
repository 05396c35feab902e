"""The connection to Allure, if ``--alluredir`` asks for it; otherwise allure is not imported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vlgate.types import Batch, Verdict

if TYPE_CHECKING:
    from vlgate.run.model_card import ModelCard
    from vlgate.run.results import RunResult
    from vlgate.shrink.search import Search


def connect(config: pytest.Config) -> Any:
    """Register the object that marks missed cases in Allure, and return it; None if Allure is not asked for."""
    if not config.getoption("allure_report_dir", None):
        return None
    import allure_commons

    from vlgate.report.allure import Missed

    missed = Missed()
    allure_commons.plugin_manager.register(missed)
    config.add_cleanup(lambda: allure_commons.plugin_manager.unregister(missed))
    return missed


def show(missed: Any, name: str, batch: Batch, verdicts: Sequence[Verdict]) -> None:
    """Show the cases of one test."""
    from vlgate.report import allure

    allure.show(name, batch, verdicts, missed)


def show_search(missed: Any, name: str, batch: Batch, search: Search) -> None:
    """Show the search of one test."""
    from vlgate.report import allure

    allure.show_search(name, batch, search, missed)


def show_result(config: pytest.Config, run: RunResult, model: ModelCard) -> None:
    """Show the table of figures and the gates, and write the files of Allure's overview."""
    from vlgate.report import allure
    from vlgate.report.allure_pages import write_overview

    allure.show_run(run, model)
    write_overview(config.invocation_params.dir / Path(config.getoption("allure_report_dir")), run, model)
