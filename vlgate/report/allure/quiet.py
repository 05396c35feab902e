"""Holds back what allure-pytest writes of the suite's own tests; no other module of vlgate imports allure."""

from pathlib import Path

import allure_commons
from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import TestResult, TestResultContainer


class Quiet:
    def __init__(self, files: AllureFileLogger) -> None:
        self.files = files
        self.silent = False  # holds back the result of the running test, with its fixtures, up to its end
        self._held: set[str] = set()

    @allure_commons.hookimpl
    def report_result(self, result: TestResult) -> None:
        if self.silent:
            self._held.add(result.uuid)
            self.silent = False
        else:
            self.files.report_result(result)

    @allure_commons.hookimpl
    def report_container(self, container: TestResultContainer) -> None:
        if not self.silent and not self._held.issuperset(container.children):
            self.files.report_container(container)

    @allure_commons.hookimpl
    def report_attached_file(self, source: Path, file_name: str) -> None:
        if not self.silent:
            self.files.report_attached_file(source, file_name)

    @allure_commons.hookimpl
    def report_attached_data(self, body: str | bytes, file_name: str) -> None:
        if not self.silent:
            self.files.report_attached_data(body, file_name)

    @allure_commons.hookimpl
    def report_globals(self, globals_item: object) -> None:
        self.files.report_globals(globals_item)

    def step_back(self) -> None:
        allure_commons.plugin_manager.unregister(self)
        allure_commons.plugin_manager.register(self.files)


def quieted() -> Quiet | None:
    manager = allure_commons.plugin_manager
    files = next((plugin for plugin in manager.get_plugins() if isinstance(plugin, AllureFileLogger)), None)
    if files is None:
        return None
    quiet = Quiet(files)
    manager.unregister(files)
    manager.register(quiet)
    return quiet
