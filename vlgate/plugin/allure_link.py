"""The bridge to Allure, where ``--alluredir`` asks for it; without allure-pytest nothing here is imported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vlgate.types import Batch, Decision, Verdict

if TYPE_CHECKING:
    from vlgate.shrink.search import Search


def connect(config: pytest.Config) -> Any:
    """The module that writes to Allure and the record of missed cases, or None where Allure is not asked for."""
    if not config.getoption("allure_report_dir", None):
        return None
    import allure_commons

    from vlgate.report.allure import Missed

    missed = Missed()
    allure_commons.plugin_manager.register(missed)
    config.add_cleanup(lambda: allure_commons.plugin_manager.unregister(missed))
    return missed


def show(missed: Any, name: str, batch: Batch, verdicts: Sequence[Verdict]) -> None:
    """Show one test's cases."""
    from vlgate.report import allure

    allure.show(name, batch, verdicts, missed)


def show_search(missed: Any, name: str, batch: Batch, search: Search) -> None:
    """Show one test's search."""
    from vlgate.report import allure

    allure.show_search(name, batch, search, missed)


def show_gates(config: pytest.Config, decisions: Sequence[Decision]) -> None:
    """Show the gates, and explain the status of missed cases."""
    from vlgate.report import allure

    allure.show_gates(decisions)
    folder = config.invocation_params.dir / Path(config.getoption("allure_report_dir"))
    (folder / "categories.json").write_text(json.dumps(allure.CATEGORIES), encoding="utf-8")
