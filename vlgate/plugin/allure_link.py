"""The connection to Allure, if ``--alluredir`` asks for it; otherwise allure is not imported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult
from vlgate.types import Batch, Verdict

if TYPE_CHECKING:
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
    """Show the gates, and write the table of figures and the categories that explain the status of missed cases."""
    from vlgate.report import allure

    allure.show_gates(run.decisions)
    folder = config.invocation_params.dir / Path(config.getoption("allure_report_dir"))
    properties = allure.environment(run, model).encode("latin-1", "backslashreplace")
    (folder / "environment.properties").write_bytes(properties)
    (folder / "categories.json").write_text(json.dumps(allure.CATEGORIES), encoding="utf-8")
